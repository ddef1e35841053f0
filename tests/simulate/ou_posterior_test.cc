// The exact posterior of soup: verified by refining the grid, by brute force, and by being calibrated on simulated
// trajectories.
#include "penn/posterior/ou_posterior.h"

#include <gtest/gtest.h>

#include <cmath>

#include "penn/simulate/simulator.h"
#include "penn/system/load_system.h"

namespace penn {
namespace {

OuProcess soup_process(const System& system) {
  OuProcess process;
  for (int i = 0; i < 2; ++i)
    process.low[i] = system.parameters[i].range.low, process.high[i] = system.parameters[i].range.high;
  process.map = [](const double theta[2], double& tau, double& D) { tau = std::pow(10, theta[0]), D = theta[1]; };
  process.burn_in = system.simulation.burn_in.high;
  return process;
}

struct Soup {
  explicit Soup(int64_t n, int64_t length) : count(n), length(length), theta(2 * n), z(n * length) {
    const SystemChoice choice = load_system("soup");
    process = soup_process(choice.system);
    Simulator(choice.system, 0, {.seed = 77, .length = length}).run(0, n, theta.data(), z.data());
  }
  int64_t count, length;
  OuProcess process;
  std::vector<float> theta, z;
};

TEST(ou_posterior_test, refining_the_grid_changes_nothing) {
  for (const int64_t length : {50, 200, 1000, 5000}) {
    const Soup soup(20, length);
    for (int64_t i = 0; i < soup.count; ++i) {
      const OuPosterior coarse(soup.process, soup.z.data() + i * length, length),
          fine(soup.process, soup.z.data() + i * length, length, 400);
      ASSERT_NEAR(coarse.log_evidence(), fine.log_evidence(), 5e-4) << "length " << length << ", trajectory " << i;
    }
  }
}

TEST(ou_posterior_test, agrees_with_brute_force_over_the_whole_box) {
  const Soup soup(5, 200);
  for (int64_t i = 0; i < soup.count; ++i) {
    const OuPosterior posterior(soup.process, soup.z.data() + i * 200, 200);
    double sum = 0;
    const int grid = 1500;
    const double area = 2.0 * 0.99 / (static_cast<double>(grid) * grid);
    for (int a = 0; a < grid; ++a)
      for (int b = 0; b < grid; ++b) {
        const double theta[2] = {-0.5 + 2.0 * (a + 0.5) / grid, 0.01 + 0.99 * (b + 0.5) / grid};
        sum += std::exp(posterior.log_density(theta)) * area;
      }
    EXPECT_NEAR(sum, 1, 2e-3) << i;
  }
}

// The likelihood, term by term from its definition.
TEST(ou_posterior_test, likelihood_is_the_product_of_its_transitions) {
  const Soup soup(1, 30);
  const double theta[2] = {0.3, 0.4}, tau = std::pow(10, 0.3), a = std::pow(1 - 0.01 / tau, 10),
               V = 0.4 / (1 - 0.005 / tau);
  const auto log_normal = [](double x, double mean, double variance) {
    return -0.5 * (std::log(2 * M_PI * variance) + (x - mean) * (x - mean) / variance);
  };
  double expected = log_normal(soup.z[0], 0, V * (1 - std::pow(a, 1000)));
  for (int k = 0; k + 1 < 30; ++k) expected += log_normal(soup.z[k + 1], a * soup.z[k], V * (1 - a * a));
  EXPECT_NEAR(OuPosterior(soup.process, soup.z.data(), 30).log_likelihood(theta), expected, 1e-9);
}

// If posterior and simulator belong together, z-scores of the truth have mean 0 and variance 1, up to the skewness that
// short trajectories have; at n = 1000 and 1,000 trajectories the standard errors are 0.032 and 0.045.
TEST(ou_posterior_test, is_calibrated_on_simulated_trajectories) {
  const Soup soup(1000, 1000);
  double sum[2] = {}, square[2] = {};
  for (int64_t i = 0; i < soup.count; ++i) {
    double mean[2], covariance[4];
    OuPosterior(soup.process, soup.z.data() + i * 1000, 1000).moments(mean, covariance);
    for (int p = 0; p < 2; ++p) {
      const double score = (soup.theta[2 * i + p] - mean[p]) / std::sqrt(covariance[3 * p]);
      sum[p] += score / 1000, square[p] += score * score / 1000;
    }
  }
  for (int p = 0; p < 2; ++p) {
    EXPECT_NEAR(sum[p], 0, 0.13) << p;
    EXPECT_NEAR(square[p], 1, 0.18) << p;
  }
}

}  // namespace
}  // namespace penn
