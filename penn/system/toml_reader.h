// toml++ with our messages: entries in file order, typed access with file, line and caret.
#pragma once

#include <toml++/toml.h>

#include <string>
#include <vector>

#include "penn/base/source_text.h"
#include "penn/system/system.h"

namespace penn {

struct TomlEntry {
  std::string key;
  const toml::node* value;
  Position key_at, value_at;
};

struct ExpressionText {
  std::string text;
  Position at;
};

class TomlReader {
 public:
  TomlReader(const std::string& text, const std::string& source_name);
  const SourceText& source() const { return source_; }
  const toml::table& root() const { return root_; }

  std::vector<TomlEntry> entries(const toml::table& table) const;  // in the order of the file
  double number(const TomlEntry& entry) const;                     // finite
  std::string string(const TomlEntry& entry, const char* expected) const;
  Range number_range(const TomlEntry& entry) const;  // [low, high] with low < high
  Range number_or_range(const TomlEntry& entry) const;
  IntRange count_or_range(const TomlEntry& entry, int64_t lowest) const;
  const toml::table& table(const TomlEntry& entry, const char* expected) const;
  // The text of an expression (a string or a number) and where it starts.
  ExpressionText expression(const TomlEntry& entry) const;

  [[noreturn]] void fail(const Position& at, const std::string& message, const std::string& hint = "") const {
    source_.fail(at, message, hint);
  }
  // Refuses keys that are not in `known`, with the nearest of them as a hint.
  void only_known(const std::vector<TomlEntry>& entries, const std::vector<std::string>& known,
                  const std::string& where) const;

 private:
  double number_node(const toml::node& node, const Position& at) const;
  Range pair(const TomlEntry& entry) const;
  SourceText source_;
  toml::table root_;
};

}  // namespace penn
