// Checks of numbers on the command line, with messages for people.
#pragma once

#include <CLI/CLI.hpp>
#include <cmath>
#include <string>

namespace penn {

inline const CLI::Validator kPositive(
    [](std::string& text) -> std::string {
      double value = 0;
      if (CLI::detail::lexical_cast(text, value) && value > 0 && std::isfinite(value)) return "";
      const bool comma = text.find(',') != std::string::npos;
      return "'" + text + "' is not a positive number" + (comma ? "; the decimal mark is a point" : "");
    },
    "POSITIVE");

}  // namespace penn
