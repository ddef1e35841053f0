#include "penn/kernel/lane.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "penn/kernel/aligned_buffer.h"
#include "penn/kernel/lane_gemm.h"

namespace penn {
namespace {

// The largest error of f against reference on a grid over [low, high], relative to scale(reference).
double largest_error(const std::function<Vec(Vec)>& f, const std::function<double(double)>& reference, double low,
                     double high, bool relative) {
  double worst = 0;
  const int n = 200000;
  for (int i = 0; i < n; ++i) {
    const float x = static_cast<float>(low + (high - low) * i / (n - 1));
    const double expected = reference(x);
    const double error = std::fabs(f(broadcast(x))[i % kVector] - expected);
    worst = std::max(worst, relative && expected != 0 ? error / std::fabs(expected) : error);
  }
  return worst;
}

// The bounds are those stated in lane.h.
TEST(lane_test, functions_keep_their_stated_errors) {
  EXPECT_LT(largest_error(
                penn::exp, [](double x) { return std::exp(x); }, -87, 87, true),
            4e-7);
  EXPECT_LT(largest_error(
                penn::expm1, [](double x) { return std::expm1(x); }, -10, 10, true),
            4e-7);
  EXPECT_LT(largest_error(
                penn::expm1, [](double x) { return std::expm1(x); }, -1e-3, 1e-3, true),
            4e-7);
  EXPECT_LT(largest_error(
                penn::sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, -80, 80, true),
            5e-7);
  EXPECT_LT(largest_error(
                penn::tanh, [](double x) { return std::tanh(x); }, -12, 12, true),
            6e-7);
  EXPECT_LT(largest_error(
                penn::tanh, [](double x) { return std::tanh(x); }, -1e-4, 1e-4, true),
            6e-7);
  EXPECT_LT(largest_error(
                penn::log, [](double x) { return std::log(x); }, 0.5, 2, false),
            2e-7);
  EXPECT_LT(largest_error(
                penn::log, [](double x) { return std::log(x); }, 1e-30, 1e30, true),
            2e-7);
  EXPECT_LT(largest_error(
                penn::asinh, [](double x) { return std::asinh(x); }, -1, 1, false),
            3e-7);
  EXPECT_LT(largest_error(
                penn::asinh, [](double x) { return std::asinh(x); }, 1, 1e6, true),
            3e-7);
}

TEST(lane_test, functions_saturate_and_pass_nan_on) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(penn::tanh(broadcast(1e30f))[0], 1.0f);
  EXPECT_EQ(penn::tanh(broadcast(-inf))[0], -1.0f);
  EXPECT_EQ(penn::sigmoid(broadcast(inf))[0], 1.0f);
  EXPECT_NEAR(penn::sigmoid(broadcast(-inf))[0], 0.0f, 1e-30f);
  EXPECT_TRUE(std::isfinite(penn::asinh(broadcast(inf))[0]));
  EXPECT_TRUE(std::isnan(penn::tanh(broadcast(nan))[0]));
  EXPECT_TRUE(std::isnan(penn::sigmoid(broadcast(nan))[0]));
}

AlignedBuffer random_buffer(std::size_t n, std::mt19937& engine) {
  AlignedBuffer b(n);
  std::normal_distribution<float> normal;
  for (std::size_t k = 0; k < n; ++k) b.data()[k] = normal(engine);
  return b;
}

// Every number of rows 1..2 panels, so each remainder is met; two blocks of right-hand rows. K = 23: error below 1e-5.
TEST(lane_gemm_test, product_equals_three_loops_for_every_number_of_rows) {
  std::mt19937 engine(1);
  const int k1 = 9, k2 = 14, K = k1 + k2;
  for (int M = 1; M <= 2 * kPanel + 1; ++M) {
    PackedMatrix a(M, K);
    const AlignedBuffer b1 = random_buffer(k1 * kTileLanes, engine), b2 = random_buffer(k2 * kTileLanes, engine);
    const AlignedBuffer bias = random_buffer(M, engine), values = random_buffer(M * K, engine);
    for (int r = 0; r < M; ++r)
      for (int k = 0; k < K; ++k) a.at(r, k) = values.data()[r * K + k];
    AlignedBuffer out((M + 1) * kTileLanes);
    std::fill_n(out.data() + M * kTileLanes, kTileLanes, 77.0f);
    multiply<Start::kBias>(out.data(), a, bias.data(), b1.data(), k1, b2.data(), k2);
    const std::vector<float> first(out.data(), out.data() + M * kTileLanes);
    multiply<Start::kAdd>(out.data(), a, nullptr, b1.data(), k1, b2.data(), k2);
    for (int r = 0; r < M; ++r)
      for (int lane = 0; lane < kTileLanes; ++lane) {
        double sum = 0;
        for (int k = 0; k < K; ++k)
          sum +=
              values.data()[r * K + k] * (k < k1 ? b1.data()[k * kTileLanes + lane] : b2.data()[(k - k1) * kTileLanes + lane]);
        ASSERT_NEAR(first[r * kTileLanes + lane], sum + bias.data()[r], 1e-5) << M << " rows, row " << r;
        ASSERT_NEAR(out.data()[r * kTileLanes + lane], 2 * sum + bias.data()[r], 2e-5) << M << " rows, row " << r;
      }
    for (int lane = 0; lane < kTileLanes; ++lane) ASSERT_EQ(out.data()[M * kTileLanes + lane], 77.0f) << "wrote past the end";
  }
}

TEST(lane_gemm_test, outer_sums_equal_loops_over_time_and_lanes) {
  std::mt19937 engine(2);
  for (const int N : {kVector, kTileLanes, kTileLanes + kVector}) {
    for (const int M : {1, kPanel, kPanel + 2}) {
      const int T = 3;
      const AlignedBuffer g = random_buffer(T * M * kTileLanes, engine), x = random_buffer(T * N * kTileLanes, engine);
      AlignedBuffer transposed(transposed_size(N, T)), out(M * N);
      for (int t = 0; t < T; ++t) transpose_into(transposed.data(), N, T, t, x.data() + t * N * kTileLanes);
      std::fill_n(out.data(), M * N, 0.5f);  // it adds
      accumulate_outer(out.data(), N, M, N, g.data(), M * kTileLanes, T, transposed.data());
      for (int r = 0; r < M; ++r)
        for (int c = 0; c < N; ++c) {
          double sum = 0.5;
          for (int t = 0; t < T; ++t)
            for (int lane = 0; lane < kTileLanes; ++lane)
              sum += g.data()[(t * M + r) * kTileLanes + lane] * x.data()[(t * N + c) * kTileLanes + lane];
          ASSERT_NEAR(out.data()[r * N + c], sum, 2e-5) << r << ", " << c;
        }
    }
  }
}

}  // namespace
}  // namespace penn
