// Mass in a box and truncation, against quadrature, closed forms and a million draws.
#include "penn/posterior/mixture_box.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "penn/base/error.h"
#include "penn/posterior/normal.h"
#include "penn/posterior/truncated_mixture.h"
#include "posterior/brute_force.h"

namespace penn {
namespace {

using namespace brute_force;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(mixture_box_test, one_dimension_is_exact) {
  const auto q = GaussianMixture::from_covariances({0.4, 0.6}, {{-1}, {2}}, {matrix(1, {1}), matrix(1, {0.25})});
  const auto inside = box_mass(q, {{-0.5}, {2.2}});
  EXPECT_NEAR(inside.mass(), q.marginal_1d(0).mass(-0.5, 2.2), 1e-14);
  EXPECT_EQ(inside.error, 0.0);
}

TEST(mixture_box_test, two_dimensions_match_quadrature) {
  struct Case {
    GaussianMixture q;
    Box box;
  };
  const Case cases[] = {
      {overlapping_2d(), {{-0.5, 0.0}, {1.2, 1.5}}},
      {single_2d(), {{0.0, 0.0}, {1.0, 3.0}}},
      {single_2d(), {{1.5, 1.0}, {2.0, 4.0}}},  // 3 SDs out, against the correlation: 1e-6 of the mass
      {separated_2d(), {{-251.0, 0.0}, {250.0, 1.0}}}};
  for (const Case& c : cases) {
    BoxOptions options;
    options.relative_error = 1e-4;
    options.max_points = 65536;
    const auto inside = box_mass(c.q, c.box, options);
    // Per component in its own window, or a narrow component (SD 0.01) would fall between the cells.
    double mass = 0.0;
    for (std::size_t j = 0; j < c.q.components(); ++j) {
      const auto mu = c.q.component_mean(j);
      const auto sigma = c.q.component_covariance(j);
      const double sx = std::sqrt(sigma(0, 0)), sy = std::sqrt(sigma(1, 1)), rho = sigma(0, 1) / sx / sy;
      const double xlo = std::max(c.box.lo[0], mu[0] - 9 * sx), xhi = std::min(c.box.hi[0], mu[0] + 9 * sx);
      if (xlo >= xhi) continue;
      mass += c.q.weight(j) * integral_2d(xlo, xhi, c.box.lo[1], c.box.hi[1], 1000, [&](double x, double y) {
                return normal_2d(x, y, mu[0], mu[1], sx, sy, rho);
              });
    }
    EXPECT_LE(inside.error, 1e-4);
    EXPECT_NEAR(inside.mass() / mass, 1.0, 5e-4);
  }
}

TEST(mixture_box_test, nearly_singular_component_matches_the_one_dimensional_answer) {
  // Correlation 1 - 1e-10: y = x to 1e-5, so the box [a, b] x [c, d] holds the mass of [max(a, c), min(b, d)].
  const auto q = GaussianMixture::from_covariances({1.0}, {{0, 0}}, {covariance_2d(1, 1, 1 - 1e-10)});
  const auto inside = box_mass(q, {{-1.0, -0.3}, {0.5, 2.0}});
  EXPECT_NEAR(inside.mass(), normal_cdf(0.5) - normal_cdf(-0.3), 1e-3);
  EXPECT_LT(inside.error, 2e-3);
}

TEST(mixture_box_test, orthant_of_equally_correlated_normals_is_one_over_m_plus_one) {
  // Correlation 1/2 in M dimensions: P(all positive) = 1 / (M + 1), up to M = 12.
  for (std::size_t m : {2, 5, 12}) {
    DenseMatrix sigma(m, m);
    for (std::size_t r = 0; r < m; ++r)
      for (std::size_t c = 0; c < m; ++c) sigma(r, c) = r == c ? 1.0 : 0.5;
    const auto q = GaussianMixture::from_covariances({1.0}, {std::vector<double>(m, 0.0)}, {sigma});
    const auto inside = box_mass(q, {std::vector<double>(m, 0.0), std::vector<double>(m, kInfinity)});
    const double truth = 1.0 / static_cast<double>(m + 1);
    EXPECT_NEAR(inside.mass() / truth, 1.0, std::max(5 * inside.error, 1e-4)) << m;
    EXPECT_LT(inside.error, 5e-3) << m;
  }
}

TEST(mixture_box_test, stated_error_covers_the_true_error) {
  // 200 seeds, 512 points, 2-D orthant with correlation -0.9: P = 1/4 + asin(rho) / (2 pi). Sixteen shifts give a t
  // distribution with 15 degrees of freedom: |t| > 2.95 with probability 1 %, so 8 or more of 200 have probability
  // below 0.1 %.
  const auto q = GaussianMixture::from_covariances({1.0}, {{0, 0}}, {covariance_2d(1, 1, -0.9)});
  const double truth = 0.25 + std::asin(-0.9) / (2 * std::numbers::pi);
  int outside = 0;
  double total = 0.0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    BoxOptions options;
    options.max_points = 512;
    options.relative_error = 0.0;
    options.seed = seed;
    const auto inside = box_mass(q, {{0, 0}, {kInfinity, kInfinity}}, options);
    outside += std::fabs(inside.mass() / truth - 1.0) > 2.95 * inside.error ? 1 : 0;
    total += inside.mass() / 200;
  }
  EXPECT_LT(outside, 8);
  EXPECT_NEAR(total / truth, 1.0, 1e-3);
}

TEST(mixture_box_test, diagonal_components_are_exact_products) {
  const std::size_t m = 6;
  DenseMatrix sigma = identity_matrix(m);
  const auto q = GaussianMixture::from_covariances({1.0}, {std::vector<double>(m, 0.3)}, {sigma});
  const auto inside = box_mass(q, {std::vector<double>(m, 0.0), std::vector<double>(m, 1.0)});
  EXPECT_NEAR(inside.log_mass, m * std::log(normal_cdf(0.7) - normal_cdf(-0.3)), 1e-12);
  EXPECT_EQ(inside.error, 0.0);
}

TEST(mixture_box_test, a_million_draws_agree_in_five_dimensions) {
  // Standard error of the count at most 5e-4; of box_mass stated.
  const auto q = random_mixture(4, 5, 12, 1.0);
  const Box box{std::vector<double>(5, -1.5), {2.0, 1.5, 1.8, 2.5, 1.0}};
  const auto inside = box_mass(q, box);
  BoxOptions options;
  options.max_points = 65536;
  const auto moments = box_moments(q, box, options);
  DrawStream draws(1);
  const std::size_t n = 1000000;
  const auto sample = q.sample(n, draws);
  double fraction = 0.0, mean0 = 0.0, product = 0.0;
  for (std::size_t i = 0; i < n; ++i)
    if (box.contains({&sample[5 * i], 5})) {
      fraction += 1.0;
      mean0 += sample[5 * i];
      product += (sample[5 * i] - moments.mean[0]) * (sample[5 * i + 1] - moments.mean[1]);
    }
  EXPECT_GT(fraction, 0.01 * n);
  EXPECT_NEAR(inside.mass(), fraction / n, 4 * 5e-4);
  // Moments in the box, with k = fraction draws: standard errors sd / sqrt(k), and sd0 sd1 / sqrt(k) for the
  // covariance.
  const double sd0 = std::sqrt(moments.covariance(0, 0)), sd1 = std::sqrt(moments.covariance(1, 1));
  EXPECT_LE(moments.mean_error[0], 1e-3 * sd0);
  EXPECT_NEAR(moments.mean[0], mean0 / fraction, 5 * std::hypot(sd0 / std::sqrt(fraction), moments.mean_error[0]));
  EXPECT_NEAR(moments.covariance(0, 1), product / fraction, sd0 * sd1 * (5 / std::sqrt(fraction) + 5e-3));
}

TEST(mixture_box_test, far_boxes_have_a_finite_log_mass) {
  const auto q = GaussianMixture::from_covariances({1.0}, {{0, 0}}, {covariance_2d(1, 1, 0)});
  const auto inside = box_mass(q, {{100, 100}, {101, 101}});
  EXPECT_NEAR(inside.log_mass, 2 * log_normal_interval(100, 101), 1e-9);
  EXPECT_EQ(inside.mass(), 0.0);
  const auto correlated = GaussianMixture::from_covariances({1.0}, {{0, 0}}, {covariance_2d(1, 1, 0.5)});
  // Leading order at the corner c = (100, 100): -c^T S^-1 c / 2 = -1e4 / 1.5, less some logarithms.
  EXPECT_NEAR(box_mass(correlated, {{100, 100}, {101, 101}}).log_mass, -1e4 / 1.5 - 10.0, 5.0);
}

TEST(mixture_box_test, bad_boxes_are_refused) {
  EXPECT_THROW(box_mass(single_2d(), {{0}, {1}}), Error);
  EXPECT_THROW(box_mass(single_2d(), {{0, 1}, {1, 1}}), Error);
  EXPECT_THROW(box_mass(single_2d(), {{0, std::nan("")}, {1, 1}}), Error);
}

// ---- truncation ----

TEST(truncated_mixture_test, density_integrates_to_one_in_the_box_and_moments_match) {
  const auto q = overlapping_2d();
  const Box box{{-0.5, 0.0}, {1.2, 1.5}};
  BoxOptions options;
  options.relative_error = 1e-4;
  options.max_points = 65536;
  const TruncatedMixture cut(q, box, options);
  const auto p = [&](double x, double y) { return std::exp(cut.log_density(std::vector<double>{x, y})); };
  EXPECT_NEAR(integral_2d(-0.5, 1.2, 0.0, 1.5, 400, p), 1.0, 5e-4);
  const double mx = integral_2d(-0.5, 1.2, 0.0, 1.5, 400, [&](double x, double y) { return x * p(x, y); });
  const double my = integral_2d(-0.5, 1.2, 0.0, 1.5, 400, [&](double x, double y) { return y * p(x, y); });
  const double xy =
      integral_2d(-0.5, 1.2, 0.0, 1.5, 400, [&](double x, double y) { return (x - mx) * (y - my) * p(x, y); });
  const BoxMoments moments = cut.moments(options);
  EXPECT_NEAR(moments.mean[0], mx, 5 * moments.mean_error[0] + 1e-5);  // 1e-5: the quadrature's own error
  EXPECT_NEAR(moments.mean[1], my, 5 * moments.mean_error[1] + 1e-5);
  EXPECT_LT(moments.mean_error[0], 2e-4);
  EXPECT_NEAR(moments.covariance(0, 1), xy, 2e-4);
  EXPECT_EQ(cut.log_density(std::vector<double>{1.3, 1.0}), -kInfinity);

  // 100,000 draws: SD 0.45, standard error 1.4e-3; all by rejection here.
  DrawStream draws(2);
  const auto sample = cut.sample(100000, draws);
  EXPECT_EQ(sample.approximate, 0u);
  double mean = 0.0;
  for (std::size_t i = 0; i < 100000; ++i) {
    ASSERT_TRUE(box.contains({&sample.theta[2 * i], 2}));
    mean += sample.theta[2 * i] / 100000;
  }
  EXPECT_NEAR(mean, mx, 4 * 1.4e-3 + 5e-4);
}

TEST(truncated_mixture_test, draws_in_a_far_corner_are_bounded_work_and_have_the_right_distribution) {
  // The box holds 6e-9 of the mass: plain rejection would need 2e8 tries per draw. Quadrature gives the moments.
  const auto q = GaussianMixture::from_covariances({1.0}, {{0, 0}}, {covariance_2d(1, 1, -0.5)});
  const Box box{{2.5, 2.5}, {4.0, 6.0}};
  const TruncatedMixture cut(q, box);
  double mass = 0.0, mx = 0.0, xx = 0.0, xy = 0.0, my = 0.0;
  integral_2d(2.5, 4.0, 2.5, 6.0, 1000, [&](double x, double y) {
    const double p = normal_2d(x, y, 0, 0, 1, 1, -0.5) * 1.5e-3 * 3.5e-3;
    mass += p, mx += p * x, my += p * y, xx += p * x * x, xy += p * x * y;
    return 0.0;
  });
  mx /= mass, my /= mass;
  EXPECT_LT(mass, 1e-7);
  EXPECT_NEAR(cut.mass() / mass, 1.0, 5e-3);
  DrawStream draws(3);
  const std::size_t n = 8000;
  const auto sample = cut.sample(n, draws);
  EXPECT_EQ(sample.approximate, n);
  double sx = 0.0, sxx = 0.0, sxy = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    ASSERT_TRUE(box.contains({&sample.theta[2 * i], 2}));
    sx += sample.theta[2 * i] / n;
    sxx += (sample.theta[2 * i] - mx) * (sample.theta[2 * i] - mx) / n;
    sxy += (sample.theta[2 * i] - mx) * (sample.theta[2 * i + 1] - my) / n;
  }
  const double variance = xx / mass - mx * mx;
  EXPECT_NEAR(sx, mx, 5 * std::sqrt(variance / n));
  EXPECT_NEAR(sxx / variance, 1.0, 0.1);  // nearly exponential: relative standard error sqrt(8 / n) = 0.03
  EXPECT_NEAR(sxy, xy / mass - mx * my, 5 * variance / std::sqrt(n));
}

