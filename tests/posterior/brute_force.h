// Slow independent answers for the mixture tests: explicit formulas, quadrature on grids, random mixtures.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

#include "penn/posterior/gaussian_mixture.h"

namespace penn::brute_force {

inline DenseMatrix matrix(std::size_t n, const std::vector<double>& entries) {
  DenseMatrix result(n, n);
  result.data = entries;
  return result;
}

// One normal component in two dimensions, by the textbook formula with sd and correlation.
inline double normal_2d(double x, double y, double mx, double my, double sx, double sy, double rho) {
  const double a = (x - mx) / sx, b = (y - my) / sy, c = (1.0 - rho) * (1.0 + rho);
  return std::exp(-(a * a - 2.0 * rho * a * b + b * b) / (2.0 * c)) / (2.0 * std::numbers::pi * sx * sy * std::sqrt(c));
}

inline DenseMatrix covariance_2d(double sx, double sy, double rho) {
  return matrix(2, {sx * sx, rho * sx * sy, rho * sx * sy, sy * sy});
}

// Midpoint rule with n cells: for smooth integrands that vanish at the ends it converges faster than any power.
inline double integral(double lo, double hi, int n, const std::function<double(double)>& f) {
  const double h = (hi - lo) / n;
  double sum = 0.0;
  for (int i = 0; i < n; ++i) sum += f(lo + (i + 0.5) * h);
  return sum * h;
}

inline double integral_2d(double xlo, double xhi, double ylo, double yhi, int n,
                          const std::function<double(double, double)>& f) {
  return integral(xlo, xhi, n, [&](double x) { return integral(ylo, yhi, n, [&](double y) { return f(x, y); }); });
}

// The paper's map from unconstrained numbers to a mixture, in doubles: N logits, N M means, N M gammas with u_kk =
// softplus(gamma), N M(M-1)/2 strictly upper entries row by row.
inline GaussianMixture from_numbers(const std::vector<double>& y, std::size_t n, std::size_t m) {
  std::vector<double> log_weights(y.begin(), y.begin() + static_cast<std::ptrdiff_t>(n)), means(n * m),
      factors(n * m * m, 0.0);
  std::size_t at = n;
  for (double& v : means) v = y[at++];
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t k = 0; k < m; ++k, ++at)
      factors[(j * m + k) * m + k] = std::max(y[at], 0.0) + std::log1p(std::exp(-std::fabs(y[at])));
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t k = 0; k < m; ++k)
      for (std::size_t l = k + 1; l < m; ++l) factors[(j * m + k) * m + l] = y[at++];
  return GaussianMixture::from_factors(log_weights, means, factors);
}

// Random mixture: means of size spread, factors with diagonal softplus(N(0.5, 0.5)) and off-diagonals N(0, 0.7).
inline GaussianMixture random_mixture(std::size_t components, std::size_t dimension, std::uint64_t seed,
                                      double spread = 2.0) {
  DrawStream draws(seed);
  std::vector<double> y(components * (1 + 2 * dimension + dimension * (dimension - 1) / 2));
  std::size_t i = 0;
  for (; i < components; ++i) y[i] = draws.normal();
  for (; i < components * (1 + dimension); ++i) y[i] = spread * draws.normal();
  for (; i < components * (1 + 2 * dimension); ++i) y[i] = 0.5 + 0.5 * draws.normal();
  for (; i < y.size(); ++i) y[i] = 0.7 * draws.normal();
  return from_numbers(y, components, dimension);
}

// The three shapes every function must survive in two dimensions: overlapping, far apart (500 SDs) with a narrow
// component, and nearly singular (correlation 1 - 1e-6).
inline GaussianMixture overlapping_2d() {
  return GaussianMixture::from_covariances(
      {0.5, 0.3, 0.2}, {{0.0, 0.0}, {1.5, 1.0}, {-1.0, 2.0}},
      {covariance_2d(1.0, 0.7, 0.5), covariance_2d(0.5, 0.5, -0.8), covariance_2d(0.8, 0.3, 0.0)});
}
inline GaussianMixture separated_2d() {
  return GaussianMixture::from_covariances({0.7, 0.3}, {{-250.0, 0.0}, {250.0, 1.0}},
                                           {covariance_2d(1.0, 1.0, 0.6), covariance_2d(0.01, 2.0, -0.3)});
}
inline GaussianMixture nearly_singular_2d() {
  return GaussianMixture::from_covariances({0.6, 0.4}, {{0.0, 0.0}, {0.5, -0.5}},
                                           {covariance_2d(1.0, 2.0, 1.0 - 1e-6), covariance_2d(1.0, 1.0, -1.0 + 1e-6)});
}
inline GaussianMixture single_2d() {
  return GaussianMixture::from_covariances({1.0}, {{0.3, -0.2}}, {covariance_2d(0.5, 1.5, -0.7)});
}

}  // namespace penn::brute_force
