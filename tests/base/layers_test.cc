// Data flows one way: a folder of penn/ includes only folders above it in this list, or itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace penn {
namespace {

namespace fs = std::filesystem;

// "noise" for `#include "penn/noise/white.h"`, "" for any other line. (No std::regex: gcc 12 sees phantoms in it under sanitizers.)
std::string included_folder(std::string line) {
  line.erase(std::remove_if(line.begin(), line.end(), [](char c) { return c == ' ' || c == '\t'; }), line.end());
  const std::string start = "#include\"penn/";
  return line.rfind(start, 0) == 0 ? line.substr(start.size(), line.find('/', start.size()) - start.size()) : "";
}

TEST(layers_test, includes_go_only_downwards) {
  const char* const order[] = {"base", "system", "noise", "density", "likelihood", "simulate", "dataset", "summary", "network", "model", "diagnose", "infer", "report", "reproduce", "serve", "train", "cli"};
  std::map<std::string, int> layer;
  for (const char* folder : order) layer.emplace(folder, static_cast<int>(layer.size()));
  int includes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(PENN_SOURCE_DIR) / "penn")) {
    if (!entry.is_regular_file()) continue;
    const std::string folder = entry.path().parent_path().filename().string();
    ASSERT_TRUE(layer.count(folder)) << entry.path() << ": a folder without a layer";
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      const std::string included = included_folder(line);
      if (included.empty()) continue;
      ASSERT_TRUE(layer.count(included)) << entry.path() << ": " << line;
      EXPECT_LE(layer.at(included), layer.at(folder)) << entry.path() << ": " << line;
      ++includes;
    }
  }
  EXPECT_GT(includes, 50);
}

TEST(layers_test, no_code_knows_a_system_by_name) {
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(PENN_SOURCE_DIR) / "penn")) {
    const std::string folder = entry.path().parent_path().filename().string();
    if (!entry.is_regular_file() || folder == "cli" || folder == "reproduce") continue;  // commands may choose defaults; the paper is about these five
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      if (line.find("//") != std::string::npos) line.resize(line.find("//"));
      for (const std::string name : {"soup", "oup", "dvdp", "cfhn", "airfoil"})
        for (const char* end : {"\"", ":"}) EXPECT_EQ(line.find("\"" + name + end), std::string::npos) << entry.path() << ": " << line;
    }
  }
}

}  // namespace
}  // namespace penn
