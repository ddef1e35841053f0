#include "penn/likelihood/toeplitz.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "penn/noise/fractional_covariance.h"
#include "penn/posterior/linear_algebra.h"

namespace penn {
namespace {

TEST(toeplitz_test, agrees_with_a_cholesky_factor) {
  const size_t n = 60;
  for (const double H : {0.05, 0.3, 0.5, 0.8, 0.97}) {
    std::vector<double> gamma(n), e(n), other(n);
    for (size_t k = 0; k < n; ++k) {
      gamma[k] = 1.7 * fractional_covariance(static_cast<double>(k), H);
      e[k] = std::sin(3.0 * static_cast<double>(k * k)), other[k] = 1 / (1.0 + static_cast<double>(k));
    }
    DenseMatrix covariance(n, n), L;
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < n; ++j) covariance(i, j) = gamma[i > j ? i - j : j - i];
    ASSERT_TRUE(cholesky(covariance, &L));
    std::vector<double> solved = e;
    solve_cholesky(L, solved);
    double expected = -0.5 * dot(e, solved);
    for (size_t i = 0; i < n; ++i) expected -= 0.5 * std::log(2 * std::numbers::pi) + std::log(L(i, i));
    ToeplitzFilter filter;
    ASSERT_TRUE(filter.run(gamma, e, other));
    EXPECT_NEAR(filter.log_density(), expected, 1e-9 * std::abs(expected)) << H;
    double product = 0;  // other^T T^-1 e
    for (size_t k = 0; k < n; ++k)
      product += filter.innovations()[k] * filter.other_innovations()[k] / filter.variances()[k];
    EXPECT_NEAR(product, dot(other, solved), 1e-9 * (1 + std::abs(product))) << H;
  }
}

TEST(toeplitz_test, a_matrix_that_is_no_covariance_is_refused) {
  const std::vector<double> gamma = {1, 1.5, 0.2}, e = {1, 2, 3};
  EXPECT_FALSE(ToeplitzFilter().run(gamma, e));
}

}  // namespace
}  // namespace penn
