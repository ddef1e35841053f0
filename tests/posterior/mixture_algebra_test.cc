// Marginals, conditionals, projections, 1-D cdf and quantiles, against quadrature, the chain rule and many draws.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "penn/base/error.h"
#include "penn/posterior/gaussian_mixture.h"
#include "penn/posterior/normal.h"
#include "posterior/brute_force.h"

namespace penn {
namespace {

using namespace brute_force;

const std::vector<std::size_t> kX = {0}, kY = {1};

TEST(mixture_algebra_test, marginal_is_the_integral_over_the_other_coordinate) {
  for (const auto& q : {overlapping_2d(), single_2d()})
    for (double at : {-1.0, 0.3, 1.7}) {
      const double over_y = integral(-15, 15, 3000, [&](double y) {
        return std::exp(q.log_density(std::vector<double>{at, y}));
      });
      const double over_x = integral(-15, 15, 3000, [&](double x) {
        return std::exp(q.log_density(std::vector<double>{x, at}));
      });
      EXPECT_NEAR(q.marginal(kX).log_density(std::vector<double>{at}), std::log(over_y), 1e-10);
      EXPECT_NEAR(q.marginal(kY).log_density(std::vector<double>{at}), std::log(over_x), 1e-10);
      EXPECT_NEAR(q.marginal_1d(0).log_density(at), std::log(over_y), 1e-10);
      EXPECT_NEAR(q.marginal_1d(1).log_density(at), std::log(over_x), 1e-10);
    }
}

TEST(mixture_algebra_test, marginal_of_nearly_singular_components_keeps_the_wide_width) {
  // Correlation 1 - 1e-6: ridges of width 1.4e-3 and 2.8e-3; 200,000 cells of 1e-4 over [-10, 10] resolve them.
  const auto q = nearly_singular_2d();
  for (double x : {-0.7, 0.5}) {
    const double over_y = integral(-10, 10, 200000, [&](double y) {
      return std::exp(q.log_density(std::vector<double>{x, y}));
    });
    EXPECT_NEAR(q.marginal(kX).log_density(std::vector<double>{x}), std::log(over_y), 1e-9);
  }
}

TEST(mixture_algebra_test, density_is_marginal_times_conditional_for_every_split) {
  const auto q = random_mixture(5, 4, 31);
  DrawStream draws(2);
  for (unsigned mask = 1; mask < 15; ++mask) {
    std::vector<std::size_t> given, free;
    for (std::size_t k = 0; k < 4; ++k) (mask >> k & 1 ? given : free).push_back(k);
    for (int i = 0; i < 5; ++i) {
      std::vector<double> theta(4), b, a;
      for (double& v : theta) v = 2.0 * draws.normal();
      for (std::size_t k : given) b.push_back(theta[k]);
      for (std::size_t k : free) a.push_back(theta[k]);
      EXPECT_NEAR(q.marginal(given).log_density(b) + q.conditional(given, b).log_density(a), q.log_density(theta),
                  1e-10);
    }
  }
}

TEST(mixture_algebra_test, conditional_is_the_normalised_slice) {
  for (const auto& q : {overlapping_2d(), single_2d()}) {
    const double x = 0.8;
    const auto slice = [&](double y) { return std::exp(q.log_density(std::vector<double>{x, y})); };
    const double total = integral(-15, 15, 3000, slice);
    const double mean = integral(-15, 15, 3000, [&](double y) { return y * slice(y); }) / total;
    const auto conditional = q.conditional(kX, std::vector<double>{x});
    EXPECT_NEAR(conditional.mean()[0], mean, 1e-10);
    EXPECT_NEAR(conditional.log_density(std::vector<double>{0.4}), std::log(slice(0.4) / total), 1e-10);
  }
}

TEST(mixture_algebra_test, marginal_reorders_coordinates) {
  const auto q = random_mixture(3, 3, 8);
  const std::vector<std::size_t> order = {2, 0, 1};
  EXPECT_NEAR(q.marginal(order).log_density(std::vector<double>{0.3, 0.1, 0.2}),
              q.log_density(std::vector<double>{0.1, 0.2, 0.3}), 1e-11);
}

TEST(mixture_algebra_test, conditional_weights_are_right_between_widely_separated_components) {
  // Equal weights at x = -500 and 500, SD 1; y is 10 with the first and 20 with the second.
  const auto unit = covariance_2d(1, 1, 0);
  const auto q = GaussianMixture::from_covariances({0.5, 0.5}, {{-500, 10}, {500, 20}}, {unit, unit});
  EXPECT_NEAR(q.conditional(kX, std::vector<double>{-500.0}).mean()[0], 10.0, 1e-12);
  EXPECT_NEAR(q.conditional(kX, std::vector<double>{0.0}).mean()[0], 15.0, 1e-9);
  // At x = 0.001 the odds are exp(2 * 500 * 0.001) = e; both densities are about e^-125000.
  const double odds = std::exp(1.0);
  EXPECT_NEAR(q.conditional(kX, std::vector<double>{0.001}).weight(1), odds / (1 + odds), 1e-9);
  EXPECT_NEAR(q.conditional(kX, std::vector<double>{1e6}).mean()[0], 20.0, 1e-12);
}

TEST(mixture_algebra_test, conditional_of_a_nearly_singular_component_is_narrow_and_on_the_line) {
  const double rho = 1.0 - 1e-10, sd = std::sqrt((1 - rho) * (1 + rho));
  const auto q = GaussianMixture::from_covariances({1.0}, {{1, 2}}, {covariance_2d(1, 3, rho)});
  const auto conditional = q.conditional(kX, std::vector<double>{3.0});
  EXPECT_NEAR(conditional.mean()[0], 2.0 + 3.0 * rho * 2.0, 1e-6);
  EXPECT_NEAR(std::sqrt(conditional.covariance()(0, 0)) / (3.0 * sd), 1.0, 1e-5);
}

TEST(mixture_algebra_test, a_million_draws_agree_with_marginal_and_projection_in_six_dimensions) {
  // Shares below a threshold, n = 1e6: standard error at most 5e-4, tolerance 4 of them.
  const auto q = random_mixture(4, 6, 77);
  const std::size_t n = 1000000;
  DrawStream draws(6);
  const auto sample = q.sample(n, draws);
  const std::vector<double> direction = {1.0, -0.5, 0.0, 2.0, 0.3, -1.0};
  const auto distribution = q.projection(direction), third = q.marginal_1d(3);
  const double at = distribution.mean() + 0.5 * distribution.sd(), at3 = third.mean() - 0.7 * third.sd();
  double below = 0.0, below3 = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    below += dot(direction, {&sample[i * 6], 6}) < at ? 1.0 / n : 0.0;
    below3 += sample[i * 6 + 3] < at3 ? 1.0 / n : 0.0;
  }
  EXPECT_NEAR(distribution.cdf(at), below, 2e-3);
  EXPECT_NEAR(third.cdf(at3), below3, 2e-3);
  EXPECT_NEAR(third.sd(), std::sqrt(q.covariance()(3, 3)), 1e-12);
}

TEST(mixture_algebra_test, widths_change_and_nothing_else) {
  const auto q = random_mixture(4, 3, 78);
  const std::vector<double> factors = {0.5, 1.0, 3.0};
  const auto w = q.with_scales(factors);
  for (std::size_t j = 0; j < 4; ++j) {
    EXPECT_NEAR(w.log_weight(j), q.log_weight(j), 1e-14);
    const auto before = q.component_covariance(j), after = w.component_covariance(j);
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(w.component_mean(j)[k], q.component_mean(j)[k]);
      for (std::size_t l = 0; l < 3; ++l)
        EXPECT_NEAR(after(k, l), before(k, l) * factors[k] * factors[l], 1e-12 * std::abs(after(k, k)) + 1e-12);
    }
  }
  EXPECT_THROW(q.with_scales(std::vector<double>{1.0}), Error);
}

