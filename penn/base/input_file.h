// Bytes to be read: a file, or a block of memory under a name (tests and fuzzers read without touching the disk).
// Failures are DataErrors that name the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace penn {

class InputFile {
 public:
  // Throws DataError when the file is missing, unreadable or a directory.
  explicit InputFile(const std::filesystem::path& path);
  InputFile(std::string_view bytes, std::string name);  // the bytes must outlive this object
  ~InputFile();
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;

  const std::string& name() const { return name_; }
  // False for pipes and devices: these can only be read_next().
  bool has_size() const { return has_size_; }
  uint64_t size() const { return size_; }

  // Exactly size bytes from offset; DataError when the file ends before.
  void read_at(uint64_t offset, void* to, size_t size) const;
  // The next bytes, at most size of them; 0 at the end.
  size_t read_next(void* to, size_t size);

 private:
  [[noreturn]] void fail(int error_number) const;

  std::string name_;
  std::string_view bytes_;
  int descriptor_ = -1;  // -1: memory
  bool has_size_ = true;
  uint64_t size_ = 0;
  uint64_t position_ = 0;
};

}  // namespace penn
