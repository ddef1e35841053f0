#include "penn/network/activation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace penn {
namespace {

using lanes::F, lanes::splat;

// The largest error of f against reference on a grid over [low, high], absolute or relative to the reference.
double largest_error(F (*f)(F), double (*reference)(double), double low, double high, bool relative) {
  double worst = 0;
  const int n = 200000;
  for (int i = 0; i < n; ++i) {
    const float x = static_cast<float>(low + (high - low) * i / (n - 1));
    const double expected = reference(x), error = std::fabs(f(splat(x))[i % lanes::kWidth] - expected);
    worst = std::max(worst, relative && expected != 0 ? error / std::fabs(expected) : error);
  }
  return worst;
}

// The bounds are those stated in activation.h.
TEST(activation_test, functions_keep_their_stated_errors) {
  EXPECT_LT(largest_error(
                penn::expm1, [](double x) { return std::expm1(x); }, -80, 80, true),
            4e-7);
  EXPECT_LT(largest_error(
                penn::expm1, [](double x) { return std::expm1(x); }, -1, 1, true),
            4e-7);
  EXPECT_LT(largest_error(
                penn::expm1, [](double x) { return std::expm1(x); }, -1e-3, 1e-3, true),
            4e-7);
  EXPECT_LT(largest_error(
                penn::elu, [](double x) { return x > 0 ? x : std::expm1(x); }, -20, 20, true),
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
                penn::asinh, [](double x) { return std::asinh(x); }, -1, 1, false),
            3e-7);
  EXPECT_LT(largest_error(
                penn::asinh, [](double x) { return std::asinh(x); }, 1, 1e6, true),
            3e-7);
  EXPECT_LT(largest_error(
                penn::asinh, [](double x) { return std::asinh(x); }, -1e17, -1, true),
            3e-7);
}

TEST(activation_test, functions_saturate_and_pass_nan_on) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(penn::tanh(splat(1e30f))[0], 1.0f);
  EXPECT_EQ(penn::tanh(splat(-inf))[0], -1.0f);
  EXPECT_EQ(penn::sigmoid(splat(inf))[0], 1.0f);
  EXPECT_NEAR(penn::sigmoid(splat(-inf))[0], 0.0f, 1e-30f);
  EXPECT_EQ(penn::elu(splat(-inf))[0], -1.0f);
  EXPECT_EQ(penn::elu(splat(1e30f))[0], 1e30f);
  EXPECT_TRUE(std::isfinite(penn::asinh(splat(inf))[0]));
  EXPECT_TRUE(std::isnan(penn::tanh(splat(nan))[0]));
  EXPECT_TRUE(std::isnan(penn::sigmoid(splat(nan))[0]));
  EXPECT_TRUE(std::isnan(penn::elu(splat(nan))[0]));
}

}  // namespace
}  // namespace penn
