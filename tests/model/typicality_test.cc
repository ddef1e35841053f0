#include "penn/model/typicality.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace penn {
namespace {

// Three coordinates: x, y independent with SD 2 and 1, the third always 0 up to 0.01; two directions are kept.
Typicality plane() {
  Typicality f;
  f.mean = {1, 2, 3};
  f.directions = {1, 0, 0, 0, 1, 0};
  f.spread = {2, 1};
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  std::vector<float> in, out;
  for (int i = 0; i < 100000; ++i) {
    const float e[3] = {static_cast<float>(1 + 2 * normal(random)), static_cast<float>(2 + normal(random)),
                        static_cast<float>(3 + 0.01 * normal(random))};
    double a = 0, b = 0;
    f.distances(e, a, b);
    in.push_back(static_cast<float>(a));
    out.push_back(static_cast<float>(b));
  }
  for (std::vector<float>* v : {&in, &out}) std::sort(v->begin(), v->end());
  for (int q = 0; q <= 1000; ++q) {
    f.inside.push_back(in[static_cast<size_t>(q * 99999 / 1000)]);
    f.outside.push_back(out[static_cast<size_t>(q * 99999 / 1000)]);
  }
  return f;
}

TEST(typicality_test, distances_are_hotellings_and_the_residual) {
  const Typicality f = plane();
  const float e[3] = {5, 1, 3.5f};
  double in = 0, out = 0;
  f.distances(e, in, out);
  EXPECT_NEAR(in, 4 + 1, 1e-6);  // (4/2)^2 + 1^2
  EXPECT_NEAR(out, 0.25, 1e-6);  // 0.5^2
}

TEST(typicality_test, fractions_are_those_of_the_chi_square_distribution) {
  const Typicality f = plane();
  // In the plane with Q typical: P(chi^2_2 > 9.21) = 1 %, and twice the smaller fraction is 2 %. Tolerance: 3 SD of a 1
  // % count in 1e5, and the table's step.
  const float rare[3] = {1 + 2 * std::sqrt(9.2103f), 2, 3.004f};
  EXPECT_NEAR(f.fraction_beyond(rare), 0.02, 0.004);
  const float centre[3] = {1, 2, 3.004f};
  EXPECT_GT(f.fraction_beyond(centre), 0.9);
  // Ordinary inside the plane, impossible outside it.
  const float lifted[3] = {1, 2, 3.5f};
  EXPECT_EQ(f.fraction_beyond(lifted), 0);
  const float far[3] = {100, 2, 3};
  EXPECT_EQ(f.fraction_beyond(far), 0);
}

}  // namespace
}  // namespace penn
