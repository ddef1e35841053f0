#include "penn/noise/noise_type.h"

#include <fmt/core.h>

#include <cmath>

#include "penn/noise/asymmetric_stable.h"
#include "penn/noise/compound_poisson.h"
#include "penn/noise/fractional.h"
#include "penn/noise/gaussian.h"
#include "penn/noise/stable.h"

namespace penn {

// All noises, in the order in which messages and documents list them.
std::span<const NoiseType* const> noise_types() {
  static const NoiseType* const types[] = {&gaussian_noise(), &fractional_noise(), &stable_noise(),
                                           &asymmetric_stable_noise(), &compound_poisson_noise()};
  return types;
}

bool NoiseShape::contains(double value) const {
  const bool above = ends == kOpen || ends == kOpenLow ? value > low : value >= low;
  const bool below = ends == kOpen || ends == kOpenHigh ? value < high : value <= high;
  return above && below;
}

std::string NoiseShape::domain() const {
  return fmt::format("{}{:g}, {:g}{}", ends == kOpen || ends == kOpenLow ? '(' : '[', low, high,
                     ends == kOpen || ends == kOpenHigh ? ')' : ']');
}

std::string NoiseShape::outside(double value) const {
  return fmt::format("{} must lie in {}, got {:.9g}", name, domain(), value);
}

std::string NoiseType::call() const {
  std::string arguments;
  for (const NoiseShape& shape : shapes) arguments += (arguments.empty() ? "" : ", ") + shape.name;
  return name + "(" + arguments + ")";
}

std::string noise_calls(const std::string& separator) {
  std::string list;
  for (const NoiseType* type : noise_types()) list += (list.empty() ? "" : separator) + type->call();
  return list;
}

}  // namespace penn
