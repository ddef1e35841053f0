// Coordinates of a parameter in which its prior, uniform in the box, is the standard normal distribution: u =
// Phi^-1((theta - lo) / (hi - lo)). A Gaussian in u stays inside the box, is flat where nothing is known, and is a
// Gaussian in theta where much is.
#pragma once

#include <algorithm>
#include <cmath>

#include "penn/posterior/normal.h"

namespace penn {

inline constexpr double kBoxEdge =
    1e-7;  // fractions of the width closer to an edge than this count as this close: the edge itself lies at infinity

inline double probit_coordinate(double theta, double lo, double hi) {
  return normal_quantile(std::clamp((theta - lo) / (hi - lo), kBoxEdge, 1 - kBoxEdge));
}
inline double from_probit_coordinate(double u, double lo, double hi) {
  return std::min(lo + (hi - lo) * normal_cdf(u), hi);
}  // rounding may exceed hi
// ln d theta / d u
inline double log_probit_slope(double u, double lo, double hi) {
  return std::log(hi - lo) - 0.5 * u * u - kHalfLogTwoPi;
}

}  // namespace penn
