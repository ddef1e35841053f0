#include "penn/serve/model_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "penn/base/error.h"
#include "penn/base/files.h"

namespace penn {
namespace {

namespace fs = std::filesystem;
constexpr char kEnding[] = ".safetensors";

struct Candidate {
  fs::path path;
  bool must_load = false;  // given by name, not found in a folder
};

std::vector<fs::path> models_in(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == kEnding) paths.push_back(entry.path());
  if (error) throw UsageError(fmt::format("cannot read the folder '{}': {}", folder.string(), error.message()));
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

ModelTable::ModelTable(const std::vector<std::string>& given, int threads, std::vector<std::string>& warnings) {
  std::map<std::string, Candidate> candidates;
  const auto add = [&](const fs::path& path, bool must_load) {
    const auto [at, is_new] = candidates.emplace(path.stem().string(), Candidate{path, must_load});
    std::error_code ignored;
    if (!is_new && !fs::equivalent(at->second.path, path, ignored))
      throw UsageError(
          fmt::format("two models are named '{}': {} and {}", at->first, at->second.path.string(), path.string()),
          "rename one of the files");
  };
  for (const std::string& what : given) {
    std::error_code ignored;
    if (fs::is_directory(what, ignored)) {
      const std::vector<fs::path> found = models_in(what);
      if (found.empty()) warnings.push_back(fmt::format("no *{} in '{}'", kEnding, what));
      for (const fs::path& path : found) add(path, false);
    } else {
      add(find_model(what), true);
    }
  }
  for (const std::string& name : shared_names("models", kEnding)) {
    const std::string shipped = shared_file(fmt::format("models/{}{}", name, kEnding));
    const auto [at, is_new] = candidates.emplace(name, Candidate{shipped});
    std::error_code ignored;
    if (!is_new && !fs::equivalent(at->second.path, shipped, ignored))
      warnings.push_back(fmt::format("'{}' is {}, not the shipped model of that name", name, at->second.path.string()));
  }
  for (const auto& [name, candidate] : candidates) try {
      models_.push_back({name, Estimator(open_model(candidate.path), threads)});
    } catch (const Error& error) {
      if (candidate.must_load) throw;
      warnings.push_back(fmt::format("left out: {}", error.what()));
    }
}

const ServedModel* ModelTable::find(const std::string& name) const {
  const auto found = std::find_if(models_.begin(), models_.end(), [&](const ServedModel& m) { return m.name == name; });
  return found == models_.end() ? nullptr : &*found;
}

}  // namespace penn
