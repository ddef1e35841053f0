// The verdict on mixtures built so that the right words are known.
#include "penn/answer/verdict.h"

#include <gtest/gtest.h>

#include <cmath>

#include "penn/base/error.h"
#include "posterior/brute_force.h"

namespace penn {
namespace {

using namespace brute_force;

bool says(const PosteriorVerdict& verdict, const std::string& words) {
  return verdict.text().find(words) != std::string::npos;
}

GaussianMixture normal(const std::vector<double>& mean, const DenseMatrix& covariance) {
  return GaussianMixture::from_covariances({1}, {mean}, {covariance});
}

TEST(verdict_test, contraction_sorts_the_parameters) {
  // Box of width 1, prior SD 0.2887: SDs of 0.05, 0.15 and 0.28 leave 3 %, 27 % and 94 % of the variance.
  const auto verdict =
      posterior_verdict({normal({0.5, 0.5, 0.5}, matrix(3, {0.0025, 0, 0, 0, 0.0225, 0, 0, 0, 0.0784})),
                         Coordinate::kLinear,
                         {{0, 0, 0}, {1, 1, 1}}},
                        {"a", "b", "c"});
  EXPECT_NEAR(verdict.parameters[0].contraction, 1 - 12 * 0.0025, 1e-12);
  EXPECT_TRUE(says(verdict, "Identified: a.")) << verdict.text();
  EXPECT_TRUE(says(verdict, "not pinned: b."));
  EXPECT_TRUE(says(verdict, "Not identified: c"));
  EXPECT_TRUE(says(verdict, "One explanation fits."));
  EXPECT_TRUE(verdict.combinations.empty());
}

TEST(verdict_test, a_sum_that_is_known_is_named_with_its_value) {
  // Two amplitudes on the line D1 + D2 = 0.9: each has SD 0.22, the sum 0.02.
  const double s = 0.22, rho = 0.02 * 0.02 / (2 * s * s) - 1;
  const auto verdict = posterior_verdict(
      {normal({0.5, 0.4}, covariance_2d(s, s, rho)), Coordinate::kLinear, {{0, 0}, {1, 1}}}, {"D1", "D2"});
  ASSERT_EQ(verdict.combinations.size(), 1u) << verdict.text();
  const KnownCombination& c = verdict.combinations[0];
  EXPECT_EQ(c.text, "D1 + D2");
  EXPECT_NEAR(c.mean, 0.9, 1e-12);
  EXPECT_NEAR(c.sd, 0.02, 1e-9);
  EXPECT_NEAR(c.box_units[0], std::sqrt(0.5), 1e-9);
  EXPECT_TRUE(says(verdict, "Known only in combination: D1 + D2 = 0.9 +- 0.02")) << verdict.text();
}

TEST(verdict_test, a_combination_is_given_in_own_units_and_leaves_out_who_has_no_part) {
  // u = a - b/50 is known to 0.01; box widths 1 and 50 make this (0.71, -0.71) in box units. c is open and independent.
  DenseMatrix sigma(3, 3);
  const double va = 0.06, vu = 1e-4;
  sigma(0, 0) = va, sigma(1, 1) = 2500 * (va + vu), sigma(0, 1) = sigma(1, 0) = 50 * va, sigma(2, 2) = 0.08;
  const auto verdict =
      posterior_verdict({normal({0.5, 20, 0.5}, sigma), Coordinate::kLinear, {{0, 0, 0}, {1, 50, 1}}}, {"a", "b", "c"});
  ASSERT_EQ(verdict.combinations.size(), 1u) << verdict.text();
  EXPECT_EQ(verdict.combinations[0].text, "a - 0.02 b");
  EXPECT_NEAR(verdict.combinations[0].sd, 0.01, 1e-6);
  EXPECT_NEAR(verdict.combinations[0].mean, 0.1, 1e-9);
  EXPECT_NEAR(verdict.combinations[0].box_units[1], -std::sqrt(0.5), 1e-3);
}

TEST(verdict_test, an_unknown_parameter_tied_to_an_identified_one_is_said) {
  // a is identified (SD 0.07), b is not (0.16), and b - 2 a is known to 0.02.
  DenseMatrix sigma = covariance_2d(0.07, 0.16, 0);
  sigma(1, 1) = 4 * 0.0049 + 0.0004, sigma(0, 1) = sigma(1, 0) = 2 * 0.0049;
  const auto verdict =
      posterior_verdict({normal({0.3, 0.6}, sigma), Coordinate::kLinear, {{0, 0}, {1, 1}}}, {"a", "b"});
  EXPECT_TRUE(says(verdict, "Identified: a."));
  ASSERT_EQ(verdict.combinations.size(), 1u) << verdict.text();
  EXPECT_FALSE(verdict.combinations[0].all_parts_unknown);
  EXPECT_EQ(verdict.combinations[0].text, "a - 0.49 b");
  EXPECT_LT(verdict.combinations[0].sd, 0.011);
  EXPECT_TRUE(says(verdict, "Known better in combination: a - 0.49 b"));
}

TEST(verdict_test, a_weak_coupling_is_no_combination) {
  const auto verdict = posterior_verdict(
      {normal({0.5, 0.5}, covariance_2d(0.2, 0.2, -0.6)), Coordinate::kLinear, {{0, 0}, {1, 1}}}, {"a", "b"});
  EXPECT_TRUE(verdict.combinations.empty()) << verdict.text();
}

TEST(verdict_test, identified_parameters_are_not_spoken_of_as_a_combination) {
  const auto verdict = posterior_verdict(
      {normal({0.5, 0.5}, covariance_2d(0.03, 0.03, -0.99)), Coordinate::kLinear, {{0, 0}, {1, 1}}}, {"a", "b"});
  EXPECT_TRUE(verdict.combinations.empty()) << verdict.text();
  EXPECT_TRUE(says(verdict, "Identified: a and b."));
}

TEST(verdict_test, mirror_modes_are_two_explanations_and_told_by_what_differs) {
  const auto q = GaussianMixture::from_covariances(
      {0.6, 0.37, 0.03}, {{0.2, 0.5}, {0.8, 0.52}, {0.5, 0.9}},
      {covariance_2d(0.05, 0.05, 0), covariance_2d(0.05, 0.05, 0), covariance_2d(0.02, 0.02, 0)});
  const auto verdict = posterior_verdict({q, Coordinate::kLinear, {{0, 0}, {1, 1}}}, {"a", "b"});
  ASSERT_EQ(verdict.modes.size(), 2u) << "the third has too little weight";
  EXPECT_TRUE(says(verdict, "2 explanations fit")) << verdict.text();
  EXPECT_TRUE(says(verdict, "weight 0.60: a = 0.2\n"));
  EXPECT_FALSE(says(verdict, "One explanation"));
}

TEST(verdict_test, ripples_of_less_than_half_a_nat_are_one_explanation) {
  // Two equal normals 2.4 SDs apart: the valley is 0.1 nats deep.
  const auto q = GaussianMixture::from_factors({0, 0}, {0.44, 0.56}, {20, 20});
  EXPECT_EQ(find_modes(q).size(), 2u);
  EXPECT_EQ(posterior_verdict({q, Coordinate::kLinear, {{0}, {1}}}, {"a"}).modes.size(), 1u);
}

TEST(verdict_test, pressing_against_an_edge_is_said_with_the_side) {
  const auto verdict = posterior_verdict(
      {normal({0.98, 0.3}, covariance_2d(0.03, 0.03, 0)), Coordinate::kLinear, {{0, 0}, {1, 1}}}, {"a", "b"});
  EXPECT_TRUE(says(verdict, "a presses against the upper edge")) << verdict.text();
  EXPECT_NEAR(verdict.parameters[0].edge_high, 0.5, 1e-9);
  EXPECT_FALSE(says(verdict, "lower edge"));
  EXPECT_FALSE(says(verdict, "b presses"));
}

TEST(verdict_test, a_flat_posterior_has_two_percent_at_each_edge_and_is_not_identified) {
  std::vector<double> weights, means, factors;
  for (int i = 0; i < 60; ++i) weights.push_back(0), means.push_back((i + 0.5) / 60), factors.push_back(60);
  const auto verdict = posterior_verdict(
      {GaussianMixture::from_factors(weights, means, factors), Coordinate::kLinear, {{0}, {1}}}, {"a"});
  EXPECT_NEAR(verdict.parameters[0].edge_low, 0.02, 0.006);
  EXPECT_NEAR(verdict.parameters[0].contraction, 0, 0.01);
  EXPECT_TRUE(says(verdict, "Not identified: a"));
  EXPECT_FALSE(says(verdict, "presses"));
  EXPECT_EQ(verdict.modes.size(), 1u);
}

}  // namespace
}  // namespace penn
