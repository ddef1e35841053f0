#include "penn/system/toml_reader.h"
#include "penn/system/parse_system.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace penn {
namespace {

Position position_of(const toml::source_region& region) {
  Position at{static_cast<int>(region.begin.line), static_cast<int>(region.begin.column), 1};
  if (region.end.line == region.begin.line && region.end.column > region.begin.column)
    at.length = static_cast<int>(region.end.column - region.begin.column);
  return at;
}

std::string quote(double x) {
  return fmt::format("{}", x);
}

}  // namespace

TomlReader::TomlReader(const std::string& text, const std::string& source_name) : source_(source_name, text) {
  if (text.size() > kMostSystemBytes)
    source_.fail({},
                 fmt::format("{} bytes are too many for a system file (at most {})", text.size(), kMostSystemBytes));
  try {
    root_ = toml::parse(text, source_name);
  } catch (const toml::parse_error& error) {
    source_.fail(position_of(error.source()), std::string(error.description()),
                 "see docs/system_language.md for the format");
  }
}

std::vector<TomlEntry> TomlReader::entries(const toml::table& table) const {
  std::vector<TomlEntry> result;
  for (const auto& [key, value] : table)
    result.push_back({std::string(key.str()), &value, position_of(key.source()), position_of(value.source())});
  const auto place = [](const TomlEntry& e) { return std::pair(e.key_at.line, e.key_at.column); };
  std::sort(result.begin(), result.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
  return result;
}

double TomlReader::number_node(const toml::node& node, const Position& at) const {
  if (!node.is_integer() && !node.is_floating_point()) fail(at, "a number is expected here");
  const double value = *node.value<double>();
  if (!std::isfinite(value)) fail(at, "the number must be finite");
  return value;
}

double TomlReader::number(const TomlEntry& entry) const {
  return number_node(*entry.value, entry.value_at);
}

std::string TomlReader::string(const TomlEntry& entry, const char* expected) const {
  if (!entry.value->is_string()) fail(entry.value_at, fmt::format("'{}' must be {}, in quotes", entry.key, expected));
  return *entry.value->value<std::string>();
}

const toml::table& TomlReader::table(const TomlEntry& entry, const char* expected) const {
  if (!entry.value->is_table()) fail(entry.value_at, fmt::format("'{}' must be {}", entry.key, expected));
  return *entry.value->as_table();
}

Range TomlReader::pair(const TomlEntry& entry) const {
  const toml::array* array = entry.value->as_array();
  if (!array || array->size() != 2)
    fail(entry.value_at, fmt::format("'{}' needs a range of two numbers", entry.key),
         fmt::format("write {} = [low, high]", entry.key));
  const auto at = [&](size_t i) { return number_node(*array->get(i), position_of(array->get(i)->source())); };
  return {at(0), at(1)};
}

Range TomlReader::number_range(const TomlEntry& entry) const {
  const Range range = pair(entry);
  if (range.low == range.high)
    fail(entry.value_at,
         fmt::format("the range of '{}' is empty: [{}, {}]", entry.key, quote(range.low), quote(range.high)),
         fmt::format("a fixed value belongs into [constants]: {} = {}", entry.key, quote(range.low)));
  if (range.low > range.high)
    fail(entry.value_at,
         fmt::format("the range of '{}' is reversed: [{}, {}]", entry.key, quote(range.low), quote(range.high)),
         fmt::format("write [{}, {}]", quote(range.high), quote(range.low)));
  return range;
}

Range TomlReader::number_or_range(const TomlEntry& entry) const {
  if (entry.value->is_array()) return number_range(entry);
  const double value = number(entry);
  return {value, value};
}

IntRange TomlReader::count_or_range(const TomlEntry& entry, int64_t lowest) const {
  const Range range = number_or_range(entry);
  constexpr double kLargest = 1e9;
  for (const double value : {range.low, range.high}) {
    if (value != std::floor(value))
      fail(entry.value_at, fmt::format("'{}' counts samples and must be whole, got {}", entry.key, quote(value)));
    if (value < static_cast<double>(lowest) || value > kLargest)
      fail(entry.value_at,
           fmt::format("'{}' must lie in [{}, {:.0f}], got {}", entry.key, lowest, kLargest, quote(value)));
  }
  return {static_cast<int64_t>(range.low), static_cast<int64_t>(range.high)};
}

ExpressionText TomlReader::expression(const TomlEntry& entry) const {
  if (entry.value->is_integer() || entry.value->is_floating_point()) {
    return {fmt::format("({})", number(entry)), entry.value_at};  // parentheses: a negative number is one operand
  }
  if (!entry.value->is_string())
    fail(entry.value_at, fmt::format("'{}' must be a number or an expression in quotes", entry.key));
  Position at = entry.value_at;
  // Behind the opening quotes of a plain string; other strings (multi-line, escapes) are pointed at from their start.
  const std::string line = source_.line(at.line);
  const std::string text = *entry.value->value<std::string>();
  const size_t quote_at = static_cast<size_t>(at.column - 1);
  if (quote_at + 1 < line.size() && line.compare(quote_at + 1, text.size(), text) == 0) ++at.column;
  return {text, at};
}

void TomlReader::only_known(const std::vector<TomlEntry>& entries, const std::vector<std::string>& known,
                            const std::string& where) const {
  for (const TomlEntry& entry : entries) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    std::string list;
    for (const std::string& name : known) list += (list.empty() ? "" : ", ") + name;
    const std::string close = closest_name(entry.key, known);
    fail(entry.key_at, fmt::format("unknown entry '{}' {}", entry.key, where),
         (close.empty() ? "" : fmt::format("did you mean '{}'? ", close)) + "known here: " + list);
  }
}

}  // namespace penn
