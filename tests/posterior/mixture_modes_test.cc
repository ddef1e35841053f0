#include "penn/posterior/mixture_modes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "posterior/brute_force.h"

namespace penn {
namespace {

using namespace brute_force;

GaussianMixture line(const std::vector<double>& weights, const std::vector<double>& means,
                     const std::vector<double>& sds) {
  std::vector<double> log_weights, factors;
  for (double w : weights) log_weights.push_back(std::log(w));
  for (double s : sds) factors.push_back(1.0 / s);
  return GaussianMixture::from_factors(log_weights, means, factors);
}

TEST(mixture_modes_test, gradient_and_hessian_match_finite_differences) {
  const auto q = random_mixture(4, 3, 5, 1.0);
  const std::vector<double> theta = {0.2, -0.4, 0.3};
  const auto gradient = log_density_gradient(q, theta);
  const auto hessian = log_density_hessian(q, theta);
  const double h = 1e-5;  // truncation 1e-10, rounding 1e-11 of the gradient
  for (std::size_t k = 0; k < 3; ++k) {
    std::vector<double> up = theta, down = theta;
    up[k] += h;
    down[k] -= h;
    EXPECT_NEAR(gradient[k], (q.log_density(up) - q.log_density(down)) / (2 * h), 1e-8);
    const auto gu = log_density_gradient(q, up), gd = log_density_gradient(q, down);
    for (std::size_t l = 0; l < 3; ++l) EXPECT_NEAR(hessian(k, l), (gu[l] - gd[l]) / (2 * h), 1e-7);
  }
}

TEST(mixture_modes_test, a_single_component_has_its_mean_as_the_only_mode) {
  const auto modes = find_modes(single_2d());
  ASSERT_EQ(modes.size(), 1u);
  EXPECT_NEAR(modes[0].theta[0], 0.3, 1e-12);
  EXPECT_NEAR(modes[0].theta[1], -0.2, 1e-12);
  EXPECT_NEAR(modes[0].weight, 1.0, 1e-12);
  EXPECT_TRUE(std::isnan(modes[0].mass));
}

TEST(mixture_modes_test, two_equal_normals_have_one_mode_up_to_two_sds_and_two_beyond) {
  // The textbook condition for equal weights and SDs: bimodal exactly when |mu1 - mu2| > 2 sd.
  for (double gap : {0.5, 1.5, 1.98}) EXPECT_EQ(find_modes(line({1, 1}, {0, gap}, {1, 1})).size(), 1u) << gap;
  for (double gap : {2.02, 3.0, 50.0}) EXPECT_EQ(find_modes(line({1, 1}, {0, gap}, {1, 1})).size(), 2u) << gap;
}

TEST(mixture_modes_test, modes_are_the_local_maxima_of_a_fine_grid) {
  // 10 random mixtures of 5 components; 601 x 601 grid, step 0.02, strict maxima among 8 neighbours.
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto q = random_mixture(5, 2, 400 + seed, 1.5);
    const int n = 601;
    const double lo = -6.0, step = 0.02;
    std::vector<double> grid(static_cast<std::size_t>(n * n));
    const auto at = [&](int i, int k) -> double& { return grid[static_cast<std::size_t>(i * n + k)]; };
    for (int i = 0; i < n; ++i)
      for (int k = 0; k < n; ++k) at(i, k) = q.log_density(std::vector<double>{lo + i * step, lo + k * step});
    std::vector<std::vector<double>> peaks;
    for (int i = 1; i + 1 < n; ++i)
      for (int k = 1; k + 1 < n; ++k) {
        bool highest = true;
        for (int a = -1; a <= 1; ++a)
          for (int b = -1; b <= 1; ++b) highest &= (a == 0 && b == 0) || at(i, k) > at(i + a, k + b);
        if (highest) peaks.push_back({lo + i * step, lo + k * step});
      }
    const auto modes = find_modes(q);
    double total = 0.0;
    for (const Mode& mode : modes) total += mode.weight;
    EXPECT_NEAR(total, 1.0, 1e-12);
    ASSERT_EQ(modes.size(), peaks.size()) << "seed " << seed;
    for (const Mode& mode : modes) {
      double nearest = 1e9;
      for (const auto& p : peaks) nearest = std::min(nearest, std::hypot(p[0] - mode.theta[0], p[1] - mode.theta[1]));
      EXPECT_LT(nearest, 0.03) << "seed " << seed;
      for (double g : log_density_gradient(q, mode.theta)) EXPECT_NEAR(g, 0.0, 1e-6);
    }
  }
}

TEST(mixture_modes_test, a_start_on_a_saddle_is_pushed_off) {
  // A weak wide component exactly between two strong ones: its mean is a stationary point, but not a mode.
  const auto q = line({0.45, 0.45, 0.1}, {-2, 2, 0}, {1, 1, 3});
  const auto modes = find_modes(q);
  ASSERT_EQ(modes.size(), 2u);
  EXPECT_NEAR(modes[0].theta[0] + modes[1].theta[0], 0.0, 1e-6);
  EXPECT_NEAR(modes[0].weight + modes[1].weight, 1.0, 1e-12);
  // The same in two dimensions, rotated, where the ridge direction is not an axis.
  const auto round = covariance_2d(0.5, 0.5, 0.0);
  const auto two = GaussianMixture::from_covariances({0.4, 0.4, 0.2}, {{-1, -1}, {1, 1}, {0, 0}},
                                                     {round, round, covariance_2d(2, 2, 0)});
  EXPECT_EQ(find_modes(two).size(), 2u);
}

TEST(mixture_modes_test, widely_separated_and_nearly_singular_components_keep_their_modes) {
  const auto far = find_modes(separated_2d());
  ASSERT_EQ(far.size(), 2u);
  EXPECT_NEAR(far[0].theta[0], -250.0, 1e-9);
  EXPECT_NEAR(far[0].weight, 0.7, 1e-12);
  EXPECT_NEAR(far[1].theta[0], 250.0, 1e-9);
  // Two ridges of width 1e-3 that cross: the first along y = 2x with its mean on the crossing (0, 0), the second along
  // y = -x with its mean at (0.5, -0.5), where the first is 500 widths away. Two modes, the higher at the crossing.
  const auto crossed = find_modes(nearly_singular_2d());
  ASSERT_EQ(crossed.size(), 2u);
  EXPECT_NEAR(crossed[0].weight, 0.6, 1e-12);
  EXPECT_NEAR(crossed[0].theta[0], 0.0, 1e-3);
  EXPECT_NEAR(crossed[0].theta[1], 0.0, 1e-3);
  EXPECT_NEAR(crossed[1].theta[0], 0.5, 1e-6);
  EXPECT_NEAR(crossed[1].theta[1], -0.5, 1e-6);
}

TEST(mixture_modes_test, basin_mass_in_one_dimension_is_the_cdf_at_the_valley) {
  const auto q = line({0.6, 0.4}, {-1.5, 2.0}, {1.0, 0.7});
  const auto distribution = q.marginal_1d(0);
  double valley = 0.0, lowest = 1e9;
  for (double x = -1.5; x < 2.0; x += 1e-4)
    if (distribution.log_density(x) < lowest) lowest = distribution.log_density(x), valley = x;
  ModeOptions options;
  options.basin_draws = 4000;  // standard error 0.0078
  const auto modes = find_modes(q, options);
  ASSERT_EQ(modes.size(), 2u);
  EXPECT_NEAR(modes[0].mass, distribution.cdf(valley), 4 * 0.0078);
  EXPECT_NEAR(modes[0].mass + modes[1].mass, 1.0, 1e-12);
  EXPECT_NEAR(modes[0].mass_error, 0.0078, 2e-4);
}

TEST(mixture_modes_test, shallow_valleys_are_merged_on_request_and_deep_ones_kept) {
  const auto q = line({0.3, 0.3, 0.4}, {0.0, 2.2, 9.0}, {1, 1, 1});  // a ripple of 0.004 nats, then a deep valley
  EXPECT_EQ(find_modes(q).size(), 3u);
  ModeOptions options;
  options.merge_dip = 0.1;
  const auto modes = find_modes(q, options);
  ASSERT_EQ(modes.size(), 2u);
  EXPECT_NEAR(modes[0].weight, 0.6, 1e-12);
  EXPECT_NEAR(modes[1].weight, 0.4, 1e-12);
}

TEST(mixture_modes_test, units_do_not_change_the_modes) {
  const auto q = random_mixture(6, 3, 99, 1.5);
  const std::vector<double> lo = {0, -1e6, 1}, hi = {1e-6, 1e6, 1.001};
  const auto a = find_modes(q), b = find_modes(q.rescaled(lo, hi));
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR((b[i].theta[k] - lo[k]) / (hi[k] - lo[k]), a[i].theta[k], 1e-5);
}

}  // namespace
}  // namespace penn
