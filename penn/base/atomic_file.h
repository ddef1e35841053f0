// A file that appears whole or not at all: bytes go to a temporary beside it; commit() makes them durable (fsync),
// renames the temporary over the target and makes the rename durable. Until then, and after any failure, the old file
// is untouched. Devices and pipes (/dev/stdout) are written directly, since a rename would replace them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace penn {

class AtomicFile {
 public:
  enum class Temporary { kNameless, kNamed };

  // Throws Error when the directory is missing or not writable, or the target is a directory. kNameless falls back to
  // kNamed; that can be asked for so that it can be tested.
  explicit AtomicFile(const std::filesystem::path& path, Temporary temporary = Temporary::kNameless);
  ~AtomicFile();  // without commit(): removes the temporary
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  // Buffered, so small chunks are cheap. Throws Error (disk full, ...); after that only destruction makes sense.
  void write(const void* data, size_t size);
  void write(std::string_view text) { write(text.data(), text.size()); }

  // Flush, fsync, close, rename, fsync of the directory; each checked.
  void commit();

  const std::filesystem::path& path() const { return path_; }

 private:
  enum class Way { kNameless, kNamed, kDirect };

  void open_temporary(Temporary temporary);
  void give_name();
  void flush();
  void write_through(const char* data, size_t size);
  void discard() noexcept;
  [[noreturn]] void fail(const char* action, int error_number) const;

  std::filesystem::path path_;       // as given, for messages
  std::filesystem::path target_;     // the file behind symbolic links
  std::filesystem::path temporary_;  // empty while there is none with a name
  std::string buffer_;
  int descriptor_ = -1;
  Way way_ = Way::kDirect;
  bool committed_ = false;
};

// The whole text in one call.
void write_file_atomically(const std::filesystem::path& path, std::string_view text);

// What a user can do about an errno value that came from opening or writing path; empty when we know nothing.
std::string hint_for_file_error(int error_number, const std::filesystem::path& path);

}  // namespace penn
