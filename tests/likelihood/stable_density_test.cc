// The stable density against its closed forms, against the defining integral by plain quadrature, and against its own
// total mass.
#include "penn/likelihood/stable_density.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "penn/base/random.h"

namespace penn {
namespace {

constexpr double kPi = std::numbers::pi;

const double kPlaces[] = {0, 1e-4, 0.003, 0.02, 0.05, 0.1,  0.3, 0.7, 1,  1.5, 2,  3,  4,
                          5, 6,    7,     8,    9.5,  10.5, 13,  20,  35, 49,  51, 80, 300};

TEST(stable_density_test, alpha_two_is_gaussian_with_variance_two) {
  const StableDensity density(2);
  for (const double x : {0.0, 0.5, 3.0, 20.0, 60.0, 1e3})
    EXPECT_NEAR(density.log_density(x), -x * x / 4 - 0.5 * std::log(4 * kPi), 1e-12 * (1 + x * x));
  // The limit is reached without a jump.
  const StableDensity nearly(2 - 1e-12);
  for (const double x : {0.0, 0.5, 3.0, 5.0}) EXPECT_NEAR(nearly.log_density(x), density.log_density(x), 1e-7);
}

TEST(stable_density_test, alpha_one_is_cauchy) {
  const StableDensity density(1);
  for (const double x : kPlaces) EXPECT_NEAR(density.log_density(x), -std::log(kPi * (1 + x * x)), 1e-7) << x;
  for (const double x : {1e4, 1e9, 1e30})
    EXPECT_NEAR(density.log_density(x), -std::log(kPi) - 2 * std::log(x), 1e-7) << x;
}

// int cos(kx) exp(-k^alpha) dk / pi with k = q^4, which takes the root out of k^alpha at 0: Simpson's rule with up to
// half a million intervals, on the real axis. Quantisation is 1e-13 of the peak, so that the tails of alpha near 2 are
// left to the next test.
double direct(double x, double alpha) {
  const double end = std::pow(38.0, 0.25 / alpha);
  const int n = static_cast<int>(std::min(524288.0, 2 * std::round(8192 + 8 * x * std::pow(38.0, 1 / alpha))));
  const double h = end / n;
  double sum = 0;
  for (int i = 0; i <= n; ++i) {
    const double q = i * h, k = q * q * q * q, value = std::cos(k * x) * std::exp(-std::pow(k, alpha)) * 4 * q * q * q;
    sum += value * (i == 0 || i == n ? 1 : i % 2 ? 4 : 2);
  }
  return sum * h / 3 / kPi;
}

TEST(stable_density_test, agrees_with_the_defining_integral) {
  for (const double alpha : {0.5, 0.513, 0.62, 0.77, 0.95, 1.003, 1.21, 1.5, 1.74, 1.93, 1.99, 2.0}) {
    const StableDensity density(alpha);
    for (const double x : {0.0, 0.004, 0.03, 0.11, 0.4, 1.0, 2.2, 3.7, 5.1, 8.0, 14.0, 40.0, 70.0}) {
      const double expected = direct(x, alpha);
      if (expected < 1e-6) continue;  // relative accuracy of the yardstick: 1e-7
      EXPECT_NEAR(density.log_density(x), std::log(expected), 1e-6) << "alpha " << alpha << ", x " << x;
    }
  }
}

// Zolotarev's integral of a positive function, which has no cancellation however small the density is (alpha != 1):
//   f(x) = alpha x^(1/(alpha-1)) / (pi |alpha-1|) int_0^(pi/2) V exp(-x^(alpha/(alpha-1)) V) d theta,
//   V(theta) = (cos theta / sin(alpha theta))^(alpha/(alpha-1)) cos((alpha-1) theta) / cos theta.
double zolotarev(double x, double alpha) {
  const double p = alpha / (alpha - 1), log_x = std::log(x);
  double sum = 0;
  const double h = 1.0 / 2048;  // tanh-sinh
  for (double t = -4; t <= 4; t += h) {
    const double s = kPi / 2 * std::sinh(t),
                 small = 1 / (1 + std::exp(2 * std::abs(s)));  // fraction of the interval to the nearer end
    const double theta = kPi / 2 * (t < 0 ? small : 1 - small);
    const double cosine = t < 0 ? std::cos(theta) : std::sin(kPi / 2 * small);
    const double log_v = p * (std::log(cosine) - std::log(std::sin(alpha * theta))) +
                         std::log(std::cos((alpha - 1) * theta)) - std::log(cosine);
    const double value = std::exp(log_v - std::exp(p * log_x + log_v));
    if (std::isfinite(value)) sum += value * kPi / 2 * kPi / 2 * std::cosh(t) / (2 * std::pow(std::cosh(s), 2));
  }
  return alpha * std::exp(log_x / (alpha - 1)) / (kPi * std::abs(alpha - 1)) * sum * h;
}

TEST(stable_density_test, tails_agree_with_zolotarevs_integral) {
  for (const double alpha : {0.5, 0.6, 0.8, 1.2, 1.4, 1.6, 1.8, 1.95, 1.99, 1.999}) {
    const StableDensity density(alpha);
    for (const double x : kPlaces) {
      if (x < 0.02) continue;
      EXPECT_NEAR(density.log_density(x), std::log(zolotarev(x, alpha)), 1e-6) << "alpha " << alpha << ", x " << x;
    }
  }
}

TEST(stable_density_test, integrates_to_one) {
  for (const double alpha : {0.5, 0.7, 1.1, 1.6, 1.98}) {
    const StableDensity density(alpha);
    double mass = 0;
    const double h = 1e-3;  // of u, x = sinh(u): far out the integrand falls like exp(-alpha u)
    for (double u = h / 2; u < 25 / alpha; u += h)
      mass += 2 * std::exp(density.log_density(std::sinh(u))) * std::cosh(u) * h;
    EXPECT_NEAR(mass, 1, 1e-6) << alpha;
  }
}

}  // namespace
}  // namespace penn
