// The integral of a positive function with one or several peaks, in few dimensions, from its logarithm. Each peak is
// looked for from many starts, whitened by the curvature there, and covered by a grid of points spread from the peak
// outwards as far as the function is within `depth` of its top. The trapezoidal rule converges exponentially for
// functions that fall off smoothly: a spacing of one standard deviation gives a Gaussian to 1e-8. Two grids, one in
// the gaps of the other, give the error; the spacing shrinks until it is small enough.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace penn {

using LogFunction = std::function<double(std::span<const double> w)>;  // -inf is allowed, NaN is not

struct GridOptions {
  double tolerance = 1e-3;                       // of the logarithm of the integral
  double depth = 14;                             // of a Gaussian in three dimensions, 4e-6 lie further out
  int64_t most_points = 400'000;                 // evaluations in all
  std::vector<std::vector<double>> starts = {};  // for the search, beside those of its own
};

struct GridIntegral {
  double log_value = 0, error = 0;  // error of the logarithm
  int64_t evaluations = 0;
  int peaks = 0;        // regions, not connected at this depth
  std::string why_not;  // "" where the tolerance was met
};

// Peaks are looked for where a standard normal vector lies; they may be far narrower.
GridIntegral integrate_on_grid(const LogFunction& f, size_t dimension, const GridOptions& options = {});

}  // namespace penn
