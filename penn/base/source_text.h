// A text file with a name, for messages that quote the offending line with a caret under it:
//   systems/ou.toml:6:24: unknown name 'eps'
//     6 | x = "-eta * x  +  eps * L"
//       |                   ^~~
#pragma once

#include <cstdlib>
#include <string>

namespace penn {

inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

struct Position {
  int line = 0;    // from 1; 0: the file as a whole
  int column = 0;  // from 1, in characters
  int length = 1;  // characters to underline
};

class SourceText {
 public:
  SourceText(std::string name, std::string text) : name_(std::move(name)), text_(std::move(text)) {}
  const std::string& name() const { return name_; }
  const std::string& text() const { return text_; }
  std::string line(int number) const;  // without its end of line; empty where there is none

  [[noreturn]] void fail(Position at, const std::string& message,
                         const std::string& hint = "") const;  // throws SystemError

 private:
  std::string name_, text_;
};

// The candidate most like `name`, or "" where none is close: for "did you mean".
template <class Names>
std::string closest_name(const std::string& name, const Names& candidates);
int edit_distance(const std::string& a, const std::string& b);

template <class Names>
std::string closest_name(const std::string& name, const Names& candidates) {
  std::string best;
  int best_distance = static_cast<int>(name.size()) / 3 + 2;  // short names must be nearly right
  for (const std::string& candidate : candidates) {
    if (std::abs(static_cast<int>(candidate.size()) - static_cast<int>(name.size())) >= best_distance)
      continue;  // a name may be very long
    const int distance = edit_distance(name, candidate);
    if (distance < best_distance) best = candidate, best_distance = distance;
  }
  return best;
}

}  // namespace penn