TEST(truncated_mixture_test, resampled_draws_match_rejection_where_gibbs_alone_would_be_too_slow) {
  // Four coordinates with correlation 0.95 above 1.8: proposals carry very unequal weights, and a Gibbs sweep moves
  // only a fraction of the width. Reference: a million plain draws, of which about 1.5 % fall into the box.
  DenseMatrix sigma(4, 4);
  for (std::size_t r = 0; r < 4; ++r)
    for (std::size_t c = 0; c < 4; ++c) sigma(r, c) = r == c ? 1.0 : 0.95;
  const auto q = GaussianMixture::from_covariances({1.0}, {std::vector<double>(4, 0.0)}, {sigma});
  const Box box{std::vector<double>(4, 1.8), std::vector<double>(4, 6.0)};
  const auto mean_and_variance = [](const std::vector<double>& values) {
    double mean = 0.0, square = 0.0;
    for (double v : values) mean += v / static_cast<double>(values.size());
    for (double v : values) square += (v - mean) * (v - mean) / static_cast<double>(values.size());
    return std::pair{mean, square};
  };
  DrawStream draws(4);
  const auto plain = q.sample(1000000, draws);
  std::vector<double> accepted, resampled;  // the mean of the four coordinates
  for (std::size_t i = 0; i < 1000000; ++i)
    if (box.contains({&plain[4 * i], 4}))
      accepted.push_back((plain[4 * i] + plain[4 * i + 1] + plain[4 * i + 2] + plain[4 * i + 3]) / 4);
  const auto sample = TruncatedMixture(q, box).sample(4000, draws);
  EXPECT_EQ(sample.approximate, 4000u);
  for (std::size_t i = 0; i < 4000; ++i)
    resampled.push_back(
        (sample.theta[4 * i] + sample.theta[4 * i + 1] + sample.theta[4 * i + 2] + sample.theta[4 * i + 3]) / 4);
  const auto [mean, variance] = mean_and_variance(accepted);
  const auto [mean2, variance2] = mean_and_variance(resampled);
  EXPECT_NEAR(mean2, mean, 4 * std::sqrt(variance / 4000 + variance / static_cast<double>(accepted.size())));
  EXPECT_NEAR(variance2 / variance, 1.0, 4 * std::sqrt(8.0 / 4000 + 8.0 / static_cast<double>(accepted.size())));
}

