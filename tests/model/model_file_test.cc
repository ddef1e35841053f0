// Which files are models: by their content, never by their name.
#include "penn/model/model_file.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <functional>

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
  for (const auto& entry : fs::directory_iterator(fs::path(PENN_SOURCE_DIR) / "systems"))
    EXPECT_FALSE(has_tensors(entry.path())) << entry.path();
  for (const std::string& bytes : {std::string(), std::string("{}"), std::string("12345678{\"a\": 1}"),
                                   std::string("\x93NUMPY\x01\0v\0{'descr'", 18)}) {
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

// A file with one entry of its description of the network changed.
std::string refusal_after(const fs::path& from, const fs::path& to,
                          const std::function<void(nlohmann::json&)>& change) {
  const SafetensorsFile file(from);
  Metadata metadata = file.metadata();
  nlohmann::json network = nlohmann::json::parse(metadata["network"]);
  change(network);
  metadata["network"] = network.dump();
  std::vector<std::vector<char>> values;
  std::vector<TensorView> tensors;
  for (const TensorInfo& t : file.tensors()) {
    values.emplace_back(t.end - t.begin);
    file.read_bytes(t, values.back().data());
    tensors.push_back({t.name, t.type, t.shape, values.back().data()});
  }
  write_safetensors(to, metadata, std::move(tensors));
  return error_text<ModelError>([&] { open_model(to); });
}

TEST(model_file_test, models_of_version_0_1_that_cannot_be_run_are_refused_with_the_advice_to_train_again) {
  const TestDirectory folder;
  const fs::path soup = fs::path(PENN_SOURCE_DIR) / "models/soup.safetensors", old = folder / "old.safetensors";
  for (const std::string& text :
       {refusal_after(soup, old, [](nlohmann::json& n) { n["encoder_settings"]["statistics"]["version"] = 2; }),
        refusal_after(soup, old, [](nlohmann::json& n) { n["link"] = "relative"; }),
        refusal_after(kTiny, old, [](nlohmann::json& n) { n["link"] = "relative"; }),
        refusal_after(soup, old, [](nlohmann::json& n) {
          n["encoders"] = {"statistics", "convolution"};
        })}) {
    EXPECT_NE(text.find("old.safetensors"), std::string::npos) << text;
    EXPECT_NE(text.find("train the model again"), std::string::npos) << text;
  }
}

// Tensors and entries renamed since version 0.1: the shipped models still have the old names, what is saved the new
// ones.
TEST(model_file_test, a_model_of_version_0_1_is_saved_under_the_new_names) {
  const TestDirectory folder;
  const fs::path soup = fs::path(PENN_SOURCE_DIR) / "models/soup.safetensors";
  ASSERT_EQ(SafetensorsFile(soup).text("format"), "penn model 2");
  save_model(folder / "new", open_model(soup));
  const SafetensorsFile file(folder / "new");
  EXPECT_EQ(file.text("format"), "penn model 3");
  EXPECT_TRUE(file.metadata().count("recalibration"));
  for (const char* name : {"typicality.mean", "network.decoder.input_projection.weight"})
    EXPECT_TRUE(file.find(name)) << name;
  for (const TensorInfo& t : file.tensors())
    for (const char* old : {"familiarity", "stem"})  // version 0.1
      EXPECT_EQ(t.name.find(old), std::string::npos) << t.name;
}

TEST(model_file_test, a_model_comes_back_as_it_was_saved) {
  const TestDirectory folder;
  const Model model = open_model(fs::path(PENN_SOURCE_DIR) / "models/soup.safetensors");
  save_model(folder / "a", model);
  save_model(folder / "b", open_model(folder / "a"));
  EXPECT_EQ(read_whole(folder / "a"), read_whole(folder / "b"));
  const Model again = open_model(folder / "a");
  EXPECT_TRUE(
      std::equal(model.network.weights().begin(), model.network.weights().end(), again.network.weights().begin()));
  EXPECT_EQ(model.info.recalibration.factors, again.info.recalibration.factors);
  EXPECT_EQ(model.info.validation_nll, again.info.validation_nll);
  EXPECT_EQ(model.info.network, again.info.network);
}

}  // namespace
}  // namespace penn
