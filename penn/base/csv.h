// Tables of numbers in text. Read: comma, semicolon, tab or blanks, found from the first rows; header or none; '#'
// comments on lines of their own or after a blank; quotes; decimal comma where the separator is not a comma; LF or
// CRLF; byte-order mark. Every row must be complete and finite: anything else is a DataError with file:line:column.
// For writing: csv_writer.h.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penn/base/input_file.h"

namespace penn {

struct CsvOptions {
  // Names from the header, or numbers counted from 1; empty: all columns. Columns that are not named may hold anything.
  std::vector<std::string> columns = {};
  size_t max_values = 500'000'000;  // 4 GB of doubles; more is refused before the memory is gone
};

struct CsvTable {
  std::string file;
  std::vector<std::string> names;  // one per column, or empty when there is no header
  std::vector<std::string>
      comments;  // '#' lines above the first row, without '#' and the blank after it (64 KiB at most)
  size_t rows = 0;
  size_t columns = 0;
  std::vector<double> values;  // rows x columns, row-major
  size_t gaps = 0;             // blank lines between rows: some programs separate several trajectories so

  double at(size_t row, size_t column) const { return values[row * columns + column]; }
  // "'x'" or "column 2", for messages.
  std::string column_title(size_t column) const;
  // Line of the file (from 1) that holds a row (from 0).
  size_t line_of_row(size_t row) const;

  // line = row + offset from this row on; an entry wherever comments or blank lines intervene.
  std::vector<std::pair<size_t, size_t>> line_offsets;
};

CsvTable read_csv(InputFile file, const CsvOptions& options = {});
inline CsvTable read_csv(const std::filesystem::path& path, const CsvOptions& options = {}) {
  return read_csv(InputFile(path), options);
}

}  // namespace penn
