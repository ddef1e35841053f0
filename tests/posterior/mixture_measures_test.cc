#include "penn/posterior/mixture_measures.h"

#include <gtest/gtest.h>

#include <cmath>

#include "penn/base/error.h"
#include "posterior/brute_force.h"

namespace penn {
namespace {

using namespace brute_force;

TEST(mixture_measures_test, levels_of_one_normal_are_chi_squared_quantiles) {
  // In two dimensions the region of probability p ends at squared distance -2 ln(1 - p): ln q falls by -ln(1 - p).
  const auto q = single_2d();
  const double top = q.log_density(q.mean());
  const std::vector<double> probabilities = {0.1, 0.5, 0.9, 0.99};
  const auto levels = highest_density_levels(q, probabilities, 200000);
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    const double p = probabilities[i];
    EXPECT_NEAR(levels[i].log_level, top + std::log(1.0 - p), 4 * levels[i].error);
    EXPECT_NEAR(levels[i].error / (std::sqrt(p / (1 - p) / 200000)), 1.0,
                0.3);  // delta method on the exponential distribution
  }
}

TEST(mixture_measures_test, levels_enclose_their_probability_by_quadrature) {
  for (const auto& q : {overlapping_2d(), separated_2d()}) {
    const std::vector<double> probabilities = {0.5, 0.9};
    const auto levels = highest_density_levels(q, probabilities, 100000);
    for (const auto& level : levels) {
      // Quadrature per component window: cells of 1/40 SD over +-8 SD, counting q's own density above the level.
      double mass = 0.0;
      for (std::size_t j = 0; j < q.components(); ++j) {
        const auto mu = q.component_mean(j);
        const auto s = q.component_covariance(j);
        const double sx = std::sqrt(s(0, 0)), sy = std::sqrt(s(1, 1)), rho = s(0, 1) / sx / sy;
        mass += q.weight(j) * integral_2d(-8, 8, -8, 8, 400, [&](double a, double b) {
                  const double x = mu[0] + a * sx, y = mu[1] + b * sy;
                  return q.log_density(std::vector<double>{x, y}) >= level.log_level
                             ? normal_2d(x, y, mu[0], mu[1], sx, sy, rho) * sx * sy
                             : 0.0;
                });
      }
      EXPECT_NEAR(mass, level.probability, 4 * 0.5 / std::sqrt(1e5));
    }
  }
}

TEST(mixture_measures_test, rank_is_zero_at_the_mode_and_chi_squared_beyond) {
  const auto q = single_2d();
  EXPECT_EQ(highest_density_rank(q, q.mean()), 0.0);
  EXPECT_NEAR(highest_density_rank(q, std::vector<double>{50, 50}), 1.0, 1e-12);
  // x one SD from the mean with y on its regression line: squared distance 1, rank 1 - exp(-1/2).
  EXPECT_NEAR(highest_density_rank(q, std::vector<double>{0.3 + 0.5, -0.2 - 0.7 * 1.5}, 100000), 1 - std::exp(-0.5),
              4 * 0.5 / std::sqrt(1e5));
}

TEST(mixture_measures_test, kl_of_two_normals_has_the_closed_form) {
  // One dimension: ln(s2 / s1) + (s1^2 + d^2) / (2 s2^2) - 1/2.
  const auto p = GaussianMixture::from_factors({0.0}, {0.0}, {1.0});
  const auto q = GaussianMixture::from_factors({0.0}, {1.0}, {0.5});
  const auto kl = kl_divergence(p, q, 100000);
  EXPECT_NEAR(kl.value, std::log(2.0) + 2.0 / 8.0 - 0.5, 4 * kl.error);
  EXPECT_LT(kl.error, 0.005);
  EXPECT_GT(kl.error, 1e-4);
}

TEST(mixture_measures_test, kl_of_mixtures_matches_quadrature_and_vanishes_for_equals) {
  const auto p = overlapping_2d(), q = single_2d();
  const double reference = integral_2d(-12, 12, -12, 12, 600, [&](double x, double y) {
    const std::vector<double> theta = {x, y};
    const double log_p = p.log_density(theta);
    return std::exp(log_p) * (log_p - q.log_density(theta));
  });
  const auto kl = kl_divergence(p, q, 50000);
  EXPECT_NEAR(kl.value, reference, 4 * kl.error);
  EXPECT_LT(kl.error, 0.05 * reference);
  const auto none = kl_divergence(p, p);
  EXPECT_EQ(none.value, 0.0);
  EXPECT_EQ(none.error, 0.0);
  const auto never = kl_divergence(p, [](std::span<const double> t) { return t[0] > 0 ? 0.0 : -INFINITY; });
  EXPECT_TRUE(std::isinf(never.value));
}

TEST(mixture_measures_test, bad_requests_are_refused) {
  EXPECT_THROW(highest_density_levels(single_2d(), std::vector<double>{1.0}), Error);
  EXPECT_THROW(kl_divergence(single_2d(), random_mixture(1, 3, 1)), Error);
  EXPECT_THROW(kl_divergence(single_2d(), single_2d(), 0), Error);
}

}  // namespace
}  // namespace penn
