// Finding system files by name, and choosing one of their observations.
#include "penn/system/load_system.h"

#include <fmt/core.h>

#include <filesystem>

#include "penn/base/error.h"
#include "penn/base/files.h"
#include "penn/system/parse_system.h"
#include "penn/system/system.h"

namespace penn {

namespace fs = std::filesystem;

int System::observation_index(const std::string& observation) const {
  std::string list;
  for (size_t i = 0; i < observations.size(); ++i) {
    if (observations[i].name == observation) return static_cast<int>(i);
    list += (list.empty() ? "" : ", ") + fmt::format("{}:{}", name, observations[i].name);
  }
  if (observations.size() == 1 && observations[0].name.empty())
    throw SystemError(fmt::format("{}: there is only one observation, '{}' is not its name", source_name, observation),
                      fmt::format("write just '{}'", name));
  throw SystemError(observation.empty() ? fmt::format("{}: several observations are possible, choose one", source_name)
                                        : fmt::format("{}: there is no observation '{}'", source_name, observation),
                    "choose one of: " + list);
}

int System::parameter_index(const std::string& parameter) const {
  for (size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].name == parameter) return static_cast<int>(i);
  return -1;
}

namespace {

std::string find_system_file(const std::string& what) {
  std::error_code ignored;
  if (fs::is_directory(what, ignored) && !fs::exists(shared_file("systems/" + what + ".toml"), ignored))
    throw SystemError(fmt::format("'{}' is a directory, not a system file", what));
  if (fs::is_regular_file(what, ignored)) return what;
  if (what.find('/') == std::string::npos) {
    const std::string shipped = shared_file("systems/" + what + ".toml");
    if (!shipped.empty()) return shipped;
  }
  return "";
}

struct Found {
  System system;
  std::string observation;
};

Found find_and_parse(const std::string& what) {
  std::string file = what, observation;
  std::string path = find_system_file(file);
  const size_t colon = what.rfind(':');
  if (path.empty() && colon != std::string::npos) {
    file = what.substr(0, colon);
    observation = what.substr(colon + 1);
    path = find_system_file(file);
  }
  if (path.empty()) {
    std::string list;
    for (const std::string& name : shared_names("systems", ".toml")) list += (list.empty() ? "" : ", ") + name;
    throw SystemError(fmt::format("there is no system file '{}'", file),
                      fmt::format("give the path of a .toml file or one of: {}", list));
  }
  std::error_code unknown;
  const uintmax_t bytes = fs::file_size(path, unknown);
  if (!unknown && bytes > kMostSystemBytes)
    throw SystemError(
        fmt::format("'{}' has {} bytes: that is no system file (at most {})", path, bytes, kMostSystemBytes));
  // Shipped systems are quoted by their short path, so that messages read the same on every machine.
  const std::string quoted = path == file ? path : "systems/" + file + ".toml";
  return {parse_system(read_text_file(path), quoted), observation};
}

}  // namespace

SystemChoice load_system(const std::string& what) {
  auto [system, observation] = find_and_parse(what);
  const int index = system.observation_index(observation);
  return {std::move(system), index};
}

System find_system(const std::string& what) {
  auto [system, observation] = find_and_parse(what);
  if (!observation.empty()) system.observation_index(observation);  // a wrong name is still a mistake
  return std::move(system);
}

}  // namespace penn
