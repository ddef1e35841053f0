#include "penn/system/parse_noise.h"

#include <fmt/core.h>

#include <algorithm>

namespace penn {
namespace {

// Splits text[begin, end) at the commas outside of inner parentheses.
std::vector<NoiseCall::Argument> split_arguments(const std::string& text, size_t begin, size_t end) {
  std::vector<NoiseCall::Argument> arguments;
  const auto add = [&](size_t first, size_t last) {
    while (first < last && text[first] == ' ') ++first;
    while (first < last && text[last - 1] == ' ') --last;
    arguments.push_back({text.substr(first, last - first), first});
  };
  int depth = 0;
  size_t first = begin;
  for (size_t i = begin; i < end; ++i) {
    depth += (text[i] == '(') - (text[i] == ')');
    if (text[i] == ',' && depth == 0) add(first, i), first = i + 1;
  }
  add(first, end);
  if (arguments.size() == 1 && arguments[0].text.empty()) arguments.clear();
  return arguments;
}

std::string wrong_number(const std::vector<const NoiseType*>& named, size_t given) {
  const NoiseType& first = *named[0];
  if (first.shapes.empty())
    return fmt::format("{}() takes no argument: its strength is its coefficient in the equations", first.name);
  if (given == 0) {
    std::string names;
    for (const NoiseShape& shape : first.shapes) names += (names.empty() ? "" : " and ") + shape.name;
    return fmt::format("{}() needs its {}", first.name, names);
  }
  std::string calls;
  for (const NoiseType* type : named) calls += (calls.empty() ? "" : " or ") + type->call();
  return fmt::format("{} has {} arguments, expected {}", first.name, given, calls);
}

}  // namespace

NoiseCall parse_noise(const std::string& text) {
  NoiseCall call;
  const size_t open = text.find('('), close = text.find_last_not_of(' ');
  std::string name = text.substr(0, open);
  while (!name.empty() && name.back() == ' ') name.pop_back();
  std::vector<const NoiseType*> named;
  for (const NoiseType* type : noise_types())
    if (type->name == name) named.push_back(type);
  if (named.empty()) return call.problem = fmt::format("unknown noise '{}'", name), call;
  if (open == std::string::npos || text[close] != ')')
    return call.problem = fmt::format("'{}' needs parentheses", name), call;
  call.arguments = split_arguments(text, open + 1, close);
  const auto fits = [&](const NoiseType* type) { return type->shapes.size() == call.arguments.size(); };
  const auto found = std::find_if(named.begin(), named.end(), fits);
  if (found == named.end()) call.problem = wrong_number(named, call.arguments.size());
  else call.type = *found;
  return call;
}

}  // namespace penn
