// Gaussian and symmetric stable noise against theory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "penn/noise/gaussian.h"
#include "penn/noise/stable.h"
#include "tests/noise/noise_values.h"

namespace penn {
namespace {

std::vector<float> gaussian(int count) {
  return noise_values(gaussian_noise(), {}, count);
}
std::vector<float> stable(int count, double alpha) {
  return noise_values(stable_noise(), {alpha}, count);
}

TEST(white_test, gaussian_equals_its_reference) {
  const std::vector<float> fast = noise_values(gaussian_noise(), {}, 501, 1, 100, 3);
  for (int lane = 0; lane < kLanes; ++lane)
    for (int i = 0; i < 501; ++i)
      ASSERT_NEAR(fast[i * kLanes + lane], gaussian_reference({kTestSeed, 100u + lane, 0}, kTestStream, 3 + i), 3e-6);
}

TEST(white_test, stable_equals_its_reference) {
  for (const double alpha : {0.5, 0.9, 1.0, 1.001, 1.2, 1.5, 1.9, 1.999, 2.0}) {
    const std::vector<float> fast = noise_values(stable_noise(), {alpha}, 402, 1, 100);
    for (int lane = 0; lane < kLanes; ++lane) {
      const RandomKey key{kTestSeed, 100u + static_cast<uint64_t>(lane), 0};
      const std::vector<double> slow = stable_noise().reference(key, kTestStream, &alpha, 1, 402);
      for (int i = 0; i < 402; ++i) {
        // Two roundings to float32 are amplified: W = -ln u near u = 1 has the relative error 2^-24 / W, and sin(alpha
        // V) near 0 the absolute error 2e-7.
        const Quad words = key.words(kTestStream, static_cast<uint32_t>(i) / 2);
        const int pair = i % 2 * 2;
        const double W = -std::log((static_cast<double>(words[pair + 1] >> 1) + 0.5) * 0x1p-31);
        const double V = std::numbers::pi * (0.5 - (static_cast<double>(words[pair] & 0x7fffffffu) + 0.5) * 0x1p-32);
        const double relative = 1e-5 + std::abs(1 / alpha - 1) * 0x1p-24 / W + 2e-7 / std::sin(alpha * V);
        ASSERT_NEAR(fast[i * kLanes + lane], slow[i], 2e-6 + relative * std::abs(slow[i])) << "alpha " << alpha;
      }
    }
  }
}

// Moments and Kolmogorov-Smirnov distance of two million draws; the 0.1 % point of the distance is 1.95 / sqrt(n)
// = 1.4e-3.
TEST(white_test, gaussian_is_normal) {
  std::vector<float> x = gaussian(65536);
  const double n = static_cast<double>(x.size());
  double m1 = 0, m2 = 0, m4 = 0;
  for (const double v : x) m1 += v, m2 += v * v, m4 += v * v * v * v;
  EXPECT_NEAR(m1 / n, 0, 5 / std::sqrt(n));
  EXPECT_NEAR(m2 / n, 1, 5 * std::sqrt(2 / n));
  EXPECT_NEAR(m4 / n, 3, 5 * std::sqrt(96 / n));
  std::sort(x.begin(), x.end());
  double distance = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double cdf = 0.5 * std::erfc(-x[i] / std::numbers::sqrt2);
    distance = std::max({distance, cdf - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - cdf});
  }
  EXPECT_LT(distance, 1.95 / std::sqrt(n));
}

TEST(white_test, successive_draws_and_neighbouring_lanes_are_uncorrelated) {
  const std::vector<float> x = gaussian(32768);
  double next = 0, beside = 0;
  const size_t n = x.size() - kLanes;
  for (size_t i = 0; i < n; ++i) next += x[i] * x[i + kLanes], beside += x[i] * x[i + 1];
  EXPECT_NEAR(next / n, 0, 5 / std::sqrt(static_cast<double>(n)));
  EXPECT_NEAR(beside / n, 0, 5 / std::sqrt(static_cast<double>(n)));
}

// The empirical characteristic function of a million draws; its standard error is at most 1/sqrt(2 n) = 7e-4.
TEST(white_test, stable_has_the_characteristic_function_exp_minus_k_to_the_alpha) {
  for (const double alpha : {1.2, 1.4, 1.6, 1.8, 1.95, 2.0}) {
    const std::vector<float> x = stable(32768, alpha);
    for (const double k : {0.1, 0.3, 0.7, 1.0, 1.5, 2.0}) {
      double real = 0, imaginary = 0;
      for (const float v : x) real += std::cos(k * v), imaginary += std::sin(k * v);
      const double n = static_cast<double>(x.size());
      EXPECT_NEAR(real / n, std::exp(-std::pow(k, alpha)), 4 / std::sqrt(2 * n)) << "alpha " << alpha << ", k " << k;
      EXPECT_NEAR(imaginary / n, 0, 4 / std::sqrt(2 * n)) << "alpha " << alpha << ", k " << k;
    }
  }
}

TEST(white_test, alpha_two_is_gaussian_with_variance_two) {
  const std::vector<float> x = stable(32768, 2.0);
  double m2 = 0, m4 = 0;
  for (const double v : x) m2 += v * v, m4 += v * v * v * v;
  const double n = static_cast<double>(x.size());
  EXPECT_NEAR(m2 / n, 2, 2 * 5 * std::sqrt(2 / n));
  EXPECT_NEAR(m4 / n, 12, 4 * 5 * std::sqrt(96 / n));
}

TEST(white_test, alpha_one_is_cauchy) {
  const std::vector<float> x = stable(32768, 1.0);
  double below = 0;  // P(X < 1) = 3/4
  for (const float v : x) below += v < 1;
  EXPECT_NEAR(below / static_cast<double>(x.size()), 0.75, 5 * std::sqrt(0.1875 / static_cast<double>(x.size())));
}

// The trap: a uniform that is exactly 0 once put the angle at the edge and made NaN of it.
TEST(white_test, fifty_million_stable_draws_are_all_finite) {
  const auto driver = started_driver(stable_noise(), 0, 0, 1,
                                     [](int lane) { return std::vector<double>{1.2 + 0.8 * lane / (kLanes - 1)}; });
  for (int block = 0; block < 382; ++block) {
    const float* out = driver->values(int64_t{block} * 4096, 4096);
    float check = 0;
    for (int i = 0; i < 4096 * kLanes; ++i) check += out[i] - out[i];
    ASSERT_EQ(check, 0);
  }
}

}  // namespace
}  // namespace penn
