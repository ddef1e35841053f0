#include "penn/noise/fractional.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "penn/noise/fractional_covariance.h"
#include "tests/noise/noise_values.h"

namespace penn {
namespace {

std::vector<float> fill(const FractionalGrid& grid, uint64_t first, const std::vector<double>& H,
                        const std::vector<float>& scale = std::vector<float>(kLanes, 1.0f)) {
  std::vector<float> out(static_cast<size_t>(grid.steps()) * kLanes);
  FractionalGrid::Scratch scratch;
  grid.fill(test_keys(first), kTestStream, H.data(), scale.data(), out.data(), scratch);
  return out;
}

TEST(fractional_test, covariance_is_white_at_one_half_and_has_no_cancellation) {
  for (int lag = 1; lag < 100; ++lag) EXPECT_NEAR(fractional_covariance(lag, 0.5), 0, 1e-14);
  // The leading term of the expansion at a large lag, to its own relative accuracy of about 1/k^2.
  const double H = 0.9, k = 1e5;
  EXPECT_NEAR(fractional_covariance(k, H) / (H * (2 * H - 1) * std::pow(k, 2 * H - 2)), 1, 1e-9);
  // Both branches of the function agree where they meet.
  const double direct = 0.5 * (std::pow(31.0, 1.4) - 2 * std::pow(30.0, 1.4) + std::pow(29.0, 1.4));
  EXPECT_NEAR(fractional_covariance(30, 0.7), direct, 1e-12);
}

TEST(fractional_test, eigenvalues_are_positive_and_sum_to_the_trace) {
  for (const double H : {0.01, 0.05, 0.3, 0.5, 0.7, 0.95, 0.99}) {
    const std::vector<double> eigenvalue = fractional_eigenvalues(1500, H);
    double sum = eigenvalue.front() + eigenvalue.back();
    for (size_t k = 1; k + 1 < eigenvalue.size(); ++k) sum += 2 * eigenvalue[k];
    for (const double value : eigenvalue) ASSERT_GT(value, 0) << H;
    EXPECT_NEAR(sum / 3000, 1, 1e-10) << H;  // variance 1
  }
}

TEST(fractional_test, interpolated_amplitudes_equal_the_direct_ones) {
  for (const int64_t steps : {50, 1000, 15000}) {
    const FractionalGrid grid(steps);
    for (const double H : {0.01, 0.02, 0.05, 0.1, 0.25, 0.4999, 0.5, 0.6, 0.8, 0.9, 0.95, 0.98, 0.99}) {
      const std::vector<float> fast = grid.log_amplitudes_fast(H), direct = grid.log_amplitudes_direct(H);
      for (size_t k = 0; k < fast.size(); ++k)
        ASSERT_NEAR(fast[k], direct[k], 8e-6) << "H " << H << ", k " << k;  // log2: 6e-6 relative
    }
  }
}

TEST(fractional_test, fast_path_equals_its_reference) {
  const FractionalGrid grid(97);  // nothing about it is a power of two
  std::vector<double> H(kLanes);
  for (int lane = 0; lane < kLanes; ++lane)
    H[lane] = 0.004 + 0.992 * lane / (kLanes - 1);  // both ends lie outside the table
  const std::vector<float> fast = fill(grid, 40, H);
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::vector<double> slow =
        fractional_noise().reference({kTestSeed, 40u + static_cast<uint64_t>(lane), 0}, kTestStream, &H[lane], 1, 97);
    for (int i = 0; i < 97; ++i)
      ASSERT_NEAR(fast[i * kLanes + lane], slow[i], 3e-5) << "H " << H[lane] << ", step " << i;
  }
}

TEST(fractional_test, a_lane_does_not_depend_on_its_neighbours) {
  const FractionalGrid grid(200);
  std::vector<double> same(kLanes, 0.3), mixed(kLanes);
  for (int lane = 0; lane < kLanes; ++lane) mixed[lane] = lane == 5 ? 0.3 : 0.9;
  const std::vector<float> a = fill(grid, 0, same), b = fill(grid, 0, mixed);
  for (int i = 0; i < 200; ++i) ASSERT_EQ(a[i * kLanes + 5], b[i * kLanes + 5]);
}

TEST(fractional_test, every_lane_has_its_own_scale) {
  const FractionalGrid grid(97);
  const std::vector<double> H(kLanes, 0.7);
  std::vector<float> scale(kLanes);
  for (int lane = 0; lane < kLanes; ++lane) scale[lane] = 0.1f + 0.3f * static_cast<float>(lane);
  const std::vector<float> unit = fill(grid, 7, H), scaled = fill(grid, 7, H, scale);
  for (int i = 0; i < 97; ++i)
    for (int lane = 0; lane < kLanes; ++lane)
      ASSERT_EQ(scaled[i * kLanes + lane], scale[lane] * unit[i * kLanes + lane]) << "lane " << lane << ", step " << i;
}

// Sample covariance over 6,400 independent trajectories, between step 3 and step 3 + lag, and averaged over the
// trajectory. The standard error of one entry is at most sqrt(2 / 6400) = 0.018.
TEST(fractional_test, sample_covariance_is_the_exact_one) {
  const int steps = 300, groups = 200;
  const FractionalGrid grid(steps);
  for (const double H : {0.1, 0.3, 0.5, 0.7, 0.9}) {
    const int lags[] = {0, 1, 2, 3, 5, 10, 30, 100, 250};
    double at_three[9] = {}, averaged[9] = {};
    for (int group = 0; group < groups; ++group) {
      const std::vector<float> x = fill(grid, static_cast<uint64_t>(group) * kLanes, std::vector<double>(kLanes, H));
      for (int lane = 0; lane < kLanes; ++lane)
        for (int j = 0; j < 9; ++j) {
          at_three[j] += x[3 * kLanes + lane] * x[(3 + lags[j]) * kLanes + lane];
          double sum = 0;
          for (int i = 0; i + lags[j] < steps; ++i) sum += x[i * kLanes + lane] * x[(i + lags[j]) * kLanes + lane];
          averaged[j] += sum / (steps - lags[j]);
        }
    }
    const double n = groups * kLanes;
    for (int j = 0; j < 9; ++j) {
      EXPECT_NEAR(at_three[j] / n, fractional_covariance(lags[j], H), 4.5 * std::sqrt(2 / n))
          << "H " << H << ", lag " << lags[j];
      // Averaging over the trajectory sharpens this by about the square root of its length where correlations are
      // short.
      EXPECT_NEAR(averaged[j] / n, fractional_covariance(lags[j], H), H < 0.8 ? 0.006 : 0.04)
          << "H " << H << ", lag " << lags[j];
    }
  }
}

}  // namespace
}  // namespace penn
