// The value itself: density, sampling, moments, change of units, 1-D distributions.
#include "penn/posterior/gaussian_mixture.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "penn/base/error.h"
#include "posterior/brute_force.h"

namespace penn {
namespace {

using namespace brute_force;

TEST(gaussian_mixture_test, a_precision_floor_is_added_in_every_direction) {
  const std::vector<double> floor = {0.25, 1, 2, 0.5, 0.25};
  const std::size_t n = 2, m = 5;
  const GaussianMixture free = random_mixture(n, m, 6), held = free.with_precision_floor(floor);
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t k = 0; k < m; ++k)
      for (std::size_t l = 0; l < m; ++l) {
        double before = 0, after = 0;
        for (std::size_t i = 0; i < m; ++i)
          before += free.factor(j)[i * m + k] * free.factor(j)[i * m + l],
              after += held.factor(j)[i * m + k] * held.factor(j)[i * m + l];
        EXPECT_NEAR(after - before, k == l ? floor[k] : 0, 1e-11);
      }
  for (std::size_t j = 0; j < n; ++j) {
    EXPECT_EQ(free.weight(j), held.weight(j));
    for (std::size_t k = 0; k < m; ++k) {
      EXPECT_EQ(free.component_mean(j)[k], held.component_mean(j)[k]);
      EXPECT_LE(held.component_covariance(j)(k, k), 1 / floor[k] + 1e-12);
    }
  }
  EXPECT_THROW(free.with_precision_floor(std::vector<double>(4, 1.0)), Error);
}

TEST(gaussian_mixture_test, bad_construction_says_what_is_wrong) {
  const auto message = [](auto make) -> std::string {
    try {
      make();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message([&] {
              GaussianMixture::from_covariances({1.0}, {{0, 0}}, {covariance_2d(1, 1, 1.2)});
            }),
            "covariance of component 1 is not positive definite");
  EXPECT_EQ(message([&] {
              GaussianMixture::from_covariances({1.0}, {{0, 0}}, {matrix(2, {1, 0.5, 0.4, 1})});
            }),
            "covariance of component 1 is not symmetric (entries 1,2 and 2,1)");
  EXPECT_EQ(message([&] {
              GaussianMixture::from_covariances({-0.1, 1.1}, {{0}, {0}}, {matrix(1, {1}), matrix(1, {1})});
            }),
            "weight of component 1 is -0.1");
  EXPECT_EQ(message([&] { GaussianMixture::from_covariances({0.0}, {{0}}, {matrix(1, {1})}); }),
            "all component weights are zero");
}

TEST(gaussian_mixture_test, covariances_come_back_and_density_is_the_textbook_formula) {
  const auto q = overlapping_2d();
  const DenseMatrix sigma = q.component_covariance(0);
  EXPECT_NEAR(sigma(0, 0), 1.0, 1e-14);
  EXPECT_NEAR(sigma(0, 1), 0.35, 1e-14);
  EXPECT_NEAR(sigma(1, 1), 0.49, 1e-14);
  for (double x : {-2.0, 0.1, 1.4})
    for (double y : {-1.0, 0.0, 2.2})
      EXPECT_NEAR(q.log_density(std::vector<double>{x, y}),
                  std::log(0.5 * normal_2d(x, y, 0, 0, 1, 0.7, 0.5) + 0.3 * normal_2d(x, y, 1.5, 1, 0.5, 0.5, -0.8) +
                           0.2 * normal_2d(x, y, -1, 2, 0.8, 0.3, 0)),
                  1e-12);
}

TEST(gaussian_mixture_test, nearly_singular_covariance_keeps_its_conditional_width) {
  // Correlation 1 - 1e-10: the SD of y given x is sqrt(1 - rho^2) = 1.4e-5, U_22 does not matter, U_11 shows it.
  const double rho = 1.0 - 1e-10;
  const auto q = GaussianMixture::from_covariances({1.0}, {{0, 0}}, {covariance_2d(1, 1, rho)});
  EXPECT_NEAR(1.0 / q.factor(0)[0] / std::sqrt((1 - rho) * (1 + rho)), 1.0, 1e-6);  // rho itself has 1e-16 / 1e-10
}

TEST(gaussian_mixture_test, density_integrates_to_one_and_gives_mean_and_covariance) {
  for (const auto& q : {overlapping_2d(), single_2d()}) {
    const auto mean = q.mean();
    const auto covariance = q.covariance();
    double moments[6] = {};
    // 560 cells of 0.05 over +-14, nine SDs of the widest component.
    integral_2d(-14, 14, -14, 14, 560, [&](double x, double y) {
      const double p = std::exp(q.log_density(std::vector<double>{x, y})) * 0.05 * 0.05;
      const double dx = x - mean[0], dy = y - mean[1];
      const double terms[6] = {p, p * x, p * y, p * dx * dx, p * dx * dy, p * dy * dy};
      for (int i = 0; i < 6; ++i) moments[i] += terms[i];
      return 0.0;
    });
    EXPECT_NEAR(moments[0], 1.0, 1e-10);
    EXPECT_NEAR(moments[1], mean[0], 1e-10);
    EXPECT_NEAR(moments[2], mean[1], 1e-10);
    EXPECT_NEAR(moments[3], covariance(0, 0), 1e-9);
    EXPECT_NEAR(moments[4], covariance(0, 1), 1e-9);
    EXPECT_NEAR(moments[5], covariance(1, 1), 1e-9);
    EXPECT_NEAR(q.correlation()(0, 1), covariance(0, 1) / std::sqrt(covariance(0, 0) * covariance(1, 1)), 1e-14);
    EXPECT_EQ(q.correlation()(1, 1), 1.0);
  }
}

TEST(gaussian_mixture_test, a_million_draws_have_the_moments_of_the_mixture) {
  // M = 4, N = 3, n = 1e6; tolerance 5 standard errors, estimated from the draws themselves.
  const auto q = random_mixture(3, 4, 21);
  const std::size_t n = 1000000, m = 4;
  DrawStream draws(3);
  const auto sample = q.sample(n, draws);
  const auto mean = q.mean();
  const auto covariance = q.covariance();
  for (std::size_t k = 0; k < m; ++k) {
    double first = 0.0;
    for (std::size_t i = 0; i < n; ++i) first += (sample[i * m + k] - mean[k]) / n;
    EXPECT_NEAR(first, 0.0, 5.0 * std::sqrt(covariance(k, k) / n));
    for (std::size_t l = 0; l <= k; ++l) {
      double product = 0.0, square = 0.0;
      for (std::size_t i = 0; i < n; ++i) {
        const double value = (sample[i * m + k] - mean[k]) * (sample[i * m + l] - mean[l]);
        product += value / n;
        square += value * value / n;
      }
      EXPECT_NEAR(product, covariance(k, l), 5.0 * std::sqrt((square - product * product) / n));
    }
  }
}

TEST(gaussian_mixture_test, the_same_seed_gives_the_same_draws) {
  const auto q = random_mixture(3, 2, 1);
  DrawStream a(9), b(9), c(10);
  EXPECT_EQ(q.sample(100, a), q.sample(100, b));
  EXPECT_NE(q.sample(100, b), q.sample(100, c));
}

TEST(gaussian_mixture_test, a_weight_below_the_smallest_double_still_rules_its_own_tail) {
  // Weights 1 and e^-2000, 1000 SDs apart: at the second mean the first component has log density -500000.
  const auto q = GaussianMixture::from_factors({0.0, -2000.0}, {0.0, 1000.0}, {1.0, 1.0});
  EXPECT_EQ(q.weight(1), 0.0);
  EXPECT_NEAR(q.log_density(std::vector<double>{1000.0}), -2000.0 - 0.91893853320467274, 1e-9);
}

TEST(gaussian_mixture_test, rescaling_to_raw_units_shifts_the_log_density_by_the_jacobian) {
  const auto q = random_mixture(4, 3, 2, 0.3);
  const std::vector<double> lo = {-0.5, 0.0, 40.0}, hi = {1.5, 1e-3, 120.0};
  const auto raw = q.rescaled(lo, hi);
  const double jacobian = std::log(2.0) + std::log(1e-3) + std::log(80.0);
  DrawStream draws(4);
  for (int i = 0; i < 50; ++i) {
    std::vector<double> s(3), theta(3);
    for (std::size_t k = 0; k < 3; ++k) {
      s[k] = draws.normal();
      theta[k] = lo[k] + (hi[k] - lo[k]) * s[k];
    }
    EXPECT_NEAR(raw.log_density(theta), q.log_density(s) - jacobian, 1e-9);
    EXPECT_NEAR(raw.unscaled(lo, hi).log_density(s), q.log_density(s), 1e-9);
  }
  EXPECT_NEAR(raw.correlation()(0, 2), q.correlation()(0, 2), 1e-12);
  EXPECT_THROW(q.rescaled(hi, lo), Error);
}

}  // namespace
}  // namespace penn
