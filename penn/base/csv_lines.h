// Parts of the CSV reader that know nothing of tables: lines of a file, fields of a line, a number of a field.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "penn/base/input_file.h"

namespace penn {

// Lines without their ends, in bounded memory. DataError for a zero byte (a binary file) or an absurdly long line.
class LineReader {
 public:
  explicit LineReader(InputFile file);
  // False at the end. The line is valid until the next call.
  bool next(std::string_view& line);
  size_t line_number() const { return line_number_; }  // of the last line, from 1
  const InputFile& file() const { return file_; }
  uint64_t bytes_read() const { return bytes_read_; }  // up to and including the last line

 private:
  bool refill();

  InputFile file_;
  std::string buffer_;
  size_t begin_ = 0;  // unread part of the buffer: [begin_, end_)
  size_t end_ = 0;
  bool at_end_ = false;
  uint64_t fetched_ = 0;
  uint64_t bytes_read_ = 0;
  size_t line_number_ = 0;
};

struct CsvField {
  std::string text;  // without quotes and surrounding blanks
  bool quoted = false;
  size_t position = 0;  // in the line, from 0
};

constexpr char kBlanks = ' ';  // as a separator: any run of blanks and tabs

// The most likely separator: ',', ';', '\t', kBlanks, or '\0' when the line is one field.
char find_separator(std::string_view line);

// One trailing separator makes an empty last field. With comments, '#' at the start of a field or after a blank ends
// the line.
std::vector<CsvField> split_line(std::string_view line, char separator, bool comments);

enum class NumberStatus { kFinite, kNotFinite, kOutOfRange, kText };

// The whole text as a number. decimal is '.' or ','.
NumberStatus parse_number(std::string_view text, char decimal, double& value);

}  // namespace penn
