// Data flows one way, from the text of a system to a page: which room may include which. What no room needs is not
// allowed.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace penn {
namespace {

namespace fs = std::filesystem;

// A room and the rooms it may include; each room stands below all it includes. `paper` lies beside penn/.
const std::vector<std::pair<std::string, std::set<std::string>>> kAllowed = {
    {"base", {}},
    {"noise", {"base"}},
    {"system", {"base", "noise"}},
    {"simulate", {"base", "system", "noise"}},
    {"data", {"base", "system"}},
    {"features", {"base"}},
    {"posterior", {"base"}},
    {"likelihood", {"base", "system", "noise", "posterior"}},
    {"network", {"base", "features", "posterior"}},
    {"model", {"base", "system", "simulate", "data", "posterior", "network"}},
    {"answer", {"base", "system", "simulate", "data", "features", "posterior", "model"}},
    {"evaluate", {"base", "system", "simulate", "posterior", "likelihood", "model"}},
    {"train", {"base", "system", "simulate", "posterior", "network", "model", "evaluate"}},
    {"report", {"base", "system", "simulate", "answer", "evaluate"}},
    {"serve", {"base", "simulate", "model", "answer", "report"}},
    {"paper", {"base", "system", "simulate", "data", "model", "answer", "evaluate", "train", "report"}},
    {"cli",
     {"base", "system", "simulate", "likelihood", "network", "model", "answer", "evaluate", "train", "report", "serve",
      "paper"}},
};

// "noise" for `#include "penn/noise/stable.h"`, "paper" for `#include "paper/draw.h"`, "" for any other line. (No
// std::regex: gcc 12 sees phantoms in it under sanitizers.)
std::string included_room(std::string line) {
  line.erase(std::remove_if(line.begin(), line.end(), [](char c) { return c == ' ' || c == '\t'; }), line.end());
  if (line.rfind("#include\"", 0) != 0) return "";
  std::string path = line.substr(9);
  if (path.rfind("penn/", 0) == 0) path = path.substr(5);
  return path.find('/') == std::string::npos ? "" : path.substr(0, path.find('/'));
}

template <class F>
void for_each_source(F f) {
  for (const char* folder : {"penn", "paper"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(PENN_SOURCE_DIR) / folder))
      if (entry.is_regular_file()) f(entry.path(), entry.path().parent_path().filename().string());
}

TEST(layers_test, rooms_include_only_what_they_may_and_need) {
  std::map<std::string, std::set<std::string>> found;
  for_each_source([&](const fs::path& path, const std::string& room) {
    const auto allowed =
        std::find_if(kAllowed.begin(), kAllowed.end(), [&](const auto& entry) { return entry.first == room; });
    ASSERT_NE(allowed, kAllowed.end()) << path << ": a room that is not in the list";
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      const std::string included = included_room(line);
      if (included.empty() || included == room) continue;
      found[room].insert(included);
      EXPECT_TRUE(allowed->second.count(included)) << path << ": " << line;
    }
  });
  std::set<std::string> above;
  for (const auto& [room, allowed] : kAllowed) {
    EXPECT_EQ(found[room], allowed) << room << " does not need all it may include";
    for (const std::string& included : allowed)
      EXPECT_TRUE(above.count(included)) << room << " and " << included << " in a circle";
    above.insert(room);
  }
}

TEST(layers_test, no_code_knows_a_system_by_name) {
  for_each_source([](const fs::path& path, const std::string& room) {
    if (room == "cli" || room == "paper") return;  // commands may choose defaults; the paper is about these five
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      if (line.find("//") != std::string::npos) line.resize(line.find("//"));
      for (const std::string name : {"soup", "oup", "dvdp", "cfhn", "airfoil"})
        for (const char* end : {"\"", ":"})
          EXPECT_EQ(line.find("\"" + name + end), std::string::npos) << path << ": " << line;
    }
  });
}

}  // namespace
}  // namespace penn
