// POSIX reading, or copying out of memory.
#include "penn/base/input_file.h"

#include <fcntl.h>     // open
#include <sys/stat.h>  // fstat
#include <unistd.h>    // read, pread, close

#include <algorithm>
#include <cerrno>
#include <cstring>  // memcpy, strerror
#include <utility>

#include "penn/base/error.h"

namespace penn {

InputFile::InputFile(const std::filesystem::path& path) : name_(path.string()) {
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) fail(errno);
  struct stat info {};
  const int error_number = ::fstat(descriptor_, &info) != 0 ? errno : S_ISDIR(info.st_mode) ? EISDIR : 0;
  if (error_number != 0) {
    ::close(descriptor_);
    fail(error_number);
  }
  has_size_ = S_ISREG(info.st_mode);
  size_ = has_size_ ? static_cast<uint64_t>(info.st_size) : 0;
}

InputFile::InputFile(std::string_view bytes, std::string name)
    : name_(std::move(name)), bytes_(bytes), size_(bytes.size()) {}

InputFile::InputFile(InputFile&& other) noexcept
    : name_(std::move(other.name_)),
      bytes_(other.bytes_),
      descriptor_(std::exchange(other.descriptor_, -1)),
      has_size_(other.has_size_),
      size_(other.size_),
      position_(other.position_) {}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void InputFile::fail(int error_number) const {
  const char* hint = error_number == ENOENT   ? "check the name and the current directory"
                     : error_number == EISDIR ? "give the name of a file, not of a directory"
                     : error_number == EACCES ? "check the permissions of the file and of its directory"
                                              : "";
  throw DataError("cannot read '" + name_ + "': " + std::strerror(error_number), hint);
}

void InputFile::read_at(uint64_t offset, void* to, size_t size) const {
  if (!has_size_) throw DataError("cannot read '" + name_ + "': not a regular file", "copy it to a file first");
  const char* ended = "': the file ends too early (was it cut while being read?)";
  if (offset > size_ || size > size_ - offset) throw DataError("cannot read '" + name_ + ended);
  if (descriptor_ < 0) {
    if (size > 0) std::memcpy(to, bytes_.data() + offset, size);
    return;
  }
  char* out = static_cast<char*>(to);
  while (size > 0) {
    const ssize_t got = ::pread(descriptor_, out, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(errno);
    if (got == 0) throw DataError("cannot read '" + name_ + ended);
    out += got;
    offset += static_cast<uint64_t>(got);
    size -= static_cast<size_t>(got);
  }
}

size_t InputFile::read_next(void* to, size_t size) {
  if (descriptor_ < 0) {
    const size_t count = std::min<size_t>(size, bytes_.size() - position_);
    if (count > 0) std::memcpy(to, bytes_.data() + position_, count);
    position_ += count;
    return count;
  }
  for (;;) {
    const ssize_t got = ::read(descriptor_, to, size);
    if (got >= 0) return static_cast<size_t>(got);
    if (errno != EINTR) fail(errno);
  }
}

}  // namespace penn
