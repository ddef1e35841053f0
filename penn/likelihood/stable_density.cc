#include "penn/likelihood/stable_density.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <complex>
#include <numbers>

namespace penn {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kCore = 0.05, kStep = 0.015, kTailStart = 50;  // x = kCore sinh(j kStep), j = 0..kGrid - 1
constexpr int kGrid = 516;           // up to x = 56: some points beyond the start of the tail
constexpr int kDegrees = 32;         // Chebyshev coefficients in alpha
constexpr double kSeriesStart = 10;  // from here Bergstrom's series is exact to 1e-10

double gaussian(double x) {
  return std::exp(-0.25 * x * x) / (2 * std::sqrt(kPi));
}

// Coefficient k of Bergstrom's series. The sine is written with 2 - alpha, where it has no cancellation.
double tail_coefficient(int k, double alpha) {
  return std::exp(std::lgamma(k * alpha + 1) - std::lgamma(k + 1.0)) * std::sin(0.5 * k * kPi * (2 - alpha)) / kPi;
}

// Summed to its smallest term: for alpha > 1 it is asymptotic.
double series(double x, double alpha) {
  double sum = 0, last = 1e300;
  for (int k = 1; k < 60; ++k) {
    const double bound = std::exp(std::lgamma(k * alpha + 1) - std::lgamma(k + 1.0) - (k * alpha + 1) * std::log(x));
    if (bound > last || bound < 1e-18 * sum) break;
    last = bound;
    sum += tail_coefficient(k, alpha) * std::pow(x, -k * alpha - 1);
  }
  return sum;
}

// (kDegrees, kGrid): Chebyshev coefficients in alpha over [0.5, 2] of h at the points of the grid.
std::vector<double> make_table() {
  std::vector<double> nodes(kDegrees), values(static_cast<size_t>(kDegrees) * kGrid), table(values.size(), 0.0);
  for (int i = 0; i < kDegrees; ++i) {
    const double alpha = nodes[static_cast<size_t>(i)] = 1.25 + 0.75 * std::cos(kPi * (i + 0.5) / kDegrees);
    for (int j = 0; j < kGrid; ++j) {
      const double x = kCore * std::sinh(j * kStep);
      // The series leaves out what is exponentially small, which is what f(x; 2) adds: no subtraction there.
      values[static_cast<size_t>(i * kGrid + j)] =
          (x < kSeriesStart ? stable_density_by_quadrature(x, alpha) - gaussian(x) : series(x, alpha)) / (2 - alpha);
    }
  }
  for (int k = 0; k < kDegrees; ++k)
    for (int i = 0; i < kDegrees; ++i) {
      const double weight = (k == 0 ? 1.0 : 2.0) / kDegrees * std::cos(kPi * k * (i + 0.5) / kDegrees);
      for (int j = 0; j < kGrid; ++j)
        table[static_cast<size_t>(k * kGrid + j)] += weight * values[static_cast<size_t>(i * kGrid + j)];
    }
  return table;
}

}  // namespace

// k = r exp(i phi) with alpha phi = pi/4: exp(i k x - k^alpha) decays like exp(-r x sin phi - r^alpha / sqrt 2). The
// trapezoidal rule in t, r = exp(t - exp(-t)), converges double exponentially.
double stable_density_by_quadrature(double x, double alpha) {
  x = std::abs(x);
  const double phi = kPi / (4 * alpha), h = 1.0 / 48;
  const std::complex<double> direction = std::polar(1.0, phi), root = std::polar(1.0, kPi / 4);
  const std::complex<double> ikx = std::complex<double>(0, x) * direction;
  double sum = 0;
  for (int i = static_cast<int>(-4.2 / h);; ++i) {
    const double t = i * h, inner = std::exp(-t), r = std::exp(t - inner), power = std::exp(alpha * (t - inner));
    const std::complex<double> exponent = ikx * r - power * root;
    if (exponent.real() < -45) break;
    sum += (std::exp(exponent) * direction).real() * r * (1 + inner);
  }
  return sum * h / kPi;
}

StableDensity::StableDensity(double alpha) : alpha_(alpha), h_(kGrid) {
  assert(alpha >= kLeastStableAlpha && alpha <= 2);
  static const std::vector<double> table = make_table();
  const double u = (alpha - 1.25) / 0.75;
  double previous = 1, current = u;  // Chebyshev polynomials k - 1 and k
  for (int j = 0; j < kGrid; ++j) h_[static_cast<size_t>(j)] = table[static_cast<size_t>(j)];
  for (int k = 1; k < kDegrees; ++k) {
    const double* row = &table[static_cast<size_t>(k) * kGrid];
    for (int j = 0; j < kGrid; ++j) h_[static_cast<size_t>(j)] += current * row[j];
    const double next = 2 * u * current - previous;
    previous = current, current = next;
  }
  for (int k = 1; k <= kTailTerms; ++k) tail_[k - 1] = tail_coefficient(k, alpha);
}

double StableDensity::log_density(double x) const {
  x = std::abs(x);
  if (alpha_ == 2) return -0.25 * x * x - std::log(2 * std::sqrt(kPi));
  if (x > kTailStart) {
    const double log_x = std::log(x), y = std::exp(-alpha_ * log_x);
    double sum = tail_[kTailTerms - 1];
    for (int k = kTailTerms - 2; k >= 0; --k) sum = sum * y + tail_[k];
    return std::log(sum) - (1 + alpha_) * log_x;
  }
  // Lagrange's polynomial through six points of the grid; h is even, so points left of 0 are those right of it.
  const double s = std::asinh(x / kCore) / kStep;
  const int cell = std::min(static_cast<int>(s), kGrid - 4);
  const double p = s - cell;
  const double weights[6] = {
      -(p + 1) * p * (p - 1) * (p - 2) * (p - 3) / 120,      (p + 2) * p * (p - 1) * (p - 2) * (p - 3) / 24,
      -(p + 2) * (p + 1) * (p - 1) * (p - 2) * (p - 3) / 12, (p + 2) * (p + 1) * p * (p - 2) * (p - 3) / 12,
      -(p + 2) * (p + 1) * p * (p - 1) * (p - 3) / 24,       (p + 2) * (p + 1) * p * (p - 1) * (p - 2) / 120};
  double h = 0;
  for (int i = 0; i < 6; ++i) h += weights[i] * h_[static_cast<size_t>(std::abs(cell + i - 2))];
  return std::log(gaussian(x) + (2 - alpha_) * h);
}

}  // namespace penn
