#include "penn/noise/asymmetric_stable.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "penn/noise/stable.h"
#include "tests/noise/noise_values.h"

namespace penn {
namespace {

constexpr double kPi = std::numbers::pi;
const double kAlphas[] = {0.6, 0.9, 0.999, 1.0, 1.001, 1.1, 1.5, 1.9, 2.0};
const double kBetas[] = {-1, -0.5, 0, 0.7, 1};

// psi of asymmetric_stable.h, k > 0.
std::complex<double> exponent(double k, double alpha, double beta) {
  const double skew = alpha == 1 ? 2 / kPi * std::log(k) : std::tan(kPi * alpha / 2) * (std::pow(k, 1 - alpha) - 1);
  return -std::pow(k, alpha) * std::complex<double>(1, beta * skew);
}

// n = 524,288 draws; the standard error of either part is at most 1/sqrt(2n) = 9.8e-4, and 4.5 of them are allowed: of
// 900 comparisons at all, 0.006 should fail by chance.
void expect_exponent(const std::vector<float>& x, double h, double alpha, double beta) {
  const double n = static_cast<double>(x.size());
  for (const double k : {0.1, 0.3, 0.8, 1.5, 4.0}) {
    // The same size of psi for every h.
    const double wave = k * std::pow(h, -1 / alpha);
    double real = 0, imaginary = 0;
    for (const float v : x) real += std::cos(wave * v), imaginary += std::sin(wave * v);
    const std::complex<double> expected = std::exp(h * exponent(wave, alpha, beta));
    EXPECT_NEAR(real / n, expected.real(), 4.5 / std::sqrt(2 * n)) << alpha << " " << beta << " " << h << " " << k;
    EXPECT_NEAR(imaginary / n, expected.imag(), 4.5 / std::sqrt(2 * n)) << alpha << " " << beta << " " << h << " " << k;
  }
}

TEST(asymmetric_stable_test, characteristic_function_is_nolans_s0) {
  for (const double alpha : kAlphas)
    for (const double beta : kBetas)
      expect_exponent(noise_values(asymmetric_stable_noise(), {alpha, beta}, 16384), 1, alpha, beta);
}

TEST(asymmetric_stable_test, increments_over_a_step_have_h_times_the_exponent) {
  for (const double h : {0.01, 3.0})
    for (const double alpha : {0.7, 1.0, 1.0001, 1.6})
      for (const double beta : {-1.0, 0.6})
        expect_exponent(noise_values(asymmetric_stable_noise(), {alpha, beta}, 16384, h), h, alpha, beta);
}

// Two increments over h/2 are one over h: the sum of eight over h/8 is compared by its characteristic function.
TEST(asymmetric_stable_test, increments_add_up) {
  constexpr double kStep = 0.2;
  for (const double alpha : {0.7, 0.99, 1.0, 1.01, 1.6})
    for (const double beta : {-0.5, 1.0}) {
      const std::vector<float> parts = noise_values(asymmetric_stable_noise(), {alpha, beta}, 8 * 16384, kStep / 8);
      std::vector<float> sums(parts.size() / 8);
      for (size_t i = 0; i < sums.size(); ++i)
        for (size_t j = 0; j < 8; ++j) sums[i] += parts[(i / kLanes * 8 + j) * kLanes + i % kLanes];
      expect_exponent(sums, kStep, alpha, beta);
    }
}

// float32 against double precision. W = -ln u near u = 1 has the relative error 2^-24 / W, which z^(e/alpha) passes on.
TEST(asymmetric_stable_test, driver_equals_its_reference) {
  constexpr int kSteps = 400;
  for (const double dt : {1.0, 0.01})
    for (const double alpha : {0.5, 0.9, 0.9999, 1.0, 1.0 + 1e-7, 1.3, 1.999, 2.0})
      for (const double beta : kBetas) {
        const std::vector<double> shapes = {alpha, beta};
        const std::vector<float> fast = noise_values(asymmetric_stable_noise(), shapes, kSteps, dt, 9);
        // Scale and shift of an increment, added in float32.
        const double scale = std::pow(dt, 1 / alpha),
                     shift = alpha == 1 ? 2 / kPi * dt * std::log(dt) : std::tan(kPi * alpha / 2) * (scale - dt),
                     unit = scale + std::abs(beta * shift);
        for (int lane = 0; lane < kLanes; ++lane) {
          const RandomKey key{kTestSeed, 9u + static_cast<uint64_t>(lane), 0};
          const std::vector<double> slow =
              asymmetric_stable_noise().reference(key, kTestStream, shapes.data(), dt, kSteps);
          for (int i = 0; i < kSteps; ++i) {
            const uint32_t word = key.words(kTestStream, static_cast<uint32_t>(i) / 2)[i % 2 * 2 + 1];
            const double W = -std::log((static_cast<double>(word >> 1) + 0.5) * 0x1p-31);
            const double relative = 1e-5 + (std::abs(1 - alpha) + std::abs(beta)) / alpha * 0x1p-23 / W;
            ASSERT_NEAR(fast[i * kLanes + lane], slow[i], relative * (unit + std::abs(slow[i])))
                << "alpha " << alpha << ", beta " << beta << ", dt " << dt << ", W " << W;
          }
        }
      }
}

TEST(asymmetric_stable_test, beta_zero_is_the_symmetric_noise_draw_by_draw) {
  for (const double alpha : {0.7, 1.0, 1.4, 2.0}) {
    const std::vector<float> a = noise_values(asymmetric_stable_noise(), {alpha, 0.0}, 500, 0.1);
    const std::vector<float> b = noise_values(stable_noise(), {alpha}, 500, 0.1);
    for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-3 * std::abs(b[i]) + 1e-6) << "alpha " << alpha;
  }
}

TEST(asymmetric_stable_test, draws_are_continuous_across_alpha_one) {
  for (const double beta : {-1.0, 0.3}) {
    const std::vector<float> at = noise_values(asymmetric_stable_noise(), {1.0, beta}, 500, 0.1);
    for (const double alpha : {1 - 1e-7, 1 + 1e-7}) {
      const std::vector<float> near = noise_values(asymmetric_stable_noise(), {alpha, beta}, 500, 0.1);
      for (size_t i = 0; i < at.size(); ++i) ASSERT_NEAR(near[i], at[i], 2e-5 * (0.1 + std::abs(at[i])));
    }
  }
}

// beta = 1 and alpha < 1: L over h is bounded from below by -h tan(pi alpha/2).
TEST(asymmetric_stable_test, a_totally_skewed_noise_below_one_has_no_left_tail) {
  for (const double alpha : {0.5, 0.8}) {
    const std::vector<float> x = noise_values(asymmetric_stable_noise(), {alpha, 1.0}, 16384);
    const double bound = -std::tan(kPi * alpha / 2);
    EXPECT_GE(*std::min_element(x.begin(), x.end()), bound * (1 + 1e-6)) << alpha;
  }
}

// For alpha > 1 there is a mean, -h beta tan(pi alpha/2): at 1.9 it converges fast enough to be seen in 2 million
// draws.
TEST(asymmetric_stable_test, mean_above_one) {
  const std::vector<float> x = noise_values(asymmetric_stable_noise(), {1.9, 0.8}, 65536, 0.5);
  double sum = 0;
  for (const float v : x) sum += v;
  const double n = static_cast<double>(x.size());
  // The mean of n draws is stable with scale (n h)^(1/alpha) / n.
  EXPECT_NEAR(sum / n, -0.5 * 0.8 * std::tan(kPi * 1.9 / 2), 8 * std::pow(n * 0.5, 1 / 1.9) / n);
}

TEST(asymmetric_stable_test, ten_million_draws_are_all_finite) {
  const auto driver = started_driver(asymmetric_stable_noise(), 0, 0, 1, [](int lane) {
    return std::vector<double>{0.5 + 1.5 * lane / (kLanes - 1), lane % 3 - 1.0};
  });
  for (int block = 0; block < 80; ++block) {
    const float* out = driver->values(int64_t{block} * 4096, 4096);
    float check = 0;
    for (int i = 0; i < 4096 * kLanes; ++i) check += out[i] - out[i];
    ASSERT_EQ(check, 0);
  }
}

}  // namespace
}  // namespace penn
