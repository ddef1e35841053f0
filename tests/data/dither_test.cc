#include "penn/data/dither.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace penn {
namespace {

// An Ornstein-Uhlenbeck path with increments of SD 0.1, offset 5.
std::vector<float> path(int n) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  std::vector<float> z;
  double x = 0;
  for (int i = 0; i < n; ++i) {
    x = 0.99 * x + 0.1 * normal(random);
    z.push_back(static_cast<float>(5 + x));
  }
  return z;
}
std::vector<float> rounded(std::vector<float> z, double step) {
  for (float& v : z) v = static_cast<float>(std::round(v / step) * step);
  return z;
}
double mean_log_increment(const std::vector<float>& z) {
  double sum = 0;
  for (size_t i = 1; i < z.size(); ++i) sum += std::log(std::max(std::abs(static_cast<double>(z[i]) - z[i - 1]), 1e-7));
  return sum / static_cast<double>(z.size() - 1);
}

TEST(dither_test, rounded_values_are_recognised_and_their_step_found) {
  const std::vector<float> z = path(2000);
  EXPECT_EQ(find_quantisation(z.data(), 2000, 1).step, 0);
  for (const double step : {0.001, 0.01, 0.05, 0.25}) {
    const std::vector<float> r = rounded(z, step);
    EXPECT_NEAR(find_quantisation(r.data(), 2000, 1).step, step, 1e-3 * step) << step;
  }
}

TEST(dither_test, the_distribution_of_increments_comes_back) {
  const std::vector<float> z = path(20000);
  const double truth = mean_log_increment(z);
  const std::vector<float> coarse = rounded(z, 0.02);
  EXPECT_LT(mean_log_increment(coarse), truth - 0.5);  // repetitions count as 1e-7
  std::vector<Quantisation> found;
  const std::vector<float> back = dither(coarse, 20000, 1, found);
  EXPECT_NEAR(mean_log_increment(back), truth, 0.02);  // 1.11 / sqrt(20000) = 0.008 is the statistical error of one
  EXPECT_EQ(dither(coarse, 20000, 1, found), back);
  for (size_t i = 0; i < back.size(); ++i) EXPECT_LE(std::abs(back[i] - coarse[i]), 0.5 * 0.02 + 1e-5);
}

TEST(dither_test, what_is_not_rounded_stays_as_it_is) {
  std::vector<float> z = path(500);
  std::vector<Quantisation> found;
  EXPECT_EQ(dither(z, 500, 1, found), z);
  z[100] = z[99];  // one repetition, not quantised: a stuck sample
  EXPECT_EQ(dither(z, 500, 1, found), z);
  const std::vector<float> constant(100, 0.25f);
  EXPECT_EQ(dither(constant, 100, 1, found), constant);
}

TEST(dither_test, a_switch_gets_no_noise_of_ours) {
  std::vector<float> z(1000, 0.0f), three = z;
  std::fill(z.begin() + 500, z.end(), 1.0f);
  for (size_t i = 0; i < 1000; ++i) three[i] = static_cast<float>(i / 100 % 3);
  std::vector<Quantisation> found;
  EXPECT_EQ(dither(z, 1000, 1, found), z);
  EXPECT_EQ(found[0].values, 2);
  EXPECT_EQ(dither(three, 1000, 1, found), three);
}

TEST(dither_test, channels_are_treated_each_by_itself) {
  const std::vector<float> a = path(400), b = rounded(a, 0.1);
  std::vector<float> both;
  for (size_t i = 0; i < a.size(); ++i) both.push_back(a[i]), both.push_back(b[i]);
  std::vector<Quantisation> found;
  const std::vector<float> out = dither(both, 400, 2, found);
  int same = 0, changed = 0;
  for (size_t i = 0; i < a.size(); ++i) same += out[2 * i] == a[i], changed += out[2 * i + 1] != b[i];
  EXPECT_EQ(same, 400);
  EXPECT_GT(changed, 390);
}

}  // namespace
}  // namespace penn
