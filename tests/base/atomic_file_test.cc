// A target is either the old file or the whole new one, and nothing else is left in its directory.
#include "penn/base/atomic_file.h"

#include <signal.h>
#include <sys/resource.h>  // setrlimit
#include <sys/stat.h>      // umask
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>

#include "base/files_for_tests.h"
#include "penn/base/error.h"

namespace penn {
namespace {

TEST(atomic_file_test, text_of_any_size_arrives_whole) {
  const TestDirectory directory;
  for (const size_t size : {0u, 1u, 262143u, 262144u, 262145u, 1000003u}) {
    std::string text(size, ' ');
    for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 2654435761u >> 24);
    write_file_atomically(directory / "a", text);
    EXPECT_EQ(read_whole(directory / "a"), text);
    AtomicFile chunks(directory / "b");
    for (size_t at = 0; at < size; at += 777) chunks.write(std::string_view(text).substr(at, 777));
    chunks.commit();
    EXPECT_EQ(read_whole(directory / "b"), text);
  }
  EXPECT_EQ(directory.file_count(), 2u);
}

constexpr AtomicFile::Temporary kBothWays[] = {AtomicFile::Temporary::kNameless, AtomicFile::Temporary::kNamed};

TEST(atomic_file_test, old_file_stays_until_commit) {
  for (const AtomicFile::Temporary way : kBothWays) {
    const TestDirectory directory;
    write_whole(directory / "a", "old");
    {
      AtomicFile file(directory / "a", way);
      file.write(std::string(500000, 'n'));
      EXPECT_EQ(read_whole(directory / "a"), "old");
    }  // never committed
    EXPECT_EQ(read_whole(directory / "a"), "old");
    EXPECT_EQ(directory.file_count(), 1u);
    AtomicFile file(directory / "a", way);
    file.write("new");
    file.commit();
    EXPECT_EQ(read_whole(directory / "a"), "new");
    EXPECT_EQ(directory.file_count(), 1u);
  }
}

TEST(atomic_file_test, exception_between_writes_leaves_nothing) {
  for (const AtomicFile::Temporary way : kBothWays) {
    const TestDirectory directory;
    EXPECT_THROW(
        {
          AtomicFile file(directory / "a", way);
          file.write(std::string(500000, 'n'));
          throw std::runtime_error("the simulator failed");
        },
        std::runtime_error);
    EXPECT_EQ(directory.file_count(), 0u);
  }
}

TEST(atomic_file_test, use_after_commit_is_a_programming_error) {
  const TestDirectory directory;
  AtomicFile file(directory / "a");
  file.commit();
  EXPECT_THROW(file.write("x"), std::logic_error);
  EXPECT_THROW(file.commit(), std::logic_error);
  EXPECT_EQ(read_whole(directory / "a"), "");
}

TEST(atomic_file_test, replaced_file_keeps_its_permissions_and_new_one_follows_the_umask) {
  const TestDirectory directory;
  namespace fs = std::filesystem;
  write_whole(directory / "a", "old");
  fs::permissions(directory / "a", fs::perms(0640));
  write_file_atomically(directory / "a", "new");
  EXPECT_EQ(fs::status(directory / "a").permissions(), fs::perms(0640));
  const mode_t before = ::umask(027);
  write_file_atomically(directory / "b", "new");
  ::umask(before);
  EXPECT_EQ(fs::status(directory / "b").permissions(), fs::perms(0640));
}

TEST(atomic_file_test, a_link_stays_a_link) {
  const TestDirectory directory;
  std::filesystem::create_directory(directory / "real");
  write_whole(directory / "real/a", "old");
  std::filesystem::create_symlink("real/a", directory / "link");
  write_file_atomically(directory / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(directory / "link"));
  EXPECT_EQ(read_whole(directory / "real/a"), "new");
  std::filesystem::create_symlink("loop", directory / "loop");
  EXPECT_NE(error_text<Error>([&] { AtomicFile file(directory / "loop"); }).find("symbolic link points to itself"),
            std::string::npos);
  std::filesystem::create_symlink("later", directory / "dangling");
  write_file_atomically(directory / "dangling", "new");
  EXPECT_EQ(read_whole(directory / "later"), "new");
}

TEST(atomic_file_test, longest_allowed_name_is_no_problem) {
  const TestDirectory directory;
  const std::string name(255, 'n');
  write_file_atomically(directory / name, "x");
  EXPECT_EQ(read_whole(directory / name), "x");
  EXPECT_NE(error_text<Error>([&] { write_file_atomically(directory / (name + "n"), "x"); }).find("File name too long"),
            std::string::npos);
  EXPECT_EQ(directory.file_count(), 1u);
}

TEST(atomic_file_test, full_disk_is_reported_and_the_device_survives) {
  // /dev/full accepts open() and fails every write() with ENOSPC.
  const std::string wanted =
      "cannot write '/dev/full': No space left on device\nhint: free some space, or write to another disk";
  EXPECT_EQ(error_text<Error>([] { write_file_atomically("/dev/full", "x"); }), wanted);                  // at commit
  EXPECT_EQ(error_text<Error>([] { AtomicFile("/dev/full").write(std::string(300000, 'x')); }), wanted);  // at write
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
  write_file_atomically("/dev/null", "x");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(atomic_file_test, size_limit_is_reported_and_nothing_is_left) {
  const TestDirectory directory;
  write_whole(directory / "a", "old");
  // In a child process, since the limit binds everything the process writes.
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{100000, 100000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    int outcome = 1;
    try {
      write_file_atomically(directory / "a", std::string(100001, 'x'));
    } catch (const Error& error) {
      outcome = error.full_text().find("File too large") != std::string::npos && !error.hint().empty() ? 0 : 2;
    }
    ::_exit(outcome);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(read_whole(directory / "a"), "old");
  EXPECT_EQ(directory.file_count(), 1u);
}

TEST(atomic_file_test, impossible_places_are_named_with_a_hint) {
  const TestDirectory directory;
  write_whole(directory / "file", "x");
  const auto text = [&](const std::filesystem::path& path) {
    return error_text<Error>([&] { AtomicFile file(path); });
  };
  const std::string base = directory.path().string();
  EXPECT_EQ(text(directory / "none/a"), "cannot write '" + base +
                                            "/none/a': No such file or directory\nhint: create the directory " +
                                            "first: mkdir -p '" + base + "/none'");
  EXPECT_EQ(text(directory / "file/a"), "cannot write '" + base + "/file/a': Not a directory\nhint: a part of '" +
                                            base + "/file' is a file, not a directory");
  EXPECT_NE(text(directory.path()).find("Is a directory\nhint: give the name of a file"), std::string::npos);
  EXPECT_NE(text(base + "/").find("Is a directory"), std::string::npos);
  EXPECT_NE(text("").find("without a name"), std::string::npos);
  EXPECT_EQ(directory.file_count(), 1u);
}

TEST(atomic_file_test, directory_without_write_permission_is_refused) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
  const TestDirectory directory;
  std::filesystem::permissions(directory.path(), std::filesystem::perms(0500));
  EXPECT_NE(error_text<Error>([&] {
              AtomicFile file(directory / "a");
            }).find("Permission denied\nhint: check the permissions"),
            std::string::npos);
  std::filesystem::permissions(directory.path(), std::filesystem::perms(0700));
}

TEST(atomic_file_test, target_that_became_a_directory_leaves_no_temporary) {
  for (const AtomicFile::Temporary way : kBothWays) {
    const TestDirectory directory;
    {
      AtomicFile file(directory / "a", way);
      file.write("x");
      std::filesystem::create_directory(directory / "a");
      EXPECT_NE(error_text<Error>([&] { file.commit(); }).find("cannot replace '"), std::string::npos);
    }
    EXPECT_EQ(directory.file_count(), 1u);
    EXPECT_TRUE(std::filesystem::is_directory(directory / "a"));
  }
}

TEST(atomic_file_test, killed_process_leaves_the_old_file) {
  const TestDirectory directory;
  const std::string old_text(100000, 'o'), new_text(5000000, 'n');
  write_whole(directory / "a", old_text);
  for (int round = 0; round < 10; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      try {
        for (;;) write_file_atomically(directory / "a", new_text);
      } catch (const std::exception&) {
        ::_exit(1);  // never return into the test program
      }
    }
    ::usleep(static_cast<useconds_t>(500 + 1500 * round));
    ::kill(child, SIGKILL);
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    const std::string found = read_whole(directory / "a");
    EXPECT_TRUE(found == old_text || found == new_text) << "round " << round << ", " << found.size() << " bytes";
    // At most the one temporary that had its name when the signal came.
    EXPECT_LE(directory.file_count(), 2u + static_cast<size_t>(round));
  }
}

}  // namespace
}  // namespace penn
