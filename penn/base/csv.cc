// The reader. The first row (and the second, when the first is a header) settles separator and columns; then a fast
// path takes rows of plain numbers, and whatever it declines goes to the slow path, which also finds the words for what
// is wrong.
#include "penn/base/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "penn/base/csv_lines.h"
#include "penn/base/error.h"

namespace penn {
namespace {

constexpr size_t kMaxCommentBytes = size_t{64} << 10;
constexpr size_t kRowsBeforeReserve = 4096;

// A field as it may be shown in a message.
std::string shown(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 40)) out += static_cast<unsigned char>(c) < ' ' || c == 127 ? '?' : c;
  return "'" + out + (text.size() > 40 ? "...'" : "'");
}

class Reader {
 public:
  Reader(InputFile file, const CsvOptions& options) : options_(options), lines_(std::move(file)) {
    table_.file = lines_.file().name();
  }

  CsvTable read() {
    std::string_view line;
    if (next_row(line)) begin(std::string(line));
    while (next_row(line)) add_row(line);
    if (table_.rows == 0) {
      throw DataError(table_.file + (lines_.line_number() == 0 ? ": the file is empty" : ": no rows of numbers"),
                      "expected one row per point, for example: 0.1,1.25");
    }
    return std::move(table_);
  }

 private:
  [[noreturn]] void fail(size_t position, const std::string& what, const std::string& hint = "") const {
    throw DataError(table_.file + ":" + std::to_string(row_line_) + ":" + std::to_string(position + 1) + ": " + what,
                    hint);
  }

  // Skips blank lines and comments, and keeps account of them.
  bool next_row(std::string_view& line) {
    bool blank = false;
    while (lines_.next(line)) {
      const size_t first = line.find_first_not_of(" \t\r");
      if (first == std::string_view::npos) {
        blank = true;
      } else if (line[first] == '#') {
        if (table_.rows == 0) keep_comment(line.substr(first + 1));
      } else {
        row_line_ = lines_.line_number();
        if (blank && table_.rows > 0) ++table_.gaps;
        return true;
      }
    }
    return false;
  }

  void keep_comment(std::string_view text) {
    if (text.starts_with(' ')) text.remove_prefix(1);
    comment_bytes_ += text.size() + sizeof(std::string);
    if (comment_bytes_ <= kMaxCommentBytes) table_.comments.emplace_back(text);
  }

  // ---- the first row
  // ------------------------------------------------------------------------------------------------- Settles the
  // layout. Under a header the row below it decides the separator, since names may contain blanks.
  void begin(const std::string& first) {
    separator_ = find_separator(first);
    first_row_line_ = row_line_;
    std::vector<CsvField> fields = split_line(first, separator_, false);
    const FirstRow kind = kind_of(fields);
    std::string_view second;
    const bool has_second = kind != FirstRow::kNumbers && next_row(second);
    const bool header = kind == FirstRow::kNames ||
                        (kind == FirstRow::kQuotedNumbers && has_second && second.find('"') == std::string_view::npos);
    if (header && has_second) {
      const char below = find_separator(second);
      const size_t count = split_line(second, below, true).size();
      if (fields.size() != count) fields = split_line(first, below, false);
      separator_ = below;
    }
    if (!header) fields = split_line(first, separator_, true);
    if (fields.size() > 1 && fields.back().text.empty() && !fields.back().quoted) fields.pop_back();  // "t,x,"
    columns_in_file_ = fields.size();
    if (header) {
      for (const CsvField& field : fields) table_.names.push_back(field.text);
    }
    const size_t second_line = std::exchange(row_line_, first_row_line_);
    select_columns();
    if (!header) add_row(first);
    row_line_ = second_line;
    if (has_second) add_row(second);
  }

