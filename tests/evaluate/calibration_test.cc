// Calibration on posteriors that are known to be right or wrong: theta ~ N(0, S) seen through noise, so that the
// posterior is known exactly.
#include "penn/evaluate/calibration.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "penn/base/error.h"
#include "penn/evaluate/calibration_text.h"
#include "penn/evaluate/calibration_verdict.h"
#include "penn/posterior/normal.h"
#include "posterior/brute_force.h"

namespace penn {
namespace {

using namespace brute_force;

const Box kBox = {{-10, -10}, {10, 10}};

// How the stated posterior of the first parameter differs from the right one; lengths in posterior SDs.
struct Flaw {
  double width = 1, shift = 0, correlation = 0.6;
};

// Truth drawn from the right posterior (SDs 0.5 and 2, correlation 0.6) around a random centre: by definition
// calibrated.
CalibrationReport run(const Flaw& flaw, int n = 4000, uint64_t seed = 3, bool keep = false) {
  DrawStream draws(seed);
  Calibration calibration({"a", "b"}, kBox, keep);
  for (int i = 0; i < n; ++i) {
    const double centre[2] = {draws.normal(), 2 * draws.normal()};
    const auto right = GaussianMixture::from_covariances({1}, {{centre[0], centre[1]}}, {covariance_2d(0.5, 2, 0.6)});
    const auto stated = GaussianMixture::from_covariances({1}, {{centre[0] + 0.5 * flaw.shift, centre[1]}},
                                                          {covariance_2d(0.5 * flaw.width, 2, flaw.correlation)});
    calibration.add({stated, Coordinate::kLinear, kBox}, right.sample(1, draws), draws.uniform());
  }
  return calibration.report();
}

using Findings = std::vector<std::string>;

TEST(calibration_test, exact_posterior_passes_for_twenty_seeds) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const CalibrationReport report = run({}, 2000, seed);
    EXPECT_FALSE(report.failed) << report.verdict[1];
    EXPECT_NE(report.verdict[0].find("not refuted"), std::string::npos);  // 2,000 are a few too few for the tolerances
    EXPECT_NE(run({}, 2500, seed).verdict[0].find("passed"), std::string::npos);
  }
}

TEST(calibration_test, numbers_of_the_exact_posterior_are_those_of_theory) {
  const CalibrationReport report = run({}, 20000);  // standard errors: mean 0.007, SD 0.005, coverage 0.0035 at most
  const auto& a = report.parameters[0];
  EXPECT_NEAR(a.z.mean, 0, 0.03);
  EXPECT_NEAR(a.z.sd, 1, 0.02);
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(a.coverage[i], kCoverageLevels[i], 0.014) << i;
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(report.joint.coverage[i], kCoverageLevels[i], 0.014) << i;
  EXPECT_NEAR(a.error.mean, 0.5 * std::sqrt(2 / M_PI), 0.011);  // E|N(0, s)|
  EXPECT_NEAR(a.error.sd, 0.5 * std::sqrt(1 - 2 / M_PI), 0.01);
  EXPECT_NEAR(a.contraction.mean, 1 - 0.25 * 12 / 400, 1e-12);
  EXPECT_NEAR(report.correlations[0].correlation.mean, 0.6, 1e-12);
  EXPECT_NEAR(report.correlations[0].correlation.sd, 0, 1e-9);
  // E[-ln q] is the entropy: ln(2 pi e) + ln(s1 s2 sqrt(1 - rho^2)).
  EXPECT_NEAR(report.nll.mean, 1 + 2 * kHalfLogTwoPi + std::log(0.5 * 2 * 0.8), 0.03);
  EXPECT_NEAR(report.nll.sd, 1, 0.04);  // half a chi-square with two degrees of freedom
  EXPECT_NEAR(a.z_sd_error, 0.5 * std::sqrt(2.0 / 20000), 1e-9);
  for (const auto& [normal, z] : a.qq) EXPECT_NEAR(z, normal, std::abs(normal) < 2.05 ? 0.1 : 0.5);
  int64_t total = 0;
  for (const int64_t count : a.ranks) {
    EXPECT_NEAR(static_cast<double>(count), 1000, 160);  // five standard deviations
    total += count;
  }
  EXPECT_EQ(total, 20000);
  EXPECT_NEAR(report.typicality.mean, 0.5, 0.01);
  EXPECT_NEAR(report.atypical_fraction, 0.01, 0.004);
}

