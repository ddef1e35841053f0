#include "penn/base/files.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>

#include "penn/base/error.h"

namespace penn {

namespace fs = std::filesystem;

std::string read_text_file(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) throw DataError(fmt::format("'{}' is a directory, not a file", path));
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) throw DataError(fmt::format("cannot read '{}': {}", path, std::strerror(errno)));
  std::string text;
  char buffer[1 << 16];
  while (const size_t n = std::fread(buffer, 1, sizeof buffer, file.get())) text.append(buffer, n);
  if (std::ferror(file.get())) throw DataError(fmt::format("cannot read '{}': {}", path, std::strerror(errno)));
  return text;
}

namespace {

// Relative to the library, wherever it was put: as installed, and as built.
std::vector<fs::path> share_folders() {
  std::vector<fs::path> folders;
  if (const char* share = std::getenv("PENN_SHARE")) folders.emplace_back(share);
  Dl_info library;
  std::error_code error;
  if (dladdr(reinterpret_cast<void*>(&shared_file), &library) == 0) return folders;
  const fs::path folder = fs::canonical(library.dli_fname, error).parent_path();
  if (!error) folders.insert(folders.end(), {folder / PENN_SHARE_FROM_LIBRARY, folder / "share/penn"});
  return folders;
}

}  // namespace

std::string shared_file(const std::string& relative) {
  std::error_code ignored;
  for (const fs::path& folder : share_folders())
    if (fs::is_regular_file(folder / relative, ignored)) return (folder / relative).string();
  return "";
}

std::vector<std::string> shared_names(const std::string& folder, const std::string& ending) {
  std::set<std::string> names;
  for (const fs::path& share : share_folders()) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(share / folder, error))
      if (entry.path().extension() == ending) names.insert(entry.path().stem().string());
  }
  return {names.begin(), names.end()};
}

std::string shell_word(const std::string& word) {
  const std::string plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,=+@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string version() {
  return PENN_VERSION;
}

}  // namespace penn
