// The accuracy that penn/base/lanes.h states, against the double-precision library, lane by lane.
#include "penn/base/lanes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "penn/noise/lane_random.h"

namespace penn {
namespace {

using lanes::F;
constexpr float kInf = std::numeric_limits<float>::infinity();

struct Case {
  const char* name;
  F (*ours)(F);
  double (*exact)(double);
  double low, high;
  bool logarithmic;  // spacing of the arguments
  double absolute, relative;
};

void check(const Case& c) {
  constexpr int kPoints = 40000;
  for (int i = 0; i < kPoints; i += lanes::kWidth) {
    F x;
    for (int lane = 0; lane < lanes::kWidth; ++lane) {
      const double u = static_cast<double>(i + lane) / (kPoints - 1);
      x[lane] = static_cast<float>(c.logarithmic ? c.low * std::pow(c.high / c.low, u) : c.low + u * (c.high - c.low));
    }
    const F y = c.ours(x);
    for (int lane = 0; lane < lanes::kWidth; ++lane) {
      const double expected = c.exact(x[lane]);
      ASSERT_NEAR(y[lane], expected, c.absolute + c.relative * std::abs(expected)) << c.name << "(" << x[lane] << ")";
    }
  }
}

TEST(lanes_test, functions_keep_their_stated_accuracy) {
  const Case cases[] = {
      {"log2_positive", lanes::log2_positive, std::log2, 1e-37, 1e38, true, 2e-7, 2e-7},
      {"exp2", lanes::exp2, std::exp2, -125, 127.9, false, 0, 3e-7},
      {"exp2_saturating", lanes::exp2_saturating, std::exp2, -125.9, 126.9, false, 0, 3e-7},
      {"sinpi_half", lanes::sinpi_half, [](double t) { return std::sin(M_PI * t); }, -0.5, 0.5, false, 0, 3e-7},
      {"sinpi_half, small", lanes::sinpi_half, [](double t) { return std::sin(M_PI * t); }, 1e-10, 0.5, true, 0, 3e-7},
      {"log", lanes::log, std::log, 1e-37, 1e38, true, 1e-7, 4e-7},
      {"log near 1", lanes::log, std::log, 0.9, 1.1, false, 1e-7, 0},
      {"log of subnormals", lanes::log, std::log, 1e-44, 1e-38, true, 0, 4e-7},
      {"log10", lanes::log10, std::log10, 1e-37, 1e38, true, 1e-7, 4e-7},
      {"exp", lanes::exp, std::exp, -86, 88, false, 0, 4e-7},
      {"sin", lanes::sin, std::sin, -8192, 8192, false, 4e-7, 0},
      {"cos", lanes::cos, std::cos, -8192, 8192, false, 4e-7, 0},
      {"tan", lanes::tan, std::tan, -1.5, 1.5, false, 1e-6, 1e-5},
      {"tanh", lanes::tanh, std::tanh, -12, 12, false, 0, 1e-6},
      {"tanh, small", lanes::tanh, std::tanh, 1e-12, 1, true, 0, 1e-6},
      {"sqrt", lanes::sqrt, std::sqrt, 1e-30, 1e30, true, 0, 1e-7},
  };
  for (const Case& c : cases) check(c);
}

TEST(lanes_test, pow_agrees_with_the_library) {
  for (double base = 1e-3; base < 1e3; base *= 1.37)
    for (double exponent = -4; exponent <= 4; exponent += 0.23) {
      const double expected = std::pow(static_cast<float>(base), static_cast<float>(exponent));
      ASSERT_NEAR(lanes::pow(lanes::splat(static_cast<float>(base)), lanes::splat(static_cast<float>(exponent)))[0],
                  expected, 4e-6 * expected);
    }
}

TEST(lanes_test, edges_behave_as_in_the_library) {
  const auto at = [](F (*f)(F), float x) { return f(lanes::splat(x))[0]; };
  const float nan = std::nanf("");
  EXPECT_EQ(at(lanes::log, 0), -kInf);
  EXPECT_EQ(at(lanes::log, kInf), kInf);
  EXPECT_TRUE(std::isnan(at(lanes::log, -1)));
  EXPECT_EQ(at(lanes::exp, 200), kInf);
  EXPECT_EQ(at(lanes::exp, -200), 0);
  EXPECT_EQ(at(lanes::exp, kInf), kInf);
  EXPECT_EQ(at(lanes::exp, -kInf), 0);
  EXPECT_EQ(at(lanes::exp2, 200), kInf);
  EXPECT_EQ(at(lanes::tanh, kInf), 1);
  EXPECT_EQ(at(lanes::tanh, -kInf), -1);
  EXPECT_EQ(at(lanes::sign, -3), -1);
  EXPECT_EQ(at(lanes::sign, 0), 0);
  for (F (*f)(F) :
       {lanes::log, lanes::exp, lanes::exp2, lanes::sin, lanes::cos, lanes::tanh, lanes::sqrt, lanes::sign, lanes::abs})
    EXPECT_TRUE(std::isnan(at(f, nan)));
  EXPECT_TRUE(std::isnan(at(lanes::sin, kInf)));
  const auto pow = [](float x, float y) { return lanes::pow(lanes::splat(x), lanes::splat(y))[0]; };
  EXPECT_EQ(pow(0, 2.5f), 0);
  EXPECT_EQ(pow(0, 0), 1);
  EXPECT_EQ(pow(0, -1.5f), kInf);
  EXPECT_TRUE(std::isnan(pow(-2, 0.3f)));
  EXPECT_NEAR(pow(-2, 3), -8, 1e-5);
  EXPECT_NEAR(pow(-2, -2), 0.25, 1e-6);
  EXPECT_NEAR(pow(-1.5f, 0), 1, 1e-6);
  EXPECT_TRUE(std::isnan(pow(nan, 2.5f)));
  F (*const smaller)(F, F) = lanes::min;
  F (*const larger)(F, F) = lanes::max;
  for (const auto f : {smaller, larger}) {
    EXPECT_TRUE(std::isnan(f(lanes::splat(nan), lanes::splat(1))[0])) << "an accident must not be hidden";
    EXPECT_TRUE(std::isnan(f(lanes::splat(1), lanes::splat(nan))[0]));
    EXPECT_TRUE(std::isnan(f(lanes::splat(kInf), lanes::splat(nan))[0]));
  }
}

TEST(lanes_test, random_words_equal_the_scalar_generator) {
  LaneKeys keys;
  keys.seed = 0x123456789abcdefu;
  for (int lane = 0; lane < kLanes; ++lane)
    keys.set(lane, {0, (uint64_t{7} << 33) + 1000u * static_cast<uint64_t>(lane), static_cast<uint32_t>(lane % 3)});
  for (int lane = 0; lane < kLanes; lane += lanes::kPairWidth) {
    const lanes::Words words = lanes::LaneStream(keys, 17).words(lane, 0xfedc4242u);
    for (int i = 0; i < lanes::kPairWidth; ++i) {
      const Quad expected = keys.at(lane + i).words(17, 0xfedc4242u);
      for (int word = 0; word < 4; ++word)
        ASSERT_EQ(words.w[word][i / lanes::kWidth][i % lanes::kWidth], expected[static_cast<size_t>(word)]);
    }
  }
}

}  // namespace
}  // namespace penn
