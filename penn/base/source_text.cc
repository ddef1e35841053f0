#include "penn/base/source_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "penn/base/error.h"

namespace penn {

std::string SourceText::line(int number) const {
  size_t begin = 0;
  for (int i = 1; i < number; ++i) {
    begin = text_.find('\n', begin);
    if (begin == std::string::npos) return "";
    ++begin;
  }
  std::string result = text_.substr(begin, text_.find('\n', begin) - begin);
  if (!result.empty() && result.back() == '\r') result.pop_back();
  return result;
}

void SourceText::fail(Position at, const std::string& message, const std::string& hint) const {
  if (at.line <= 0) throw SystemError(fmt::format("{}: {}", name_, message), hint);
  std::string quoted = line(at.line);
  // A very long line is cut to the neighbourhood of the mistake.
  int column = std::max(at.column, 1);
  constexpr int kBefore = 60, kWidth = 110;
  if (static_cast<int>(quoted.size()) > kWidth) {
    const int begin = std::clamp(column - 1 - kBefore, 0, static_cast<int>(quoted.size()));
    quoted = (begin > 0 ? "..." : "") + quoted.substr(begin, kWidth);
    column -= begin - (begin > 0 ? 3 : 0);
  }
  // Control characters would spoil the terminal; tabs become blanks so that the caret stands right.
  for (char& c : quoted)
    if (static_cast<unsigned char>(c) < 32 || c == 127) c = ' ';
  const std::string number = std::to_string(at.line);
  const int room = std::max(1, static_cast<int>(quoted.size()) - column + 1);
  const std::string caret = "^" + std::string(std::clamp(at.length, 1, room) - 1, '~');
  throw SystemError(fmt::format("{}:{}:{}: {}\n  {} | {}\n  {:{}} | {:>{}}{}", name_, at.line, at.column, message,
                                number, quoted, "", number.size(), "", column - 1, caret),
                    hint);
}

int edit_distance(const std::string& a, const std::string& b) {
  std::vector<int> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int keep = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({keep, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace penn
