// Shortest round-trip numbers (std::to_chars), names quoted where a reader could misunderstand them.
#include "penn/base/csv_writer.h"

#include <charconv>
#include <cmath>

#include "penn/base/csv.h"

namespace penn {
namespace {

bool needs_quotes(const std::string& name) {
  if (name.empty()) return true;
  double number;
  const auto parsed = std::from_chars(name.data(), name.data() + name.size(), number);
  if (parsed.ptr != name.data()) return true;  // begins like a number (or nan, inf)
  return name.find_first_of(" \t,;\"#\r\n") != std::string::npos;
}

std::string quoted(const std::string& name) {
  std::string text = "\"";
  for (const char c : name) {
    if (c == '"') text += '"';
    text += c == '\n' || c == '\r' ? ' ' : c;  // a header is one line
  }
  return text + '"';
}

}  // namespace

CsvWriter::CsvWriter(const std::filesystem::path& path, const std::vector<std::string>& head,
                     const std::vector<std::string>& names)
    : file_(path) {
  for (const std::string& text : head) comment(text);
  for (size_t i = 0; i < names.size(); ++i) {
    file_.write((i == 0 ? "" : ",") + (needs_quotes(names[i]) ? quoted(names[i]) : names[i]));
  }
  if (!names.empty()) file_.write("\n");
}

void CsvWriter::comment(std::string_view text) {
  std::string line = "# ";
  for (const char c : text) {
    if (c == '\r') continue;
    line += c;
    if (c == '\n') line += "# ";  // one text of several lines stays a comment throughout
  }
  file_.write(line + '\n');
}

template <class T>
void CsvWriter::write_row(std::span<const T> values) {
  line_.clear();
  for (const T value : values) {
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    if (!line_.empty()) line_ += ',';
    if (std::isnan(value)) {
      line_ += "nan";  // never "-nan"
    } else {
      line_.append(digits, end);
    }
  }
  line_ += '\n';
  file_.write(line_);
}

template void CsvWriter::write_row<double>(std::span<const double>);
template void CsvWriter::write_row<float>(std::span<const float>);

}  // namespace penn
