// Tails are reached through erfc (accurate for z > -37) and, below that, the asymptotic series of the Mills ratio.
#include "penn/posterior/normal.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace penn {

namespace {

constexpr double kSeriesBelow = -36.0;  // erfc is still a normal number here; the series is exact to 2e-13

// First guess for p in (0, 0.5]: the rational approximation 26.2.23 of Abramowitz and Stegun, error below 4.5e-4.
double quantile_guess(double p) {
  const double t = std::sqrt(-2.0 * std::log(p));
  return (2.515517 + t * (0.802853 + t * 0.010328)) / (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t;
}

}  // namespace

double normal_density(double z) {
  return std::exp(-0.5 * z * z - kHalfLogTwoPi);
}

double normal_cdf(double z) {
  return 0.5 * std::erfc(-z * (0.5 * std::numbers::sqrt2));
}

double log_normal_cdf(double z) {
  if (z > 1.0) return std::log1p(-normal_cdf(-z));
  if (z > kSeriesBelow) return std::log(normal_cdf(z));
  if (z == -kInfinity) return -kInfinity;
  const double r = 1.0 / (z * z);
  const double series = r * (-1.0 + r * (3.0 + r * (-15.0 + r * 105.0)));
  return -0.5 * z * z - std::log(-z) - kHalfLogTwoPi + std::log1p(series);
}

double normal_quantile_from_log(double log_p) {
  if (log_p >= 0.0) return kInfinity;
  if (log_p == -kInfinity) return -kInfinity;
  if (log_p > -688.0) return normal_quantile(std::exp(log_p));  // p > 1e-299, which does not come back here
  // Newton on the concave increasing ln cdf, started to the left of the root: it climbs and never overshoots.
  double z = -std::sqrt(-2.0 * log_p);
  for (int i = 0; i < 50; ++i) {
    const double value = log_normal_cdf(z);
    const double slope = std::exp(-0.5 * z * z - kHalfLogTwoPi - value);
    // Where z * z is so large that the exponent is pure rounding, the slope is -z to all digits.
    const double step = (log_p - value) / (z < -1e6 ? -z : slope);
    z += step;
    if (std::fabs(step) <= 1e-15 * std::fabs(z)) break;
  }
  return z;
}

double normal_quantile(double p) {
  if (!(p > 0.0)) return -kInfinity;
  if (p >= 1.0) return kInfinity;
  if (p == 0.5) return 0.0;
  if (p > 0.5) return -normal_quantile(1.0 - p);
  if (p < 1e-299) return normal_quantile_from_log(std::log(p));
  double z = quantile_guess(p);
  for (int i = 0; i < 2; ++i) {  // Halley: each step cubes the error
    const double error = (normal_cdf(z) - p) / normal_density(z);
    z -= error / (1.0 + 0.5 * z * error);
  }
  return z;
}

double log_normal_interval(double a, double b) {
  if (!(a < b)) return -kInfinity;
  if (a > 0.0) return log_normal_interval(-b, -a);  // work in the lower tail, where the cdf keeps its digits
  if (b > 0.0) return std::log1p(-normal_cdf(a) - normal_cdf(-b));
  const double upper = log_normal_cdf(b);
  if (upper == -kInfinity) return -kInfinity;
  const double ratio = log_normal_cdf(a) - upper;
  // -expm1 keeps the digits of a narrow interval; when even those are gone, density times width.
  const double fraction = -std::expm1(ratio);
  if (fraction > 0.0) return upper + std::log(fraction);
  const double middle = 0.5 * (a + b);
  return -0.5 * middle * middle - kHalfLogTwoPi + std::log(b - a);
}

double normal_interval_quantile(double a, double b, double u) {
  if (a > 0.0) return -normal_interval_quantile(-b, -a, 1.0 - u);
  double z;
  if (b > -30.0) {
    const double left = normal_cdf(a);
    // For b > 0 as well: 1 - cdf(-b) has all the digits the answer can show.
    const double p = left + u * (normal_cdf(b) - left);
    z = p > 0.5 ? -normal_quantile(normal_cdf(-b) + (1.0 - u) * (1.0 - normal_cdf(-b) - left)) : normal_quantile(p);
  } else {
    const double top = log_normal_cdf(b);
    const double bottom = std::exp(log_normal_cdf(a) - top);  // relative to the top
    z = normal_quantile_from_log(top + std::log(bottom + u * (1.0 - bottom)));
  }
  return std::clamp(z, a, b);
}

double log_sum_exp(std::span<const double> values) {
  double largest = -kInfinity;
  for (double v : values) largest = std::max(largest, v);
  if (!std::isfinite(largest)) return largest;
  double sum = 0.0;
  for (double v : values) sum += std::exp(v - largest);
  return largest + std::log(sum);
}

}  // namespace penn
