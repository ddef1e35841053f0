// The predictive check: its numbers against known series, and its judgement on trajectories the system can and cannot
// make.
#include "penn/answer/predictive.h"

#include <gtest/gtest.h>

#include <cmath>

#include "penn/model/parameter_box.h"
#include "penn/simulate/simulator.h"
#include "penn/system/load_system.h"
#include "posterior/brute_force.h"

namespace penn {
namespace {

using namespace brute_force;

TEST(predictive_test, numbers_of_a_ramp_are_known) {
  std::vector<float> z(1001);
  for (size_t i = 0; i < z.size(); ++i) z[i] = static_cast<float>(i);
  const PathNumbers p = path_numbers(z.data(), 1001, 1);
  EXPECT_EQ(p.level, 500);
  EXPECT_EQ(p.spread, 900);
  EXPECT_EQ(p.tails, 1);
  // Sum over pairs at lag k of (i - m)(i + k - m), over the sum of squares; lag 1 of 1001 points.
  EXPECT_NEAR(p.autocorrelation_short, 1 - 3.0 / 1001, 1e-4);
}

TEST(predictive_test, numbers_of_white_noise_are_those_of_the_normal_distribution) {
  DrawStream draws(2);
  std::vector<float> z(2 * 20000);
  for (float& v : z) v = static_cast<float>(draws.normal());
  const PathNumbers p = path_numbers(z.data() + 1, 20000, 2);
  EXPECT_NEAR(p.level, 0, 0.045);                  // standard error 0.009
  EXPECT_NEAR(p.spread, 2 * 1.6449, 0.1);          // 0.02
  EXPECT_NEAR(p.tails, 2.5758 / 0.67449, 0.2);     // increments are normal too
  EXPECT_NEAR(p.autocorrelation_short, 0, 0.035);  // 0.007
  EXPECT_NEAR(p.autocorrelation_long, 0, 0.035);
}

TEST(predictive_test, a_line_that_mostly_stands_still_has_infinite_tails_and_no_nan) {
  const std::vector<float> z(100, 3.0f);
  const PathNumbers p = path_numbers(z.data(), 100, 1);
  EXPECT_TRUE(std::isinf(p.tails));
  EXPECT_EQ(p.spread, 0);
  EXPECT_EQ(p.autocorrelation_short, 1);
}

// Soup at lg tau = 0, D = 0.5, and a posterior that is narrow around these values.
struct Soup {
  SystemChoice choice = load_system("soup");
  Posterior posterior{GaussianMixture::from_covariances({1}, {{0, 0.5}}, {covariance_2d(0.03, 0.03, 0)}),
                      Coordinate::kLinear, parameter_box(choice.system)};
  std::vector<float> simulate(uint64_t seed, int64_t n = 500) const {
    std::vector<float> theta(2), z(static_cast<size_t>(n));
    Simulator(choice.system, 0, {.seed = seed, .threads = 1, .length = n, .fixed = {{"lg_tau", 0}, {"D", 0.5}}})
        .run(0, 1, theta.data(), z.data());
    return z;
  }
};

TEST(predictive_test, trajectories_of_the_system_fall_anywhere_and_rarely_outside) {
  const Soup soup;
  int warnings = 0;
  double mean = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const PredictiveCheck check = check_predictive(soup.choice.system, 0, soup.posterior, soup.simulate(1000 + seed),
                                                   0.1, {.draws = 100, .seed = seed, .threads = 2});
    EXPECT_EQ(check.simulated, 100);
    warnings += static_cast<int>(check.warnings.size());
    for (const auto& s : check.statistics) mean += s.percentile / 100;
  }
  EXPECT_NEAR(mean, 50, 12);  // 100 percentiles; within a trajectory they depend on each other: standard error about 4
  EXPECT_LE(warnings, 8);     // 2 of 100 expected
}

TEST(predictive_test, what_the_system_cannot_make_is_flagged) {
  const Soup soup;
  const auto flagged = [&](std::vector<float> z, const std::string& what, double sampling = 0.1) {
    const PredictiveCheck check =
        check_predictive(soup.choice.system, 0, soup.posterior, z, sampling, {.draws = 100, .threads = 2});
    for (const std::string& w : check.warnings)
      if (w.find(what) != std::string::npos) return true;
    return false;
  };
  std::vector<float> z = soup.simulate(5);
  EXPECT_FALSE(flagged(z, ""));
  std::vector<float> wide = z, spiky = z, white = z;
  for (float& v : wide) v *= 5;
  EXPECT_TRUE(flagged(wide, "spread of x"));
  for (size_t i = 0; i < spiky.size(); i += 25) spiky[i] += 20;
  EXPECT_TRUE(flagged(spiky, "increment tails of x"));
  DrawStream draws(1);
  for (float& v : white) v = static_cast<float>(std::sqrt(0.5) * draws.normal());
  EXPECT_TRUE(flagged(white, "autocorrelation at lag 1 of x"));
  EXPECT_TRUE(flagged(z, "autocorrelation at lag 1", 1.0)) << "the sampling of the observation is used";
}

// Stationary distribution N(0, D): the quantiles of the fan, averaged over its 300 points (correlated over tau = 1 of
// 50 time units: some 25 independent ones of 400 draws; the standard error of the 5 % point is 0.7 * 0.11 / sqrt(25) =
// 0.015, and D has an SD of 0.03).
TEST(predictive_test, the_fan_holds_the_quantiles_of_the_stationary_distribution) {
  const Soup soup;
  const PredictiveFan fan =
      check_predictive(soup.choice.system, 0, soup.posterior, soup.simulate(5), 0.1, {.draws = 400, .threads = 2}).fan;
  ASSERT_EQ(fan.samples.size(), 300u);
  EXPECT_EQ(fan.samples.front(), 0);
  EXPECT_EQ(fan.samples.back(), 499);
  const double z[] = {-1.6449, -0.6745, 0, 0.6745, 1.6449};
  for (size_t q = 0; q < 5; ++q) {
    double mean = 0;
    for (const double v : fan.quantiles[q][0]) mean += v / 300;
    EXPECT_NEAR(mean, z[q] * std::sqrt(0.5), 0.06) << kFanPercent[q];
  }
}

TEST(predictive_test, a_short_trajectory_has_a_fan_at_every_sample) {
  const Soup soup;
  const PredictiveFan fan =
      check_predictive(soup.choice.system, 0, soup.posterior, soup.simulate(5, 7), 0.1, {.draws = 20, .threads = 2})
          .fan;
  EXPECT_EQ(fan.samples, (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6}));
}

TEST(predictive_test, too_few_draws_raise_no_alarm) {
  const Soup soup;
  std::vector<float> wide = soup.simulate(5);
  for (float& v : wide) v *= 5;
  const PredictiveCheck check =
      check_predictive(soup.choice.system, 0, soup.posterior, wide, 0.1, {.draws = 20, .threads = 2});
  EXPECT_NEAR(check.statistics[1].percentile, 100 * 20.5 / 21, 1e-9);
  EXPECT_TRUE(check.warnings.empty());
}

TEST(predictive_test, the_same_seed_gives_the_same_check_on_any_number_of_threads) {
  const Soup soup;
  const std::vector<float> z = soup.simulate(5);
  const auto one =
      check_predictive(soup.choice.system, 0, soup.posterior, z, 0.1, {.draws = 20, .seed = 4, .threads = 1});
  const auto two =
      check_predictive(soup.choice.system, 0, soup.posterior, z, 0.1, {.draws = 20, .seed = 4, .threads = 2});
  ASSERT_EQ(one.statistics.size(), 5u);
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(one.statistics[i].median, two.statistics[i].median);
}

}  // namespace
}  // namespace penn
