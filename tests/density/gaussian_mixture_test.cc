// The value itself: free vector and back, density, sampling, moments, change of units, 1-D laws.
#include "penn/density/gaussian_mixture.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "density/brute_force.h"
#include "penn/base/error.h"

namespace penn {
namespace {

using namespace brute_force;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// ln q straight from the paper's index formulas (1-based), with no shared code and no log-sum-exp.
double paper_log_density(const std::vector<double>& y, int N, int M, const std::vector<double>& theta, bool full) {
  const auto at = [&](int i) { return y[static_cast<std::size_t>(i - 1)]; };
  double weights = 0.0, q = 0.0;
  for (int j = 1; j <= N; ++j) weights += std::exp(at(j));
  for (int j = 1; j <= N; ++j) {
    double density = std::exp(at(j)) / weights / std::pow(2.0 * std::numbers::pi, M / 2.0), square = 0.0;
    for (int k = 1; k <= M; ++k) {
      double row = 0.0;
      for (int l = k; l <= M; ++l) {
        int r = l - k;
        for (int i = 1; i < k; ++i) r += M - i;
        const double u = l == k ? std::log(1.0 + std::exp(at(N + M * N + (j - 1) * M + k)))
                         : full ? at(N + 2 * M * N + (j - 1) * M * (M - 1) / 2 + r)
                                : 0.0;
        if (l == k) density *= u;
        row += u * (theta[static_cast<std::size_t>(l - 1)] - at(N + (j - 1) * M + l));
      }
      square += row * row;
    }
    q += density * std::exp(-square / 2.0);
  }
  return std::log(q);
}

TEST(gaussian_mixture_test, free_vector_has_the_order_of_the_paper) {
  for (const auto& [N, M] : {std::pair{1, 1}, {4, 1}, {1, 3}, {3, 2}, {10, 5}})
    for (CovarianceKind kind : {CovarianceKind::kFull, CovarianceKind::kDiagonal}) {
      DrawStream draws(static_cast<std::uint64_t>(100 * N + M));
      std::vector<double> y(GaussianMixture::free_size(static_cast<std::size_t>(N), static_cast<std::size_t>(M), kind));
      for (double& v : y) v = draws.normal();
      const auto q =
          GaussianMixture::from_free_vector(y, static_cast<std::size_t>(N), static_cast<std::size_t>(M), kind);
      for (int i = 0; i < 20; ++i) {
        std::vector<double> theta(static_cast<std::size_t>(M));
        for (double& v : theta) v = draws.normal();
        EXPECT_NEAR(q.log_density(theta), paper_log_density(y, N, M, theta, kind == CovarianceKind::kFull), 1e-11);
      }
    }
  EXPECT_EQ(GaussianMixture::free_size(10, 5, CovarianceKind::kFull), 10u * (1 + 5 * 8 / 2));
}

TEST(gaussian_mixture_test, free_vector_round_trip_is_the_identity_up_to_the_logit_convention) {
  for (CovarianceKind kind : {CovarianceKind::kFull, CovarianceKind::kDiagonal}) {
    DrawStream draws(5);
    const std::size_t n = 3, m = 4;
    std::vector<double> y(GaussianMixture::free_size(n, m, kind));
    for (double& v : y) v = 10.0 * draws.normal();
    y[n + n * m] = -60.0;      // softplus 1e-26
    y[n + n * m + 1] = 700.0;  // exp overflows, softplus must not
    const auto q = GaussianMixture::from_free_vector(y, n, m, kind);
    const std::vector<double> back = q.free_vector(kind);
    ASSERT_EQ(back.size(), y.size());
    for (std::size_t i = n; i < y.size(); ++i) EXPECT_NEAR(back[i], y[i], 1e-12 * std::max(1.0, std::fabs(y[i]))) << i;
    for (std::size_t j = 0; j < n; ++j) {
      EXPECT_NEAR(back[j] - back[0], y[j] - y[0], 1e-11);
      EXPECT_NEAR(back[j], std::log(q.weight(j)), 1e-11);
    }
    const auto again = GaussianMixture::from_free_vector(back, n, m, kind).free_vector(kind);
    for (std::size_t i = 0; i < y.size(); ++i)
      EXPECT_NEAR(again[i], back[i], 1e-12 * std::max(1.0, std::fabs(back[i])));
  }
}

TEST(gaussian_mixture_test, least_precision_is_added_in_every_direction) {
  DrawStream draws(6);
  const std::vector<double> least = {0.25, 1, 2, 0.5, 0.25};
  const std::size_t n = 2, m = 5;
  std::vector<double> y(GaussianMixture::free_size(n, m, CovarianceKind::kFull));
  for (double& v : y) v = 2 * draws.normal();
  const auto free = GaussianMixture::from_free_vector(y, n, m, CovarianceKind::kFull), held = GaussianMixture::from_free_vector(y, n, m, CovarianceKind::kFull, least);
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t k = 0; k < m; ++k)
      for (std::size_t l = 0; l < m; ++l) {
        double before = 0, after = 0;
        for (std::size_t i = 0; i < m; ++i) before += free.factor(j)[i * m + k] * free.factor(j)[i * m + l], after += held.factor(j)[i * m + k] * held.factor(j)[i * m + l];
        EXPECT_NEAR(after - before, k == l ? least[k] : 0, 1e-11);
      }
  for (std::size_t k = 0; k < m; ++k) EXPECT_EQ(free.component_mean(1)[k], held.component_mean(1)[k]);
}

TEST(gaussian_mixture_test, any_finite_free_vector_gives_finite_numbers) {
  const double extremes[] = {0.0, 1.0, -1.0, 800.0, -800.0, 1e10, -1e10, 3e38, -3e38, 1e308, -1e308};
  DrawStream draws(11);
  const std::vector<double> least(3, 0.25);
  for (int trial = 0; trial < 3000; ++trial) {
    const std::size_t n = 1 + draws.bits() % 3, m = 1 + draws.bits() % 3;
    std::vector<double> y(GaussianMixture::free_size(n, m, CovarianceKind::kFull));
    for (double& v : y) v = extremes[draws.bits() % std::size(extremes)];
    const auto q = GaussianMixture::from_free_vector(y, n, m, CovarianceKind::kFull, std::span(least.data(), trial % 2 ? m : 0));
    double total = 0.0;
    for (std::size_t j = 0; j < n; ++j) total += q.weight(j);
    ASSERT_NEAR(total, 1.0, 1e-12);
    ASSERT_TRUE(std::isfinite(q.log_density(std::vector<double>(m, 0.5))));
    for (double v : q.mean()) ASSERT_TRUE(std::isfinite(v));
    for (double v : q.free_vector(CovarianceKind::kFull)) ASSERT_TRUE(std::isfinite(v));
  }
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
  const auto full = CovarianceKind::kFull;
  EXPECT_EQ(message([&] { GaussianMixture::from_free_vector(std::vector<double>(5), 1, 2, full); }),
            "free vector has 5 entries, a full mixture of 1 components in 2 dimensions needs 6");
  EXPECT_EQ(message([&] {
              GaussianMixture::from_free_vector(std::vector<double>{0, 0, kInfinity}, 1, 1, full);
            }),
            "entry 2 of the free vector is not finite");
  EXPECT_EQ(message([&] { GaussianMixture::from_free_vector(std::vector<double>{}, 0, 1, full); }),
            "a mixture of 0 components in 1 dimensions");
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
  EXPECT_EQ(message([&] { single_2d().free_vector(CovarianceKind::kDiagonal); }), "component 1 is not diagonal");
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