TEST(calibration_test, too_narrow_is_named_too_narrow) {
  const CalibrationReport report = run({.width = 0.85});
  EXPECT_TRUE(report.failed);
  EXPECT_EQ(report.parameters[0].findings, Findings{"too narrow"});
  EXPECT_TRUE(report.parameters[1].findings.empty());
  EXPECT_NE(report.verdict[1].find("posterior of a is too narrow"), std::string::npos);
  EXPECT_NEAR(report.parameters[0].z.sd, 1 / 0.85, 0.06);
}

TEST(calibration_test, too_wide_is_named_too_wide) {
  const CalibrationReport report = run({.width = 1.2});
  EXPECT_TRUE(report.failed);
  EXPECT_EQ(report.parameters[0].findings, Findings{"too wide"});
  EXPECT_TRUE(report.parameters[1].findings.empty());
}

TEST(calibration_test, shifted_is_named_biased_and_its_direction_told) {
  for (const double shift : {0.3, -0.3}) {
    const CalibrationReport report = run({.shift = shift}, 8000);
    EXPECT_TRUE(report.failed);
    // A shift of 0.3 SD lowers the 90 % coverage to 88 %; that is not a matter of width.
    EXPECT_EQ(report.parameters[0].findings, Findings{shift > 0 ? "biased (too high)" : "biased (too low)"});
    EXPECT_TRUE(report.parameters[1].findings.empty());
  }
}

TEST(calibration_test, a_wrong_coupling_with_right_marginals_fails_the_joint_posterior) {
  const CalibrationReport report = run({.correlation = -0.6});
  EXPECT_TRUE(report.failed);
  EXPECT_TRUE(report.joint.failed);
  EXPECT_EQ(report.joint.findings, Findings{"too narrow"});
  for (const auto& p : report.parameters) EXPECT_FALSE(p.failed) << p.name;
}

TEST(calibration_test, a_small_flaw_is_mentioned_but_does_not_fail) {
  const CalibrationReport report = run({.shift = 0.045}, 40000);  // nine standard errors
  EXPECT_FALSE(report.failed);
  EXPECT_EQ(report.parameters[0].findings, Findings{"slightly biased (too high)"});
}

TEST(calibration_test, few_trajectories_fail_nothing_by_chance_and_say_that_they_are_few) {
  int failed = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) failed += run({}, 60, seed).failed;
  EXPECT_LE(failed, 5);  // 1 % expected
  const CalibrationReport report = run({}, 60);
  EXPECT_NE(report.verdict.back().find("too few"), std::string::npos);
}

// The right posterior is far from normal (two distant modes, and the truth in either): z is never near 0, and still all
// must pass.
TEST(calibration_test, a_right_posterior_with_two_modes_passes) {
  DrawStream draws(5);
  Calibration calibration({"a"}, {{-5}, {5}});
  for (int i = 0; i < 4000; ++i) {
    const double centre = draws.normal();
    const auto q = GaussianMixture::from_factors({std::log(0.7), std::log(0.3)}, {centre - 1, centre + 1}, {10, 20});
    calibration.add({q, Coordinate::kLinear, {{-5}, {5}}}, q.sample(1, draws));
  }
  const CalibrationReport report = calibration.report();
  EXPECT_FALSE(report.failed) << report.verdict[1];
  EXPECT_TRUE(report.parameters[0].findings.empty());
  EXPECT_LT(report.parameters[0].z_sd_error,
            0.008);  // sign(z) is nearly all there is: less scatter than the normal distribution's 0.011
}

// One mode where there are two: mean and SD are right, and only the ranks tell.
TEST(calibration_test, right_moments_and_a_wrong_shape_are_seen_by_the_ranks) {
  DrawStream draws(6);
  Calibration calibration({"a"}, {{-5}, {5}});
  for (int i = 0; i < 4000; ++i) {
    const auto right = GaussianMixture::from_factors({0, 0}, {-1, 1}, {5, 5});
    const auto stated = GaussianMixture::from_factors({0}, {0}, {1 / std::sqrt(1.04)});
    calibration.add({stated, Coordinate::kLinear, {{-5}, {5}}}, right.sample(1, draws));
  }
  const CalibrationReport report = calibration.report();
  EXPECT_TRUE(report.parameters[0].failed);
  EXPECT_NEAR(report.parameters[0].z.sd, 1, 0.02);
}

