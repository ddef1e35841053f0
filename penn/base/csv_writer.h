// Tables of numbers as text: '#' lines, names, rows. Shortest round-trip numbers (std::to_chars).
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penn/base/atomic_file.h"

namespace penn {

// Appears whole when finish() succeeds. Numbers are written with the fewest digits that read back to the same value.
class CsvWriter {
 public:
  // head: lines of explanation, each preceded by "# "; names: the header, or empty for none.
  CsvWriter(const std::filesystem::path& path, const std::vector<std::string>& head,
            const std::vector<std::string>& names);
  void comment(std::string_view text);  // a '#' line among or after the rows
  void row(std::span<const double> values) { write_row(values); }
  void row(std::span<const float> values) { write_row(values); }
  void finish() { file_.commit(); }

 private:
  template <class T>
  void write_row(std::span<const T> values);

  AtomicFile file_;
  std::string line_;
};

}  // namespace penn
