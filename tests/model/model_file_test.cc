// Which files are models: by their content, never by their name.
#include "penn/model/model_file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/files_for_tests.h"
#include "penn/base/error.h"

namespace penn {
namespace {

namespace fs = std::filesystem;

const fs::path kTiny = fs::path(PENN_SOURCE_DIR) / "fuzz/corpus/model/tiny.safetensors";

TEST(model_file_test, a_model_is_known_by_its_content_whatever_its_name_and_even_when_cut) {
  const TestDirectory folder;
  const std::string bytes = read_whole(kTiny);
  write_whole(folder / "renamed.toml", bytes);
  EXPECT_TRUE(has_tensors(folder / "renamed.toml"));
  write_whole(folder / "cut", bytes.substr(0, 100));
  EXPECT_TRUE(has_tensors(folder / "cut"));
  EXPECT_NO_THROW(open_model(folder / "renamed.toml"));
  EXPECT_THROW(open_model(folder / "cut"), ModelError);
}

TEST(model_file_test, no_system_file_array_or_directory_is_taken_for_a_model) {
  const TestDirectory folder;
  for (const auto& entry : fs::directory_iterator(fs::path(PENN_SOURCE_DIR) / "systems")) EXPECT_FALSE(has_tensors(entry.path())) << entry.path();
  for (const std::string& bytes : {std::string(), std::string("{}"), std::string("12345678{\"a\": 1}"), std::string("\x93NUMPY\x01\0v\0{'descr'", 18)}) {
    write_whole(folder / "file.safetensors", bytes);
    EXPECT_FALSE(has_tensors(folder / "file.safetensors")) << bytes;
  }
  EXPECT_FALSE(has_tensors(folder.path()));
  EXPECT_FALSE(has_tensors(folder / "none"));
}

TEST(model_file_test, a_shipped_model_is_found_by_the_name_of_its_system_and_observation) {
  const TestDirectory folder;
  fs::create_directory(folder / "models");
  write_whole(folder / "models" / "test-case.safetensors", read_whole(kTiny));
  setenv("PENN_SHARE", folder.path().c_str(), 1);
  EXPECT_EQ(shipped_model("test:case"), (folder / "models" / "test-case.safetensors").string());
  EXPECT_EQ(find_model("test-case"), shipped_model("test:case"));
  EXPECT_EQ(shipped_model("models/test-case"), "");
  unsetenv("PENN_SHARE");
  EXPECT_THROW(find_model("test-case"), ModelError);
}

}  // namespace
}  // namespace penn