// A skewed truth under a normal distribution of the same mean and SD: an exponential distribution has 5 % below 0.05
// and above 3, so the 90 % interval [mean - 1.645, mean + 1.645] holds 1 - e^-2.645 = 92.9 % of it.
TEST(calibration_test, a_right_sd_with_a_wrong_interval_is_a_matter_of_shape) {
  DrawStream draws(7);
  Calibration calibration({"a"}, {{-5}, {5}});
  for (int i = 0; i < 20000; ++i)
    calibration.add({GaussianMixture::from_factors({0}, {1}, {1}), Coordinate::kLinear, {{-5}, {5}}},
                    std::vector<double>{-std::log(draws.uniform())});
  const CalibrationReport report = calibration.report();
  EXPECT_NEAR(report.parameters[0].coverage[2], 1 - std::exp(-2.645), 0.01);
  EXPECT_EQ(report.parameters[0].findings[0], "of the wrong shape (90 % interval too wide)");
}

// Half of the parameters' posteriors flat up to the edges of the box, where a Gaussian of the parameter itself cannot
// be right.
TEST(calibration_test, right_posteriors_in_probit_coordinates_pass) {
  DrawStream draws(8);
  const Box box = {{2, -1}, {3, 5}};
  Calibration calibration({"flat", "known"}, box);
  for (int i = 0; i < 4000; ++i) {
    const Posterior q(
        GaussianMixture::from_factors({0, -0.5}, {0, draws.normal(), 0, draws.normal()}, {1, 0, 0, 4, 1, 0, 0, 3}),
        Coordinate::kProbit, box);
    calibration.add(q, q.sample(1, draws));
  }
  const CalibrationReport report = calibration.report();
  EXPECT_FALSE(report.failed) << report.verdict[1];
  EXPECT_TRUE(report.parameters[0].findings.empty());
  EXPECT_NEAR(report.parameters[0].coverage[2], 0.9, 0.02);
  EXPECT_NEAR(report.parameters[0].z_sd_error, 0.0071, 0.0004);  // sqrt((1.8 - 1) / 4000) / 2
  EXPECT_EQ(report.outside_mass, 0);
}

TEST(calibration_test, a_posterior_of_nan_fails) {
  CalibrationReport report = run({}, 1000);
  report.parameters[1].z.sd = std::nan("");
  report.parameters[1].findings.clear();
  judge_calibration(report);
  EXPECT_TRUE(report.failed);
}

TEST(calibration_test, mass_outside_the_box_is_measured) {
  Calibration calibration({"a"}, {{0}, {1}});
  DrawStream draws(1);
  for (int i = 0; i < 1000; ++i)
    calibration.add({GaussianMixture::from_factors({0}, {0}, {10}), Coordinate::kLinear, {{0}, {1}}},
                    std::vector<double>{0.1 * std::abs(draws.normal())});
  EXPECT_NEAR(calibration.report().outside_mass, 0.5, 0.006);  // 127,000 draws: standard error 0.0014
}

TEST(calibration_test, what_is_kept_is_what_was_added) {
  const CalibrationReport report = run({}, 50, 3, true);
  EXPECT_EQ(report.kept.truth.size(), 100u);
  double error = 0;
  for (size_t i = 0; i < 50; ++i) error += std::abs(report.kept.mean[2 * i] - report.kept.truth[2 * i]) / 50;
  EXPECT_NEAR(error, report.parameters[0].error.mean, 1e-6);
  EXPECT_TRUE(run({}, 50).kept.truth.empty());
}

TEST(calibration_test, json_and_table_carry_the_verdict) {
  const CalibrationReport report = run({.width = 0.7}, 1000);
  const auto json = calibration_to_json(report);
  EXPECT_TRUE(json["failed"].get<bool>());
  EXPECT_EQ(json["parameters"][0]["findings"][0], "too narrow");
  EXPECT_EQ(json["parameters"][0]["ranks"].size(), static_cast<size_t>(kRankBins));
  EXPECT_EQ(json["parameters"][0]["coverage"][2]["level"], 0.9);
  EXPECT_NE(calibration_table(report).find("a is too narrow"), std::string::npos);
}

TEST(calibration_test, an_empty_calibration_is_refused) {
  EXPECT_THROW(Calibration({"a", "b"}, kBox).report(), Error);
  EXPECT_THROW(Calibration({"a"}, kBox), Error);
}

TEST(calibration_test, quantiles_of_a_histogram_are_linear_inside_a_cell) {
  FineHistogram h{.low = 0, .high = 10, .cells = std::vector<int64_t>(10, 0)};
  for (const double x : {0.5, 0.6, 3.5, 3.6}) h.add(x);
  h.add(100);
  h.add(-100);
  EXPECT_DOUBLE_EQ(h.quantile(0.25), 0.5);     // 1.5 of the 3 in [0, 1)
  EXPECT_DOUBLE_EQ(h.quantile(4.0 / 6), 3.5);  // 1 of the 2 in [3, 4)
  EXPECT_EQ(h.cells[9], 1);
}

}  // namespace
}  // namespace penn
