// The standard normal distribution, safe in both tails: cdf, its logarithm, its inverse, the mass of an interval and a
// draw from an interval, also where the plain cdf is 0 or 1 in double precision.
#pragma once

#include <limits>
#include <span>

namespace penn {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kHalfLogTwoPi = 0.91893853320467274178;  // ln(2 pi) / 2

double normal_density(double z);
double normal_cdf(double z);

// ln cdf, finite for every finite z (relative error below 1e-11).
double log_normal_cdf(double z);

// Inverse of the cdf; p = 0 and 1 give -inf and +inf. Absolute error below 1e-12 for p >= 1e-300.
double normal_quantile(double p);

// The z with ln cdf(z) = log_p, for any log_p <= 0, however far in the lower tail.
double normal_quantile_from_log(double log_p);

// ln P(a < Z < b), a < b; either may be infinite.
double log_normal_interval(double a, double b);

// The point that leaves the fraction u in (0, 1) of the mass of (a, b) to its left; always inside [a, b].
double normal_interval_quantile(double a, double b, double u);

// ln sum exp(values), -inf when all are -inf.
double log_sum_exp(std::span<const double> values);

}  // namespace penn
