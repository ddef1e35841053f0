// Temporary, fsync, rename, fsync of the directory. POSIX calls rather than streams: every return value is looked at.
#include "penn/base/atomic_file.h"

#include <fcntl.h>     // open, linkat
#include <sys/stat.h>  // stat, fchmod
#include <unistd.h>    // write, fsync, close, unlink

#include <atomic>
#include <cerrno>
#include <cstdio>   // rename
#include <cstring>  // strerror
#include <stdexcept>
#include <system_error>

#include "penn/base/error.h"

namespace penn {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 18;
constexpr size_t kMaxStem =
    180;  // bytes of the target's name kept in the temporary's, far below the usual limit of 255

std::filesystem::path directory_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

// Follows links, so that writing through a link changes the file it points to and keeps the link.
std::filesystem::path behind_links(std::filesystem::path path) {
  for (int hops = 0; hops < 40; ++hops) {
    std::error_code ignored;
    if (!std::filesystem::is_symlink(path, ignored)) return path;
    const std::filesystem::path next = std::filesystem::read_symlink(path, ignored);
    if (ignored) return path;
    path = next.is_absolute() ? next : directory_of(path) / next;
  }
  return path;  // a loop; open() reports it
}

std::filesystem::path temporary_name(const std::filesystem::path& target) {
  static std::atomic<unsigned> counter{0};
  return directory_of(target) / (std::string(".") + target.filename().string().substr(0, kMaxStem) + ".tmp-" +
                                 std::to_string(::getpid()) + "-" + std::to_string(counter++));
}

}  // namespace

std::string hint_for_file_error(int error_number, const std::filesystem::path& path) {
  const std::string directory = directory_of(path).string();
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
      return "free some space, or write to another disk";
    case EFBIG:
      return "the file would exceed the size limit of this process or file system (see `ulimit -f`)";
    case EACCES:
    case EPERM:
      return "check the permissions of '" + directory + "', or choose another directory";
    case EROFS:
      return "the file system is read-only; choose another directory";
    case ENOENT:
      return "create the directory first: mkdir -p '" + directory + "'";
    case ENOTDIR:
      return "a part of '" + directory + "' is a file, not a directory";
    case ELOOP:
      return "a symbolic link points to itself; remove it";
    case EISDIR:
      return "give the name of a file, not of a directory";
    case ENAMETOOLONG:
      return "choose a shorter name";
    case EMFILE:
    case ENFILE:
      return "too many files are open (see `ulimit -n`)";
    default:
      return "";
  }
}

AtomicFile::AtomicFile(const std::filesystem::path& path, Temporary temporary)
    : path_(path), target_(behind_links(path)) {
  if (path_.empty()) throw Error("cannot write a file without a name", "give a file name");
  if (!target_.has_filename()) fail("write", EISDIR);
  struct stat info {};
  const bool exists = ::stat(target_.c_str(), &info) == 0;
  if (!exists && errno != ENOENT) fail("write", errno);
  if (exists && S_ISDIR(info.st_mode)) fail("write", EISDIR);
  buffer_.reserve(kBufferBytes);
  if (exists && !S_ISREG(info.st_mode)) {
    descriptor_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail("open", errno);
    return;
  }
  open_temporary(temporary);
  // A file that is replaced keeps its permissions; failing that, the usual ones do.
  if (exists && ::fchmod(descriptor_, info.st_mode & 07777) != 0) errno = 0;
}

void AtomicFile::open_temporary(Temporary temporary) {
  // give_name() needs /proc; without it, or on a file system that knows no nameless files (NFS), the name comes first.
  if (temporary == Temporary::kNameless && ::access("/proc/self/fd", X_OK) == 0) {
    descriptor_ = ::open(directory_of(target_).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    way_ = Way::kNameless;
    if (descriptor_ >= 0) return;
  }
  way_ = Way::kNamed;
  do {
    temporary_ = temporary_name(target_);
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) {
    const int error_number = errno;
    temporary_.clear();
    fail("write", error_number);
  }
}

// linkat() never replaces, so the nameless file first gets a temporary name, which is then renamed over the target.
void AtomicFile::give_name() {
  const std::string source = "/proc/self/fd/" + std::to_string(descriptor_);
  for (;;) {
    const std::filesystem::path name = temporary_name(target_);
    if (::linkat(AT_FDCWD, source.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      temporary_ = name;
      return;
    }
    if (errno != EEXIST) fail("write", errno);
  }
}

AtomicFile::~AtomicFile() {
  discard();
}

void AtomicFile::discard() noexcept {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  if (!committed_ && !temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::fail(const char* action, int error_number) const {
  throw Error("cannot " + std::string(action) + " '" + path_.string() + "': " + std::strerror(error_number),
              hint_for_file_error(error_number, target_));
}

void AtomicFile::write(const void* data, size_t size) {
  if (descriptor_ < 0) throw std::logic_error("AtomicFile: write after commit");
  if (size == 0) return;
  if (buffer_.size() + size > kBufferBytes) flush();
  if (size >= kBufferBytes) {
    write_through(static_cast<const char*>(data), size);
  } else {
    buffer_.append(static_cast<const char*>(data), size);
  }
}

void AtomicFile::flush() {
  write_through(buffer_.data(), buffer_.size());
  buffer_.clear();
}

void AtomicFile::write_through(const char* data, size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(descriptor_, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write", errno);
    if (written == 0) fail("write", EIO);  // no progress and no reason given: never loop for ever
    data += written;
    size -= static_cast<size_t>(written);
  }
}

void AtomicFile::commit() {
  if (descriptor_ < 0) throw std::logic_error("AtomicFile: commit twice");
  flush();
  // EINVAL, ENOTSUP: a device, pipe or file system that has nothing to synchronise.
  if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != ENOTSUP) fail("write", errno);
  if (way_ == Way::kNameless) give_name();
  const int descriptor = descriptor_;
  descriptor_ = -1;  // closed whatever close() says
  if (::close(descriptor) != 0 && errno != EINTR) fail("write", errno);
  if (way_ == Way::kDirect) {
    committed_ = true;
    return;
  }
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail("replace", errno);
  committed_ = true;
  // The new name is durable once its directory is. A directory we may not read cannot be synchronised; that is no
  // failure.
  const int directory = ::open(directory_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return;
  const int error_number = ::fsync(directory) == 0 ? 0 : errno;
  ::close(directory);
  if (error_number == EIO || error_number == ENOSPC || error_number == EDQUOT) fail("make durable", error_number);
}

void write_file_atomically(const std::filesystem::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace penn
