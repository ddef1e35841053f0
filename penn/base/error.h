// Every failure a user can cause is an Error: what was wrong, where, and what to do next.
// Libraries throw it; only the program prints it (penn/cli/main.cc).
#pragma once

#include <stdexcept>
#include <string>

namespace penn {

class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, std::string hint = "")
      : std::runtime_error(message), hint_(std::move(hint)) {}
  const std::string& hint() const { return hint_; }
  // The message and, on a line of its own, "hint: ...".
  std::string full_text() const { return hint_.empty() ? what() : std::string(what()) + "\nhint: " + hint_; }

 private:
  std::string hint_;
};

// A system file that does not make sense.
class SystemError : public Error {
 public:
  using Error::Error;
};

// A data file or directory.
class DataError : public Error {
 public:
  using Error::Error;
};

// A trained model or a checkpoint.
class ModelError : public Error {
 public:
  using Error::Error;
};

// A wrong command line (exit code 2).
class UsageError : public Error {
 public:
  using Error::Error;
};

}  // namespace penn