  // A header has at least one text and no bare number. Numbers in quotes are names when the row below has no quotes.
  enum class FirstRow { kNumbers, kNames, kQuotedNumbers };
  FirstRow kind_of(const std::vector<CsvField>& fields) const {
    bool text = false, bare_number = false, quoted_number = false;
    for (size_t i = 0; i < fields.size(); ++i) {
      if (!options_.columns.empty() && numbers_only() && !is_selected_number(i)) continue;
      if (fields[i].text.empty()) continue;
      double value;
      const bool number = is_number(fields[i].text, value);
      text = text || !number;
      (fields[i].quoted ? quoted_number : bare_number) |= number;
    }
    if (bare_number) return FirstRow::kNumbers;
    return text ? FirstRow::kNames : quoted_number ? FirstRow::kQuotedNumbers : FirstRow::kNumbers;
  }
  bool is_number(const std::string& text, double& value) const {
    if (parse_number(text, '.', value) != NumberStatus::kText) return true;
    return separator_ != ',' && parse_number(text, ',', value) != NumberStatus::kText;
  }
  bool numbers_only() const {
    return std::all_of(options_.columns.begin(), options_.columns.end(),
                       [](const std::string& name) { return number_of(name) > 0; });
  }
  bool is_selected_number(size_t column) const {
    return std::any_of(options_.columns.begin(), options_.columns.end(),
                       [&](const std::string& name) { return number_of(name) == column + 1; });
  }
  // "2" -> 2; 0 when the name is no such number.
  static size_t number_of(const std::string& name) {
    size_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    return error == std::errc() && end == name.data() + name.size() ? number : 0;
  }

  void select_columns() {
    for (const std::string& wanted : options_.columns) {
      const auto found = std::find(table_.names.begin(), table_.names.end(), wanted);
      if (found != table_.names.end()) {
        if (std::find(found + 1, table_.names.end(), wanted) != table_.names.end()) {
          fail(0, "two columns are named " + shown(wanted),
               "choose by number: 1 to " + std::to_string(columns_in_file_));
        }
        selected_.push_back(static_cast<size_t>(found - table_.names.begin()));
        continue;
      }
      const size_t number = number_of(wanted);
      if (number == 0 || number > columns_in_file_) {
        std::string known = "1 to " + std::to_string(columns_in_file_);
        for (size_t i = 0; i < table_.names.size() && i < 20; ++i) known += ", " + table_.names[i];
        fail(0, "no column " + shown(wanted), "columns: " + known);
      }
      selected_.push_back(number - 1);
    }
    if (selected_.empty()) {
      for (size_t i = 0; i < columns_in_file_; ++i) selected_.push_back(i);
    } else if (!table_.names.empty()) {
      std::vector<std::string> names;
      for (const size_t column : selected_) names.push_back(table_.names[column]);
      file_names_.swap(table_.names);
      table_.names = std::move(names);
    }
    table_.columns = selected_.size();
    scratch_.resize(columns_in_file_);
  }

  // ---- rows
  // ----------------------------------------------------------------------------------------------------------
  void add_row(std::string_view line) {
    if (table_.columns > options_.max_values - table_.values.size()) {
      fail(0, "more than " + std::to_string(options_.max_values) + " values",
           "thin the data, or cut the file into several trajectories");
    }
    if (table_.rows == kRowsBeforeReserve) reserve();
    if (!parse_fast(line)) parse_slow(line);
    for (const size_t column : selected_) table_.values.push_back(scratch_[column]);
    if (table_.line_offsets.empty() || table_.line_offsets.back().second != row_line_ - table_.rows) {
      table_.line_offsets.emplace_back(table_.rows, row_line_ - table_.rows);
    }
    ++table_.rows;
  }

  // One allocation for the rest of the file, from the length of the rows so far; growth by doubling would need three
  // times it.
  void reserve() {
    if (!lines_.file().has_size()) return;
    const double bytes_per_row = static_cast<double>(lines_.bytes_read()) / static_cast<double>(table_.rows);
    const double rows = 1.02 * static_cast<double>(lines_.file().size()) / bytes_per_row + 1000;
    const double values = rows * static_cast<double>(table_.columns);
    table_.values.reserve(std::min(options_.max_values, static_cast<size_t>(values)));
  }

  // Bare finite numbers, all columns of them, and nothing else; false for anything that needs a closer look.
  bool parse_fast(std::string_view line) {
    if (decimal_ == ',') {
      if (line.find('.') != std::string_view::npos) return false;
      with_point_ = line;
      std::replace(with_point_.begin(), with_point_.end(), ',', '.');
      line = with_point_;
    }
    const char* at = line.data();
    const char* const end = at + line.size();
    const auto skip_blanks = [&] {
      while (at != end && (*at == ' ' || (*at == '\t' && separator_ != '\t'))) ++at;
    };
    for (size_t column = 0; column < columns_in_file_; ++column) {
      if (column > 0 && separator_ != kBlanks && (at == end || *at++ != separator_)) return false;
      skip_blanks();
      const auto [stop, error] = std::from_chars(at, end, scratch_[column]);
      if (error != std::errc() || !std::isfinite(scratch_[column])) return false;
      at = stop;
      if (separator_ == kBlanks && at != end && *at != ' ' && *at != '\t') return false;
      skip_blanks();
    }
    if (at != end) return false;
    if (decimal_ == '\0' && line.find('.') != std::string_view::npos) decimal_ = '.';
    return true;
  }

