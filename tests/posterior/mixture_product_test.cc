// Products of posteriors and reduction to fewer components.
#include "penn/posterior/mixture_product.h"

#include <gtest/gtest.h>

#include <cmath>

#include "penn/base/error.h"
#include "penn/posterior/mixture_measures.h"
#include "penn/posterior/mixture_reduce.h"
#include "penn/posterior/truncated_mixture.h"
#include "posterior/brute_force.h"

namespace penn {
namespace {

using namespace brute_force;

TEST(mixture_product_test, product_of_two_is_pointwise_and_its_integral_matches_quadrature) {
  const auto a = overlapping_2d(), b = random_mixture(4, 2, 50, 1.0);
  double log_integral = 0.0;
  const auto product = multiply_mixtures(a, b, &log_integral);
  EXPECT_EQ(product.components(), 12u);
  const double reference = integral_2d(-12, 12, -12, 12, 800, [&](double x, double y) {
    const std::vector<double> theta = {x, y};
    return std::exp(a.log_density(theta) + b.log_density(theta));
  });
  EXPECT_NEAR(log_integral, std::log(reference), 1e-9);
  DrawStream draws(1);
  for (int i = 0; i < 50; ++i) {
    const std::vector<double> theta = {draws.normal(), draws.normal()};
    EXPECT_NEAR(product.log_density(theta) + log_integral, a.log_density(theta) + b.log_density(theta), 1e-10);
  }
}

TEST(mixture_product_test, a_sharp_and_a_flat_component_keep_both_their_digits) {
  // Precision 1e16 in x + y from one, 1 in everything from the other, means 1e4 from the origin.
  const auto ridge = GaussianMixture::from_factors({0.0}, {1e4, 1e4}, {1e8, 1e8, 0.0, 1.0});
  const auto flat = GaussianMixture::from_factors({0.0}, {1e4 + 1.0, 1e4 - 1.0}, {1.0, 0.0, 0.0, 1.0});
  double log_integral = 0.0;
  const auto product = multiply_mixtures(ridge, flat, &log_integral);
  // Minimise |y|^2 + |x - 1|^2 + |y + 1|^2 on x = -y (offsets from 1e4): y = -2/3; curvature along the ridge 3.
  EXPECT_NEAR(product.mean()[1], 1e4 - 2.0 / 3.0, 1e-6);
  EXPECT_NEAR(product.mean()[0], 1e4 + 2.0 / 3.0, 1e-6);
  EXPECT_NEAR(product.covariance()(1, 1), 1.0 / 3.0, 1e-8);
}

TEST(mixture_product_test, the_prior_counts_once_fifty_normals_make_the_known_posterior) {
  // 50 observations y_i ~ N(theta, 1), flat prior in [-50, 50]: each posterior is N(y_i, 1), together N(mean y, 1/50).
  std::vector<GaussianMixture> posteriors;
  DrawStream draws(8);
  double mean = 0.0;
  for (int i = 0; i < 50; ++i) {
    const double y = 2.0 + draws.normal();
    mean += y / 50;
    posteriors.push_back(GaussianMixture::from_factors({0.0}, {y}, {1.0}));
  }
  const ProductDensity product(posteriors, {{-50.0}, {50.0}});
  const auto result = multiply_posteriors(product);
  EXPECT_NEAR(result.mixture.mean()[0], mean, 1e-12);
  EXPECT_NEAR(result.mixture.covariance()(0, 0), 1.0 / 50, 1e-14);
  EXPECT_NEAR(result.divergence, 0.0, 1e-9);
  // The normaliser of the exact product is the agreement.
  const double integral_of_product =
      integral(0.0, 4.0, 4000, [&](double t) { return std::exp(product.log_density(std::vector<double>{t})); });
  EXPECT_NEAR(std::log(integral_of_product), result.log_agreement, 1e-9);
  EXPECT_EQ(product.log_density(std::vector<double>{51.0}), -INFINITY);
}

TEST(mixture_product_test, reduced_products_stay_close_to_the_exact_density_and_say_how_close) {
  std::vector<GaussianMixture> posteriors;
  for (std::uint64_t i = 0; i < 4; ++i) posteriors.push_back(random_mixture(8, 3, 600 + i, 0.6));
  const ProductDensity product(posteriors, {{-10, -10, -10}, {10, 10, 10}});
  const auto result = multiply_posteriors(product);
  EXPECT_LE(result.mixture.components(), 40u);
  EXPECT_GT(result.merges, 0u);
  EXPECT_LT(result.divergence, 0.05);
  // KL(mixture || exact), exact normalised by its agreement, is small, too.
  const auto kl = kl_divergence(
      result.mixture, [&](std::span<const double> t) { return product.log_density(t) - result.log_agreement; });
  EXPECT_LT(std::fabs(kl.value), 0.05);
  ProductOptions coarse;
  coarse.max_components = 1;
  EXPECT_GT(multiply_posteriors(product, coarse).divergence, result.divergence);
}

TEST(mixture_product_test, two_modes_times_two_shifted_modes_leave_the_common_one) {
  const auto narrow = matrix(1, {0.01});
  const auto a = GaussianMixture::from_covariances({0.5, 0.5}, {{0.2}, {0.8}}, {narrow, narrow});
  const auto b = GaussianMixture::from_covariances({0.5, 0.5}, {{0.8}, {1.6}}, {narrow, narrow});
  const auto result = multiply_posteriors(ProductDensity({a, b}, {{0.0}, {2.0}}));
  // Gaps 0.6, 1.4, 0 and 0.8 between the four pairs of means: weights exp(-gap^2 / 0.04), means half-way.
  const double e1 = std::exp(-9.0), e2 = std::exp(-49.0), e3 = std::exp(-16.0);
  EXPECT_NEAR(result.mixture.mean()[0], (0.5 * e1 + 0.9 * e2 + 0.8 + 1.2 * e3) / (e1 + e2 + 1.0 + e3), 1e-12);
  EXPECT_GT(result.log_agreement, -1.0);
}

TEST(mixture_product_test, contradicting_posteriors_show_in_the_agreement) {
  const auto a = GaussianMixture::from_factors({0.0}, {0.1}, {100.0});
  const auto b = GaussianMixture::from_factors({0.0}, {0.9}, {100.0});
  // Gap 0.8 against SD 0.01 sqrt(2): -0.8^2 / (4e-4) = -1600.
  EXPECT_NEAR(multiply_posteriors(ProductDensity({a, b}, {{0.0}, {1.0}})).log_agreement,
              -1600 + std::log(100 / std::sqrt(4 * std::numbers::pi)), 1e-6);
}

TEST(mixture_product_test, one_posterior_is_returned_as_it_is_and_bad_input_is_refused) {
  const auto q = overlapping_2d();
  const auto result = multiply_posteriors(ProductDensity({q}, {{-9, -9}, {9, 9}}));
  EXPECT_EQ(result.mixture.components(), 3u);
  EXPECT_EQ(result.log_agreement, 0.0);
  EXPECT_THROW(ProductDensity({}, {{0.0}, {1.0}}), Error);
  EXPECT_THROW(ProductDensity({q}, {{0.0}, {1.0}}), Error);
  EXPECT_THROW(ProductDensity({q}, {{0.0, 0.0}, {1.0, INFINITY}}), Error);
  EXPECT_THROW(ProductDensity({q, random_mixture(1, 3, 1)}, {{0.0, 0.0}, {1.0, 1.0}}), Error);
}

TEST(mixture_reduce_test, merging_keeps_mean_and_covariance_exactly) {
  const auto q = random_mixture(12, 4, 71, 1.0);
  for (std::size_t keep : {1u, 3u, 8u}) {
    const auto reduced = reduce_mixture(q, keep, 0.0);
    EXPECT_EQ(reduced.mixture.components(), keep);
    EXPECT_EQ(reduced.merges, 12u - keep);
    for (std::size_t k = 0; k < 4; ++k) {
      EXPECT_NEAR(reduced.mixture.mean()[k], q.mean()[k], 1e-12);
      for (std::size_t l = 0; l < 4; ++l) EXPECT_NEAR(reduced.mixture.covariance()(k, l), q.covariance()(k, l), 1e-11);
    }
    const auto kl = kl_divergence(q, reduced.mixture);
    EXPECT_LE(kl.value, reduced.divergence_bound + 4 * kl.error);
  }
}

TEST(mixture_reduce_test, equal_components_merge_for_nothing_and_light_ones_are_dropped) {
  const auto unit = covariance_2d(1, 1, 0.99999999);
  const auto q = GaussianMixture::from_covariances({0.5, 0.3, 0.2 - 1e-12, 1e-12}, {{0, 0}, {0, 0}, {9, 9}, {50, 0}},
                                                   {unit, unit, unit, unit});
  const auto reduced = reduce_mixture(q, 2);
  EXPECT_NEAR(reduced.dropped_weight, 1e-12, 1e-15);
  EXPECT_NEAR(reduced.divergence_bound, 0.0, 1e-8);
  EXPECT_NEAR(reduced.mixture.weight(0), 0.8, 1e-9);
  EXPECT_NEAR(kl_divergence(q, reduced.mixture).value, 0.0, 1e-6);
}

}  // namespace
}  // namespace penn
