// Lines, fields, numbers. Nothing here throws except LineReader.
#include "penn/base/csv_lines.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>  // memchr
#include <limits>

#include "penn/base/error.h"
#include "penn/base/source_text.h"

namespace penn {
namespace {

constexpr size_t kChunk = size_t{1} << 20;
constexpr size_t kMaxLine = size_t{16} << 20;

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

// 1,5 but not "1, 5" nor ",5": every comma stands between digits.
bool commas_are_decimal(std::string_view line) {
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] != ',') continue;
    if (i == 0 || i + 1 == line.size() || !is_digit(line[i - 1]) || !is_digit(line[i + 1])) return false;
  }
  return true;
}

}  // namespace

LineReader::LineReader(InputFile file) : file_(std::move(file)) {
  // A small file needs a small buffer; one byte more than the file shows its end without growing.
  buffer_.resize(file_.has_size() ? static_cast<size_t>(std::min<uint64_t>(file_.size() + 1, kChunk)) : kChunk);
  while (!at_end_ && end_ - begin_ < 4) refill();
  const std::string_view start(buffer_.data(), end_);
  const std::string& name = file_.name();
  if (start.starts_with("\xFF\xFE") || start.starts_with("\xFE\xFF")) {
    throw DataError(name + ": text in UTF-16, where plain text or UTF-8 is needed", "save it as UTF-8 (CSV)");
  }
  if (start.starts_with("\x93NUM")) throw DataError(name + ": an NPY array, not text", "name the file *.npy");
  if (start.starts_with("\xEF\xBB\xBF")) begin_ = 3;
}

bool LineReader::refill() {
  std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_), buffer_.begin() + static_cast<std::ptrdiff_t>(end_),
            buffer_.begin());
  end_ -= begin_;
  begin_ = 0;
  if (end_ == buffer_.size()) {
    if (end_ >= kMaxLine) {
      throw DataError(file_.name() + ":" + std::to_string(line_number_ + 1) + ": a line of more than 16 MiB",
                      "is this a table with one row per line?");
    }
    buffer_.resize(2 * buffer_.size());
  }
  const size_t got = file_.read_next(buffer_.data() + end_, buffer_.size() - end_);
  if (const void* zero = std::memchr(buffer_.data() + end_, 0, got)) {
    const auto at = static_cast<size_t>(static_cast<const char*>(zero) - (buffer_.data() + end_));
    throw DataError(
        file_.name() + ": a binary file, not text (zero byte at offset " + std::to_string(fetched_ + at) + ")",
        "data are CSV text or NPY arrays (*.npy)");
  }
  fetched_ += got;
  end_ += got;
  at_end_ = at_end_ || got == 0;
  return got > 0;
}

bool LineReader::next(std::string_view& line) {
  size_t searched = 0;
  for (;;) {
    const char* start = buffer_.data() + begin_;
    const void* newline = std::memchr(start + searched, '\n', end_ - begin_ - searched);
    size_t length = newline ? static_cast<size_t>(static_cast<const char*>(newline) - start) : end_ - begin_;
    if (!newline) {
      searched = length;
      if (!at_end_ && refill()) continue;
      if (end_ == begin_) return false;  // nothing after the last newline
      start = buffer_.data() + begin_;
    }
    begin_ += length + (newline ? 1 : 0);
    bytes_read_ = fetched_ - (end_ - begin_);
    while (length > 0 && start[length - 1] == '\r') --length;
    line = std::string_view(start, length);
    ++line_number_;
    return true;
  }
}

char find_separator(std::string_view line) {
  bool tab = false, comma = false, blank = false, in_quotes = false, ended = false;
  std::string plain;  // the line without quoted parts and comment
  for (const char c : line) {
    if (c == '#' && !in_quotes && (plain.empty() || is_blank(plain.back()))) break;
    if (c == '"') in_quotes = !in_quotes;
    plain += in_quotes ? 'q' : c;
  }
  while (!plain.empty() && plain.back() == ' ') plain.pop_back();
  for (const char c : plain) {
    if (c == ';') return ';';
    if (c == ',') comma = true;
    if (c == '\t') tab = true;
    // A blank counts only between two fields: after something that is not a blank (the end was trimmed).
    if (c == ' ' && ended) blank = true;
    ended = ended || !is_blank(c);
  }
  if (comma && (!(tab || blank) || !commas_are_decimal(plain))) return ',';
  return tab ? '\t' : blank ? kBlanks : '\0';
}

std::vector<CsvField> split_line(std::string_view line, char separator, bool comments) {
  std::vector<CsvField> fields;
  const auto blank = [&](size_t i) { return line[i] == ' ' || (line[i] == '\t' && separator != '\t'); };
  const auto ends_field = [&](size_t i) {
    if (separator == kBlanks ? is_blank(line[i]) : (separator != '\0' && line[i] == separator)) return true;
    return comments && line[i] == '#' && i > 0 && is_blank(line[i - 1]);
  };
  const auto at_comment = [&](size_t i) { return comments && line[i] == '#' && (i == 0 || is_blank(line[i - 1])); };
  size_t i = 0;
  for (;;) {
    while (i < line.size() && blank(i)) ++i;
    const bool ended = i == line.size() || at_comment(i);
    if (ended && separator == kBlanks) return fields;
    CsvField field;
    field.position = i;
    if (!ended && line[i] == '"') {
      field.quoted = true;
      for (++i; i < line.size(); ++i) {
        if (line[i] == '"' && i + 1 < line.size() && line[i + 1] == '"') {
          field.text += line[i++];
        } else if (line[i] == '"') {
          break;
        } else {
          field.text += line[i];
        }
      }
      if (i < line.size()) ++i;
    }
    // What follows a closing quote up to the separator belongs to the field, and makes it text.
    size_t end = i;
    while (!ended && end < line.size() && !ends_field(end)) ++end;
    std::string_view rest = line.substr(i, end - i);
    while (!rest.empty() && is_blank(rest.back())) rest.remove_suffix(1);
    field.text += rest;
    fields.push_back(std::move(field));
    i = end;
    if (ended || i == line.size() || at_comment(i)) return fields;
    if (separator != kBlanks) ++i;
  }
}

NumberStatus parse_number(std::string_view text, char decimal, double& value) {
  std::string with_point;
  if (decimal == ',') {
    if (text.find('.') != std::string_view::npos) return NumberStatus::kText;
    with_point = text;
    std::replace(with_point.begin(), with_point.end(), ',', '.');
    text = with_point;
  }
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::invalid_argument || stop != end) return NumberStatus::kText;
  if (error == std::errc::result_out_of_range) {
    // Too large or too small? long double reaches 1e+-4932; beyond that, the exponent's sign tells.
    long double wide = 0;
    const auto retry = std::from_chars(text.data(), end, wide);
    const size_t exponent = text.find_first_of("eE");
    const bool small =
        retry.ec == std::errc() ? std::fabs(wide) < 1 : exponent != std::string_view::npos && text[exponent + 1] == '-';
    if (!small) return NumberStatus::kOutOfRange;
    value = static_cast<double>(wide);
  }
  return std::isfinite(value) ? NumberStatus::kFinite : NumberStatus::kNotFinite;
}

}  // namespace penn