  void parse_slow(std::string_view line) {
    std::vector<CsvField> fields = split_line(line, separator_, true);
    if (fields.size() == columns_in_file_ + 1 && fields.back().text.empty() && !fields.back().quoted) fields.pop_back();
    if (fields.size() != columns_in_file_) {
      const size_t position = fields.size() > columns_in_file_ ? fields[columns_in_file_].position : line.size();
      fail(position,
           std::to_string(fields.size()) + (fields.size() == 1 ? " value" : " values") + " where line " +
               std::to_string(first_row_line_) + " has " + std::to_string(columns_in_file_),
           separator_ == ',' ? "if the comma is the decimal mark, separate the columns by semicolons or tabs" : "");
    }
    for (const size_t column : selected_) scratch_[column] = number(fields[column], column);
  }

  double number(const CsvField& field, size_t column) {
    const std::vector<std::string>& names = file_names_.empty() ? table_.names : file_names_;
    const std::string where = " (column " + std::to_string(column + 1) +
                              (column < names.size() && !names[column].empty() ? ", " + shown(names[column]) : "") +
                              ")";
    if (field.text.empty()) {
      fail(field.position, "a missing value" + where,
           "every row must be complete: fill the gap, or leave out the row's trajectory");
    }
    double value = 0;
    switch (parse_number(field.text, decimal_of(field.text), value)) {
      case NumberStatus::kFinite:
        return value;
      case NumberStatus::kNotFinite:
        fail(field.position, shown(field.text) + " is not a finite number" + where,
             "a trajectory must be complete: cut it before this point, or fill the gap");
      case NumberStatus::kOutOfRange:
        fail(field.position, shown(field.text) + " is outside the range of numbers" + where);
      case NumberStatus::kText:
        break;
    }
    const bool old_mac = field.text.find('\r') != std::string::npos;
    fail(field.position, shown(field.text) + " is not a number" + where,
         old_mac            ? "the lines end in CR alone; convert the file to LF"
         : table_.rows == 0 ? "a header has only names in it, rows have only numbers; comments begin with #"
                            : "comments begin with #; choose columns with --columns to skip text");
  }

  // A comma is the decimal mark where it does not separate, and then throughout the file.
  char decimal_of(const std::string& text) {
    if (separator_ == ',') return '.';
    if (decimal_ == '\0' && text.find('.') != std::string::npos) decimal_ = '.';
    if (decimal_ == '\0' && text.find(',') != std::string::npos) decimal_ = ',';
    return decimal_ == ',' ? ',' : '.';
  }

  const CsvOptions& options_;
  LineReader lines_;
  CsvTable table_;
  std::vector<std::string> file_names_;  // all names of the header, when only some columns are taken
  std::vector<size_t> selected_;         // columns of the file, in the order asked for
  std::vector<double> scratch_;          // one row of the file
  std::string with_point_;
  char separator_ = '\0';
  char decimal_ = '\0';  // not yet seen
  size_t columns_in_file_ = 0;
  size_t row_line_ = 0;
  size_t first_row_line_ = 0;
  size_t comment_bytes_ = 0;
};

}  // namespace

std::string CsvTable::column_title(size_t column) const {
  return column < names.size() && !names[column].empty() ? shown(names[column])
                                                         : "column " + std::to_string(column + 1);
}

size_t CsvTable::line_of_row(size_t row) const {
  const auto after = std::upper_bound(line_offsets.begin(), line_offsets.end(), row,
                                      [](size_t value, const auto& entry) { return value < entry.first; });
  return after == line_offsets.begin() ? row + 1 : row + std::prev(after)->second;
}

CsvTable read_csv(InputFile file, const CsvOptions& options) {
  return Reader(std::move(file), options).read();
}

}  // namespace penn
