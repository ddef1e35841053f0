#include "penn/noise/compound_poisson.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/noise/noise_values.h"

namespace penn {
namespace {

std::vector<float> jumps(double rate, double h, int count = 32768) {  // about a million values
  return noise_values(compound_poisson_noise(), {rate}, count, h);
}

// An increment is 0 where there was no jump, and only there.
TEST(compound_poisson_test, steps_without_a_jump_have_the_probability_exp_minus_mean) {
  for (const double mean : {0.0, 1e-3, 0.1, 0.7, 3.0}) {
    const std::vector<float> x = jumps(mean / 0.01, 0.01);
    const double n = static_cast<double>(x.size()), p = std::exp(-mean);
    double none = 0;
    for (const float v : x) none += v == 0;
    EXPECT_NEAR(none / n, p, 4.5 * std::sqrt(p * (1 - p) / n)) << mean;
  }
}

// Variance mu, excess kurtosis 3/mu. The variance of x^2 is 2 mu^2 + 3 mu, that of x^4 is E x^8 - (E x^4)^2 with
// E x^8 = 105 (mu^4 + 6 mu^3 + 7 mu^2 + mu).
TEST(compound_poisson_test, variance_and_kurtosis_are_those_of_a_poisson_number_of_normal_jumps) {
  for (const double mu : {0.02, 0.5, 4.0, 40.0, 400.0, 5000.0}) {
    const std::vector<float> x = jumps(mu / 0.1, 0.1);
    const double n = static_cast<double>(x.size());
    double m1 = 0, m2 = 0, m4 = 0;
    for (const double v : x) m1 += v, m2 += v * v, m4 += v * v * v * v;
    const double fourth = 3 * (mu * mu + mu), eighth = 105 * mu * (1 + mu * (7 + mu * (6 + mu)));
    EXPECT_NEAR(m1 / n, 0, 4.5 * std::sqrt(mu / n)) << mu;
    EXPECT_NEAR(m2 / n, mu, 4.5 * std::sqrt((2 * mu * mu + 3 * mu) / n)) << mu;
    EXPECT_NEAR(m4 / n, fourth, 4.5 * std::sqrt((eighth - fourth * fourth) / n)) << mu;
  }
}

// E exp(ikL) = exp(mu (exp(-k^2/2) - 1)), for one increment over h and for the sum of eight over h/8. A million values,
// 262,144 sums; 4.5 standard errors of at most 1/sqrt(2n).
TEST(compound_poisson_test, characteristic_function_and_sums_of_increments) {
  for (const double mu : {0.05, 1.0, 12.0}) {
    const std::vector<float> whole = jumps(mu / 0.2, 0.2), parts = jumps(mu / 0.2, 0.2 / 8, 65536);
    std::vector<float> sums(parts.size() / 8);
    for (size_t i = 0; i < sums.size(); ++i)
      for (size_t j = 0; j < 8; ++j) sums[i] += parts[(i / kLanes * 8 + j) * kLanes + i % kLanes];
    for (const auto& x : {whole, sums})
      for (const double k : {0.2, 0.7, 1.5, 4.0}) {
        const double n = static_cast<double>(x.size());
        double real = 0, imaginary = 0;
        for (const float v : x) real += std::cos(k * v), imaginary += std::sin(k * v);
        EXPECT_NEAR(real / n, std::exp(mu * std::expm1(-k * k / 2)), 4.5 / std::sqrt(2 * n)) << mu << " " << k;
        EXPECT_NEAR(imaginary / n, 0, 4.5 / std::sqrt(2 * n)) << mu << " " << k;
      }
  }
}

// A number of jumps may differ where a word is within rounding (2^-32) of a probability: none of these 160,000 is. The
// normal number has the error 3e-6, or 2^-24 / r where the radius r = sqrt(-2 ln u) of Box-Muller is small.
TEST(compound_poisson_test, driver_equals_its_reference) {
  for (const double mu : {1e-3, 0.3, 5.0, 80.0, 2000.0}) {
    const std::vector<double> shapes = {mu / 0.05};
    const double size = std::sqrt(mu + 5 * std::sqrt(mu) + 1);  // sqrt of the largest numbers of jumps
    const std::vector<float> fast = noise_values(compound_poisson_noise(), shapes, 1000, 0.05, 9);
    for (int lane = 0; lane < kLanes; ++lane) {
      const RandomKey key{kTestSeed, 9u + static_cast<uint64_t>(lane), 0};
      const std::vector<double> slow = compound_poisson_noise().reference(key, kTestStream, shapes.data(), 0.05, 1000);
      for (int i = 0; i < 1000; ++i) {
        const uint32_t word = key.words(kTestStream, static_cast<uint32_t>(i) / 2)[0];
        const double radius = std::sqrt(-2 * std::log((static_cast<double>(word >> 1) + 0.5) * 0x1p-31));
        ASSERT_NEAR(fast[i * kLanes + lane], slow[i], size * (3e-6 + 0x1p-24 / radius))
            << "mean " << mu << ", lane " << lane << ", step " << i;
      }
    }
  }
}

TEST(compound_poisson_test, lanes_with_many_and_with_few_jumps_do_not_disturb_each_other) {
  const auto mixed = started_driver(compound_poisson_noise(), 0, 0, 1,
                                    [](int lane) { return std::vector<double>{lane % 2 ? 300.0 : 0.1}; });
  const std::vector<float> few = noise_values(compound_poisson_noise(), {0.1}, 200);
  const float* x = mixed->values(0, 200);
  for (int i = 0; i < 200; ++i)
    for (int lane = 0; lane < kLanes; lane += 2) ASSERT_EQ(x[i * kLanes + lane], few[i * kLanes + lane]);
}

}  // namespace
}  // namespace penn
