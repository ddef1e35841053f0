// "stable(alpha, beta)" -> the noise and the texts of its shapes.
#pragma once

#include <string>
#include <vector>

#include "penn/noise/noise_type.h"

namespace penn {

struct NoiseCall {
  struct Argument {
    std::string text;  // without blanks around it
    size_t at;         // its position in the whole text
  };
  const NoiseType* type = nullptr;
  std::vector<Argument> arguments;
  std::string problem;  // what is wrong with the text; then there is no type
};

NoiseCall parse_noise(const std::string& text);

}  // namespace penn
