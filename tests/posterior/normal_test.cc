#include "penn/posterior/normal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "penn/posterior/draw_stream.h"
#include "posterior/brute_force.h"

namespace penn {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(normal_test, cdf_has_the_tabulated_values) {
  EXPECT_NEAR(normal_cdf(0.0), 0.5, 1e-16);
  EXPECT_NEAR(normal_cdf(1.0), 0.84134474606854293, 1e-15);
  EXPECT_NEAR(normal_cdf(-3.0) / 0.0013498980316300946, 1.0, 1e-14);
  EXPECT_NEAR(normal_cdf(-10.0) / 7.6198530241605261e-24, 1.0, 1e-13);
}

TEST(normal_test, log_cdf_joins_its_branches_and_follows_the_tail_bounds) {
  for (double z : {1.0, -36.0}) {  // where the formula changes
    const double below = log_normal_cdf(z * (1.0 - 1e-12)), above = log_normal_cdf(z * (1.0 + 1e-12));
    EXPECT_NEAR(below, above, 1e-11 * std::fabs(above) + 1e-12);
  }
  for (double z : {-5.0, -20.0, -40.0, -1e3, -1e6, -1e100}) {
    // Mills ratio bounds for x = -z > 0: x / (1 + x^2) < Q(x) / phi(x) < 1 / x.
    const double log_phi = -0.5 * z * z - kHalfLogTwoPi;
    const double slack = 1e-14 * std::fabs(log_phi);
    EXPECT_LE(log_normal_cdf(z), log_phi - std::log(-z) + slack) << z;
    EXPECT_GE(log_normal_cdf(z), log_phi + std::log(-1.0 / (z + 1.0 / z)) - slack) << z;
  }
  EXPECT_NEAR(log_normal_cdf(9.0) / -1.1285884059538324e-19, 1.0, 1e-10);
}

TEST(normal_test, quantile_inverts_the_cdf_from_1e_minus_300_to_the_upper_tail) {
  for (double z = -37.0; z <= 5.0; z += 0.37) {
    const double p = normal_cdf(z);
    // An ulp of p above one half is worth 1e-16 / density in z.
    EXPECT_NEAR(normal_quantile(p), z, 1e-12 * std::max(1.0, std::fabs(z)) + (z > 0 ? 2e-16 / normal_density(z) : 0.0));
  }
  EXPECT_EQ(normal_quantile(0.5), 0.0);
  EXPECT_EQ(normal_quantile(0.0), -kInfinity);
  EXPECT_EQ(normal_quantile(1.0), kInfinity);
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-14);
}

TEST(normal_test, quantile_from_log_reaches_any_tail) {
  for (double z : {-0.5, -8.0, -37.5, -50.0, -1e3, -1e5, -1e8})
    EXPECT_NEAR(normal_quantile_from_log(log_normal_cdf(z)) / z, 1.0, 1e-12) << z;
}

TEST(normal_test, interval_mass_matches_quadrature_also_in_the_tails) {
  const double cases[][2] = {{-1.0, 2.0}, {0.5, 0.7}, {-8.0, -7.5}, {7.5, 8.0}, {20.0, 21.0}, {3.0, 3.0 + 1e-9}};
  for (const auto& [a, b] : cases) {
    const double reference = brute_force::integral(a, b, 20000, [](double z) { return normal_density(z); });
    EXPECT_NEAR(log_normal_interval(a, b), std::log(reference), 1e-6) << a << " " << b;
  }
  EXPECT_NEAR(log_normal_interval(-kInfinity, 0.0), std::log(0.5), 1e-15);
  EXPECT_EQ(log_normal_interval(-kInfinity, kInfinity), 0.0);
  EXPECT_EQ(log_normal_interval(1.0, 1.0), -kInfinity);
  // 100 SDs out the mass is e^-5005: the plain cdf is 0, the logarithm is not.
  EXPECT_NEAR(log_normal_interval(100.0, 101.0), -0.5 * 1e4 - kHalfLogTwoPi - std::log(100.0), 1e-3);
}

TEST(normal_test, interval_quantile_leaves_the_fraction_to_its_left) {
  const double cases[][2] = {{-1.0, 2.0},  {0.5, 0.7},   {-8.0, -7.0},        {7.0, 8.0},       {-kInfinity, -1.0},
                             {35.0, 36.0}, {60.0, 61.0}, {-kInfinity, -60.0}, {-2.0, kInfinity}};
  for (const auto& [a, b] : cases)
    for (double u : {1e-6, 0.1, 0.5, 0.9, 0.999}) {
      const double z = normal_interval_quantile(a, b, u);
      EXPECT_GE(z, a);
      EXPECT_LE(z, b);
      EXPECT_NEAR(std::exp(log_normal_interval(a, z) - log_normal_interval(a, b)), u, 1e-8)
          << a << " " << b << " " << u;
    }
}

TEST(normal_test, log_sum_exp_survives_huge_and_absent_terms) {
  EXPECT_NEAR(log_sum_exp(std::vector<double>{1e6, 1e6}), 1e6 + std::log(2.0), 1e-9);
  EXPECT_EQ(log_sum_exp(std::vector<double>{-kInfinity, 3.0}), 3.0);
  EXPECT_EQ(log_sum_exp(std::vector<double>{-kInfinity, -kInfinity}), -kInfinity);
}

TEST(normal_test, draw_stream_is_uniform_and_normal) {
  // 1e6 draws: standard errors 2.9e-4 (uniform mean), 1e-3 (normal mean), 1.4e-3 (variance), 4.9e-3 (4th moment / 2).
  DrawStream draws(7);
  const int n = 1000000;
  double uniform = 0.0, first = 0.0, second = 0.0, fourth = 0.0;
  for (int i = 0; i < n; ++i) {
    uniform += draws.uniform() / n;
    const double z = draws.normal();
    first += z / n;
    second += z * z / n;
    fourth += z * z * z * z / n;
  }
  EXPECT_NEAR(uniform, 0.5, 4 * 2.9e-4);
  EXPECT_NEAR(first, 0.0, 4e-3);
  EXPECT_NEAR(second, 1.0, 4 * 1.4e-3);
  EXPECT_NEAR(fourth, 3.0, 4 * 9.8e-3);
  DrawStream same(7), other(8);
  EXPECT_NE(same.bits(), other.bits());
}

}  // namespace
}  // namespace penn
