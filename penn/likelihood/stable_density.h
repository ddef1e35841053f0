// The density of a symmetric alpha-stable variable S with E exp(ikS) = exp(-|k|^alpha), the convention of penn/noise:
// alpha = 2 is N(0, 2), alpha = 1 is Cauchy. Interpolated: f(x; alpha) = f(x; 2) + (2 - alpha) h(x, alpha), where h is
// smooth in both, also where the power law of the tail takes over from the Gaussian; h is tabulated in asinh(20 x) and
// as Chebyshev series in alpha. Beyond x = 50, Bergstrom's series
//   f = (1/pi) sum_k Gamma(k alpha + 1)/k! sin(k pi (2 - alpha)/2) x^(-k alpha - 1).
// Max error of the log density: 1e-7 for alpha in [0.5, 2] and any x. The table is made at the first use, in about 0.3
// seconds.
#pragma once

#include <cstddef>
#include <vector>

namespace penn {

inline constexpr double kLeastStableAlpha = 0.5;

class StableDensity {
 public:
  explicit StableDensity(double alpha);  // in [0.5, 2]; costs some microseconds, each density some 50 ns
  double log_density(double x) const;

 private:
  static constexpr int kTailTerms = 14;
  double alpha_;
  std::vector<double> h_;    // on the grid of asinh(20 x)
  double tail_[kTailTerms];  // coefficients of x^(-alpha)^k / x, k = 1..
};

// The same from the integral itself, k rotated into the complex plane so that it decays: for the table and for tests.
// Absolute error 1e-14.
double stable_density_by_quadrature(double x, double alpha);

}  // namespace penn