TEST(mixture_algebra_test, bad_coordinates_are_refused) {
  const auto q = single_2d();
  EXPECT_THROW(q.marginal(std::vector<std::size_t>{2}), Error);
  EXPECT_THROW(q.marginal(std::vector<std::size_t>{0, 0}), Error);
  EXPECT_THROW(q.marginal(std::vector<std::size_t>{}), Error);
  EXPECT_THROW(q.conditional(std::vector<std::size_t>{0, 1}, std::vector<double>{0, 0}), Error);
  EXPECT_THROW(q.conditional(kX, std::vector<double>{std::numeric_limits<double>::infinity()}), Error);
}

// ---- the distribution of one parameter ----

NormalMixture1d distribution(std::vector<double> weights, std::vector<double> means, std::vector<double> sds) {
  for (double& w : weights) w = std::log(w);
  return NormalMixture1d(std::move(weights), std::move(means), std::move(sds));
}

TEST(normal_mixture_1d_test, cdf_is_the_integral_of_the_density) {
  const auto q = distribution({0.3, 0.7}, {-1, 2}, {0.5, 1.5});
  for (double x : {-2.0, 0.0, 1.0, 4.0}) {
    const double reference = integral(-20, x, 20000, [&](double t) { return std::exp(q.log_density(t)); });
    EXPECT_NEAR(q.cdf(x), reference, 1e-6);
    EXPECT_NEAR(q.cdf(x) + q.survival(x), 1.0, 1e-14);
    EXPECT_NEAR(q.mass(-1.0, x), x > -1.0 ? q.cdf(x) - q.cdf(-1.0) : 0.0, 1e-12);
  }
}

