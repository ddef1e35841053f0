#include "penn/noise/white.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "penn/noise/noise_reference.h"

namespace penn {
namespace {

constexpr uint32_t kStream = kNoiseStream + 1;

LaneKeys keys_from(uint64_t first_trajectory, uint64_t seed = 5) {
  LaneKeys keys;
  keys.seed = seed;
  for (int lane = 0; lane < kLanes; ++lane) keys.set(lane, {seed, first_trajectory + static_cast<uint64_t>(lane), 0});
  return keys;
}

std::vector<float> gaussian(uint64_t first_trajectory, uint64_t first, int count) {
  alignas(64) float scale[kLanes];
  std::fill(scale, scale + kLanes, 1.0f);
  std::vector<float> out(static_cast<size_t>(count) * kLanes);
  fill_gaussian(keys_from(first_trajectory), kStream, first, count, scale, out.data());
  return out;
}

std::vector<float> stable(uint64_t first_trajectory, uint64_t first, int count, double alpha) {
  StableLanes law;
  for (int lane = 0; lane < kLanes; ++lane) law.set(lane, alpha, 1);
  std::vector<float> out(static_cast<size_t>(count) * kLanes);
  fill_stable(keys_from(first_trajectory), kStream, first, count, law, out.data());
  return out;
}

TEST(white_test, gaussian_equals_its_reference) {
  const std::vector<float> fast = gaussian(100, 3, 501);
  for (int i = 0; i < 501; ++i)
    for (int lane = 0; lane < kLanes; ++lane)
      ASSERT_NEAR(fast[i * kLanes + lane], gaussian_reference({5, 100u + lane, 0}, kStream, 3 + i), 3e-6);
}

TEST(white_test, stable_equals_its_reference) {
  for (const double alpha : {0.5, 0.9, 1.0, 1.001, 1.2, 1.5, 1.9, 1.999, 2.0}) {
    const std::vector<float> fast = stable(100, 1, 401, alpha);
    for (int i = 0; i < 401; ++i)
      for (int lane = 0; lane < kLanes; ++lane) {
        const RandomKey key{5, 100u + static_cast<uint64_t>(lane), 0};
        const double expected = stable_reference(key, kStream, 1 + i, alpha);
        // Two quantisations to float32 are amplified: W = -ln u near u = 1 has the relative error 2^-24 / W, and
        // sin(alpha V) near 0 the absolute error 2e-7.
        const Quad words = key.words(kStream, static_cast<uint32_t>(1 + i) / 2);
        const int pair = (1 + i) % 2 * 2;
        const double W = -std::log((static_cast<double>(words[pair + 1] >> 1) + 0.5) * 0x1p-31);
        const double V = std::numbers::pi * (0.5 - (static_cast<double>(words[pair] & 0x7fffffffu) + 0.5) * 0x1p-32);
        const double relative = 1e-5 + std::abs(1 / alpha - 1) * 0x1p-24 / W + 2e-7 / std::sin(alpha * V);
        ASSERT_NEAR(fast[i * kLanes + lane], expected, 2e-6 + relative * std::abs(expected)) << "alpha " << alpha;
      }
  }
}

TEST(white_test, a_draw_does_not_depend_on_how_the_range_is_cut) {
  const std::vector<float> whole_g = gaussian(0, 0, 64), whole_s = stable(0, 0, 64, 1.6);
  for (const int first : {1, 2, 3, 5, 30}) {
    const std::vector<float> g = gaussian(0, first, 7), s = stable(0, first, 7, 1.6);
    EXPECT_TRUE(std::equal(g.begin(), g.end(), whole_g.begin() + first * kLanes));
    EXPECT_TRUE(std::equal(s.begin(), s.end(), whole_s.begin() + first * kLanes));
  }
}

// Moments and Kolmogorov-Smirnov distance of two million draws; the 0.1 % point of the distance is 1.95 / sqrt(n)
// = 1.4e-3.
TEST(white_test, gaussian_is_normal) {
  std::vector<float> x = gaussian(0, 0, 65536);
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
  const std::vector<float> x = gaussian(0, 0, 32768);
  double next = 0, beside = 0;
  const size_t n = x.size() - kLanes;
  for (size_t i = 0; i < n; ++i) next += x[i] * x[i + kLanes], beside += x[i] * x[i + 1];
  EXPECT_NEAR(next / n, 0, 5 / std::sqrt(static_cast<double>(n)));
  EXPECT_NEAR(beside / n, 0, 5 / std::sqrt(static_cast<double>(n)));
}

// The empirical characteristic function of a million draws; its standard error is at most 1/sqrt(2 n) = 7e-4.
TEST(white_test, stable_has_the_characteristic_function_exp_minus_k_to_the_alpha) {
  for (const double alpha : {1.2, 1.4, 1.6, 1.8, 1.95, 2.0}) {
    const std::vector<float> x = stable(0, 0, 32768, alpha);
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
  const std::vector<float> x = stable(0, 0, 32768, 2.0);
  double m2 = 0, m4 = 0;
  for (const double v : x) m2 += v * v, m4 += v * v * v * v;
  const double n = static_cast<double>(x.size());
  EXPECT_NEAR(m2 / n, 2, 2 * 5 * std::sqrt(2 / n));
  EXPECT_NEAR(m4 / n, 12, 4 * 5 * std::sqrt(96 / n));
}

TEST(white_test, alpha_one_is_cauchy) {
  const std::vector<float> x = stable(0, 0, 32768, 1.0);
  double below = 0;  // P(X < 1) = 3/4
  for (const float v : x) below += v < 1;
  EXPECT_NEAR(below / static_cast<double>(x.size()), 0.75, 5 * std::sqrt(0.1875 / static_cast<double>(x.size())));
}

// The trap: a uniform that is exactly 0 once put the angle at the edge and made NaN of it.
TEST(white_test, fifty_million_stable_draws_are_all_finite) {
  StableLanes law;
  for (int lane = 0; lane < kLanes; ++lane) law.set(lane, 1.2 + 0.8 * lane / (kLanes - 1), 1);
  std::vector<float> out(4096 * kLanes);
  for (int block = 0; block < 382; ++block) {
    fill_stable(keys_from(0), kStream, static_cast<uint64_t>(block) * 4096, 4096, law, out.data());
    float check = 0;
    for (const float v : out) check += v - v;
    ASSERT_EQ(check, 0);
  }
}

}  // namespace
}  // namespace penn
