// Data flows one way: a folder of penn/ includes only folders above it in this list, or itself.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>

namespace penn {
namespace {

namespace fs = std::filesystem;

TEST(layers_test, includes_go_only_downwards) {
  const char* const order[] = {"base", "system", "noise", "density", "simulate", "dataset", "summary", "network", "model", "train", "infer", "diagnose", "report", "cli"};
  std::map<std::string, int> layer;
  for (const char* folder : order) layer.emplace(folder, static_cast<int>(layer.size()));
  const std::regex include("^\\s*#\\s*include\\s*\"penn/(\\w+)/");
  int includes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(PENN_SOURCE_DIR) / "penn")) {
    if (!entry.is_regular_file()) continue;
    const std::string folder = entry.path().parent_path().filename().string();
    ASSERT_TRUE(layer.count(folder)) << entry.path() << ": a folder without a layer";
    std::ifstream file(entry.path());
    std::smatch match;
    for (std::string line; std::getline(file, line);) {
      if (!std::regex_search(line, match, include)) continue;
      ASSERT_TRUE(layer.count(match[1])) << entry.path() << ": " << line;
      EXPECT_LE(layer.at(match[1]), layer.at(folder)) << entry.path() << ": " << line;
      ++includes;
    }
  }
  EXPECT_GT(includes, 50);
}

TEST(layers_test, no_code_knows_a_system_by_name) {
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(PENN_SOURCE_DIR) / "penn")) {
    const std::string folder = entry.path().parent_path().filename().string();
    if (!entry.is_regular_file() || folder == "cli") continue;  // commands may choose defaults
    std::ifstream file(entry.path());
    const std::regex name("\"(soup|oup|dvdp|cfhn|airfoil)[\":]");
    for (std::string line; std::getline(file, line);) {
      if (line.find("//") != std::string::npos) line.resize(line.find("//"));
      EXPECT_FALSE(std::regex_search(line, name)) << entry.path() << ": " << line;
    }
  }
}

}  // namespace
}  // namespace penn