TEST(normal_mixture_1d_test, quantile_inverts_the_cdf_everywhere) {
  const NormalMixture1d distributions[] = {distribution({1}, {3}, {2}), distribution({0.3, 0.7}, {-1, 2}, {0.5, 1.5}),
                                           distribution({0.5, 0.5}, {-1e6, 1e6}, {1e-3, 1}),
                                           distribution({1 - 1e-12, 1e-12}, {0, 1e8}, {1e-8, 1e3}),
                                           distribution({0.2, 0.3, 0.5}, {5, 5, 5.0001}, {1e-9, 1e-5, 10})};
  for (const auto& q : distributions) {
    double before = -std::numeric_limits<double>::infinity();
    for (double p : {1e-250, 1e-100, 1e-12, 0.001, 0.05, 0.25, 0.4999, 0.51, 0.75, 0.95, 0.999, 1 - 1e-12}) {
      const double x = q.quantile(p);
      EXPECT_GE(x, before);
      before = x;
      // The jump of the cdf over a few ulps of x bounds what any algorithm can reach.
      const double ulp = 8e-16 * std::max(std::fabs(x), 1e-300);
      if (p <= 0.5) {
        EXPECT_LE(q.cdf(x - ulp), p * (1 + 1e-9));
        EXPECT_GE(q.cdf(x + ulp), p * (1 - 1e-9));
      } else {
        EXPECT_GE(q.survival(x - ulp), (1 - p) * (1 - 1e-9));
        EXPECT_LE(q.survival(x + ulp), (1 - p) * (1 + 1e-9));
      }
    }
  }
}

TEST(normal_mixture_1d_test, quantile_of_one_normal_is_the_normal_quantile_and_ends_are_infinite) {
  const auto q = distribution({1}, {3}, {2});
  EXPECT_NEAR(q.quantile(0.975), 3 + 2 * 1.959963984540054, 1e-12);
  EXPECT_NEAR(q.median(), 3.0, 1e-14);
  EXPECT_TRUE(std::isinf(q.quantile(0.0)) && q.quantile(0.0) < 0);
  EXPECT_TRUE(std::isinf(q.quantile(1.0)) && q.quantile(1.0) > 0);
  EXPECT_TRUE(std::isnan(q.quantile(1.5)));
}

}  // namespace
}  // namespace penn
