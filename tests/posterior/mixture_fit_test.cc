// Mixtures fitted to weighted draws, against the distributions the draws stand for.
#include "penn/posterior/mixture_fit.h"

#include <gtest/gtest.h>

#include <cmath>

#include "penn/base/error.h"
#include "posterior/brute_force.h"

namespace penn {
namespace {

using namespace brute_force;

TEST(mixture_fit_test, effective_count_is_one_for_one_heavy_point_and_all_for_equal_ones) {
  EXPECT_NEAR(effective_count(std::vector<double>{-3, -3, -3, -3}), 4, 1e-12);
  EXPECT_NEAR(effective_count(std::vector<double>{0, -800, -INFINITY}), 1, 1e-12);
  EXPECT_NEAR(effective_count(std::vector<double>{std::log(3.0), 0}), 16.0 / 10, 1e-12);
}

// 6,000 draws from a wide normal distribution, weighted to two modes: mean, covariance and density of the modes come
// back.
TEST(mixture_fit_test, weighted_draws_of_two_modes_give_the_two_modes) {
  const GaussianMixture truth = GaussianMixture::from_covariances(
      {0.3, 0.7}, {{-2, 0.5}, {1, -1}}, {covariance_2d(0.3, 0.5, 0.8), covariance_2d(0.6, 0.2, -0.5)});
  const GaussianMixture wide = GaussianMixture::from_covariances({1}, {{0, 0}}, {covariance_2d(2, 1.5, 0)});
  DrawStream draws(3);
  const std::vector<double> points = wide.sample(6000, draws);
  std::vector<double> log_weights;
  for (std::size_t i = 0; i < 6000; ++i) {
    const std::span<const double> x(&points[2 * i], 2);
    log_weights.push_back(truth.log_density(x) - wide.log_density(x));
  }
  const GaussianMixture fitted = fit_mixture(points, log_weights, 2);
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_NEAR(fitted.mean()[k], truth.mean()[k], 0.06);
    EXPECT_NEAR(std::sqrt(fitted.covariance()(k, k) / truth.covariance()(k, k)), 1, 0.05);
  }
  EXPECT_NEAR(fitted.correlation()(0, 1), truth.correlation()(0, 1), 0.05);
  double divergence = 0;
  const std::vector<double> fresh = truth.sample(4000, draws);
  for (std::size_t i = 0; i < 4000; ++i)
    divergence += (truth.log_density({&fresh[2 * i], 2}) - fitted.log_density({&fresh[2 * i], 2})) / 4000;
  EXPECT_LT(divergence, 0.05);
}

TEST(mixture_fit_test, few_points_get_one_component_and_the_scale_of_the_coordinates_does_not_matter) {
  DrawStream draws(5);
  std::vector<double> points, log_weights(30, 0.0);
  for (int i = 0; i < 30; ++i) points.push_back(1e6 + 1e-3 * draws.normal()), points.push_back(1e4 * draws.normal());
  const GaussianMixture fitted = fit_mixture(points, log_weights, 2);
  EXPECT_EQ(fitted.components(), 1u);
  EXPECT_NEAR(fitted.mean()[0], 1e6, 1e-3);
  EXPECT_NEAR(std::sqrt(fitted.covariance()(0, 0)) / 1e-3, 1, 0.4);
}

TEST(mixture_fit_test, points_without_weight_are_refused) {
  const std::vector<double> points = {1, 2, 3};
  EXPECT_THROW(fit_mixture(points, std::vector<double>{-INFINITY, -INFINITY, -INFINITY}, 1), Error);
  EXPECT_THROW(fit_mixture(points, std::vector<double>{0, -INFINITY, -INFINITY}, 1), Error);
  EXPECT_THROW(fit_mixture(points, std::vector<double>{0, 0}, 1), Error);
}

}  // namespace
}  // namespace penn
