// A directory that appears whole or not at all: files are written to a temporary one beside it, which is renamed at the
// end. An existing directory with something in it is refused unless forced; then files of the same names are replaced.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace penn {

class OutputFolder {
 public:
  OutputFolder(const std::filesystem::path& folder, bool force);
  ~OutputFolder();  // without commit(): removes what was written
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  std::filesystem::path file(const std::string& name) const { return temporary_ / name; }
  // Files of an older content, by name, are removed before the new ones take their place.
  void commit(const std::function<bool(const std::string& name)>& is_outdated = {});

 private:
  std::filesystem::path folder_, temporary_;
};

}  // namespace penn