TEST(truncated_mixture_test, a_component_outside_gives_its_weight_to_those_inside) {
  const auto unit = covariance_2d(0.1, 0.1, 0.3);
  const auto q = GaussianMixture::from_covariances({0.9, 0.1}, {{50, 50}, {0.5, 0.5}}, {unit, unit});
  const TruncatedMixture cut(q, {{0, 0}, {1, 1}});
  EXPECT_NEAR(cut.mass(), 0.1, 1e-5);
  EXPECT_NEAR(cut.moments().mean[0], 0.5, 5e-4);  // 5 errors of 1e-3 SDs
  DrawStream draws(1);
  for (double v : cut.sample(1000, draws).theta) EXPECT_TRUE(v >= 0.0 && v <= 1.0);
}

TEST(truncated_mixture_test, extreme_distance_gives_draws_or_an_error_but_never_hangs) {
  const auto q = GaussianMixture::from_covariances({1.0}, {{1e4, -1e4}}, {covariance_2d(1, 1, 0.9)});
  const TruncatedMixture cut(q, {{0, 0}, {1, 1}});
  DrawStream draws(1);
  for (double v : cut.sample(200, draws).theta) EXPECT_TRUE(v >= 0.0 && v <= 1.0);
  const auto lost = GaussianMixture::from_factors({0.0}, {1e200}, {1.0});
  EXPECT_THROW(TruncatedMixture(lost, {{0.0}, {1.0}}), Error);
}

}  // namespace
}  // namespace penn
