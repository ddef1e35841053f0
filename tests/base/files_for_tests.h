// A directory that vanishes with its test, and whole files in and out.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>  // getpid

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace penn {

class TestDirectory {
 public:
  TestDirectory() {
    static int counter = 0;
    path_ = std::filesystem::path(testing::TempDir()) /
            ("penn_files_" + std::to_string(::getpid()) + "_" + std::to_string(counter++));
    std::filesystem::create_directories(path_);
  }
  ~TestDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TestDirectory(const TestDirectory&) = delete;
  TestDirectory& operator=(const TestDirectory&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }
  size_t file_count() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::filesystem::path path_;
};

inline std::string read_whole(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_whole(const std::filesystem::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary).write(text.data(), static_cast<std::streamsize>(text.size()));
}

// The full text (message and hint) of the error that action throws; "accepted" when it throws none.
template <class E, class Action>
std::string error_text_or_accepted(Action action) {
  try {
    action();
  } catch (const E& error) {
    return error.full_text();
  }
  return "accepted";
}

// The same, and a failure of the test when it throws none.
template <class E, class Action>
std::string error_text(Action action) {
  const std::string text = error_text_or_accepted<E>(action);
  EXPECT_NE(text, "accepted") << "no error was thrown";
  return text;
}

}  // namespace penn
