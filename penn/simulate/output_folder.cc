#include "penn/simulate/output_folder.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "penn/base/atomic_file.h"
#include "penn/base/error.h"

namespace penn {

namespace fs = std::filesystem;

OutputFolder::OutputFolder(const fs::path& folder, bool force) : folder_(folder) {
  while (!folder_.has_filename() && folder_.has_parent_path() && folder_ != folder_.root_path())
    folder_ = folder_.parent_path();
  std::error_code error;
  if (fs::is_symlink(folder_, error) && fs::exists(folder_, error))
    folder_ = fs::canonical(folder_);  // a rename would replace the link
  if (fs::exists(folder_, error)) {
    if (!fs::is_directory(folder_, error))
      throw DataError(fmt::format("'{}' exists and is not a directory", folder_.string()), "choose another name");
    if (!fs::is_empty(folder_, error) && !force)
      throw DataError(fmt::format("the directory '{}' is not empty", folder_.string()),
                      "choose another one, or replace files of the same names with --force");
  }
  const fs::path parent = folder_.has_parent_path() ? folder_.parent_path() : fs::path(".");
  std::string name = (parent / fmt::format(".{}.XXXXXX", folder_.filename().string())).string();
  if (!mkdtemp(name.data()))
    throw DataError(fmt::format("cannot make the directory '{}': {}", folder_.string(), std::strerror(errno)),
                    hint_for_file_error(errno, folder_));
  temporary_ = name;
  fs::permissions(temporary_, fs::perms(0755), error);  // mkdtemp makes private ones
}

OutputFolder::~OutputFolder() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
}

void OutputFolder::commit(const std::function<bool(const std::string& name)>& is_outdated) {
  std::error_code error;
  if (!fs::exists(folder_, error) || fs::is_empty(folder_, error)) {
    fs::rename(temporary_, folder_, error);
    if (error) throw DataError(fmt::format("cannot make the directory '{}': {}", folder_.string(), error.message()));
    temporary_.clear();
    return;
  }
  std::vector<fs::path> outdated;
  for (const auto& entry : fs::directory_iterator(folder_, error))
    if (is_outdated && entry.is_regular_file(error) && is_outdated(entry.path().filename().string()))
      outdated.push_back(entry.path());
  for (const fs::path& file : outdated) fs::remove(file, error);
  for (const auto& entry : fs::directory_iterator(temporary_)) {
    fs::rename(entry.path(), folder_ / entry.path().filename(), error);
    if (error)
      throw DataError(
          fmt::format("cannot write '{}': {}", (folder_ / entry.path().filename()).string(), error.message()));
  }
}

}  // namespace penn
