#include "penn/kernel/mixture_link.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "penn/density/gaussian_mixture.h"

namespace penn {
namespace {

TEST(mixture_link_test, widths_are_exponentials_and_couplings_and_distances_are_told_in_them) {
  const MixtureShape shape{.parameters = 2, .components = 2, .full = true};
  // logits, means, log scales (component by component), couplings
  std::vector<float> y = {0.1f, -0.2f, 0.5f, -0.5f, 0.25f, 0.75f, 3.0f, -1.0f, 7.0f, 20.0f, 1.5f, -2.0f};
  const std::vector<float> r = y;
  apply_link("widths", shape, 1, y.data());
  for (int i = 0; i < 4; ++i) EXPECT_EQ(y[static_cast<size_t>(i)], r[static_cast<size_t>(i)]);  // logits, first mean
  const std::vector<double> free(y.begin(), y.end());
  const GaussianMixture q = GaussianMixture::from_free_vector(free, 2, 2, CovarianceKind::kFull);
  const double expected[4] = {0.3 + std::exp(3.0), 0.3 + std::exp(-1.0), 0.3 + std::exp(7.0), 0.3 + std::exp(12.0)};  // the last is capped
  for (size_t j = 0; j < 2; ++j) {
    const double* u = q.factor(j);
    EXPECT_NEAR(u[0], expected[2 * j], 1e-6 * expected[2 * j]);
    EXPECT_NEAR(u[3], expected[2 * j + 1], 1e-5 * expected[2 * j + 1]);
    EXPECT_NEAR(u[1] / u[3], j == 0 ? 1.5 : -2.0, 1e-5);
  }
  EXPECT_NEAR(y[4], 0.5 + 0.25 / expected[2], 1e-6);
  EXPECT_NEAR(y[5], -0.5 + 0.75 / expected[3], 1e-6);
}

TEST(mixture_link_test, the_earlier_link_tells_couplings_in_the_width_of_their_row) {
  const MixtureShape shape{.parameters = 2, .components = 1, .full = true};
  std::vector<float> y = {0, 0.5f, -0.5f, 3.0f, -1.0f, 1.5f};
  apply_link("relative", shape, 1, y.data());
  EXPECT_NEAR(y[5], 1.5 * (0.3 + std::exp(3.0)), 1e-4);
}

TEST(mixture_link_test, the_paper_s_network_is_left_as_it_is) {
  const MixtureShape shape{.parameters = 2, .components = 1, .full = true};
  std::vector<float> y = {0, 0.5f, -0.5f, 3.0f, -1.0f, 1.5f};
  const std::vector<float> r = y;
  apply_link("direct", shape, 1, y.data());
  EXPECT_EQ(y, r);
}

TEST(mixture_link_test, a_component_is_never_wider_than_the_floor_allows) {
  const MixtureShape shape{.parameters = 1, .components = 1, .full = true};
  std::vector<float> y = {0.0f, 0.0f, -80.0f};
  apply_link("widths", shape, 1, y.data());
  const std::vector<double> free(y.begin(), y.end());
  const GaussianMixture q = GaussianMixture::from_free_vector(free, 1, 1, CovarianceKind::kFull);
  EXPECT_NEAR(std::sqrt(q.covariance()(0, 0)), 1 / 0.3, 1e-4);
}

}  // namespace
}  // namespace penn
