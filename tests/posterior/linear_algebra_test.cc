#include "penn/posterior/linear_algebra.h"

#include <gtest/gtest.h>

#include <cmath>

#include "penn/posterior/draw_stream.h"

namespace penn {
namespace {

DenseMatrix random_matrix(std::size_t rows, std::size_t columns, std::uint64_t seed) {
  DrawStream draws(seed);
  DenseMatrix a(rows, columns);
  for (double& v : a.data) v = draws.normal();
  return a;
}

void expect_near(const DenseMatrix& a, const DenseMatrix& b, double tolerance) {
  ASSERT_EQ(a.data.size(), b.data.size());
  for (std::size_t i = 0; i < a.data.size(); ++i) EXPECT_NEAR(a.data[i], b.data[i], tolerance) << "entry " << i;
}

TEST(linear_algebra_test, qr_keeps_the_gram_matrix_and_is_upper_with_positive_diagonal) {
  for (std::size_t n : {1, 2, 5, 12}) {
    const DenseMatrix a = random_matrix(2 * n + 1, n, n);
    const DenseMatrix v = qr_upper(a);
    expect_near(inner_gram(v), inner_gram(a), 1e-12);
    for (std::size_t r = 0; r < n; ++r) {
      EXPECT_GT(v(r, r), 0.0);
      for (std::size_t c = 0; c < r; ++c) EXPECT_EQ(v(r, c), 0.0);
    }
  }
}

TEST(linear_algebra_test, qr_keeps_the_digits_of_small_rows_beside_large_ones) {
  // A^T A = [[1e20 + 1, 1e20], [1e20, 1e20]]: the second diagonal entry of V is 1 / sqrt(1 + 1e-20).
  DenseMatrix a(2, 2);
  a.data = {1.0, 0.0, 1e10, 1e10};
  const DenseMatrix v = qr_upper(a);
  EXPECT_NEAR(v(1, 1), 1.0, 1e-14);
  EXPECT_NEAR(v(0, 0), 1e10, 1e-5);
}

TEST(linear_algebra_test, rq_keeps_the_outer_gram_matrix) {
  for (std::size_t n : {1, 3, 7}) {
    const DenseMatrix a = random_matrix(n, n + 2, 10 + n);
    const DenseMatrix t = rq_upper(a);
    expect_near(outer_gram(t), outer_gram(a), 1e-12);
    for (std::size_t r = 0; r < n; ++r)
      for (std::size_t c = 0; c < r; ++c) EXPECT_EQ(t(r, c), 0.0);
  }
}

TEST(linear_algebra_test, both_cholesky_factors_multiply_back_and_refuse_indefinite_matrices) {
  const DenseMatrix s = outer_gram(random_matrix(6, 9, 3));
  DenseMatrix t, l;
  ASSERT_TRUE(reverse_cholesky(s, &t));
  ASSERT_TRUE(cholesky(s, &l));
  expect_near(outer_gram(t), s, 1e-12);
  expect_near(outer_gram(l), s, 1e-12);
  for (std::size_t r = 0; r < 6; ++r)
    for (std::size_t c = 0; c < 6; ++c) {
      if (c < r) {
        EXPECT_EQ(t(r, c), 0.0);
      }
      if (c > r) {
        EXPECT_EQ(l(r, c), 0.0);
      }
    }
  DenseMatrix bad(2, 2);
  bad.data = {1.0, 2.0, 2.0, 1.0};
  EXPECT_FALSE(cholesky(bad, &l));
  EXPECT_FALSE(reverse_cholesky(bad, &t));
}

TEST(linear_algebra_test, solves_invert_products) {
  const std::size_t n = 5;
  const DenseMatrix u = qr_upper(random_matrix(n, n, 4));
  const DenseMatrix inverse = inverse_upper(u.data.data(), n);
  const std::vector<double> b = {1.0, -2.0, 0.5, 3.0, 0.0};
  std::vector<double> x = b, y = b;
  solve_upper(u.data.data(), n, x);
  solve_upper_transposed(u.data.data(), n, y);
  for (std::size_t r = 0; r < n; ++r) {
    EXPECT_NEAR(dot(u.row(r), x), b[r], 1e-12);
    double transposed = 0.0;
    for (std::size_t k = 0; k < n; ++k) transposed += u(k, r) * y[k];
    EXPECT_NEAR(transposed, b[r], 1e-12);
    for (std::size_t c = 0; c < n; ++c) {
      double product = 0.0;
      for (std::size_t k = 0; k < n; ++k) product += u(r, k) * inverse(k, c);
      EXPECT_NEAR(product, r == c ? 1.0 : 0.0, 1e-12);
    }
  }
  const DenseMatrix s = inner_gram(u);
  DenseMatrix l;
  ASSERT_TRUE(cholesky(s, &l));
  std::vector<double> z = b;
  solve_cholesky(l, z);
  for (std::size_t r = 0; r < n; ++r) EXPECT_NEAR(dot(s.row(r), z), b[r], 1e-10);
}

TEST(linear_algebra_test, eigenvectors_are_orthonormal_and_diagonalise) {
  const DenseMatrix s = outer_gram(random_matrix(7, 7, 5));
  const auto [values, vectors] = symmetric_eigen(s);
  expect_near(outer_gram(vectors), identity_matrix(7), 1e-12);
  for (std::size_t i = 0; i < 7; ++i) {
    if (i > 0) {
      EXPECT_GE(values[i - 1], values[i]);
    }
    for (std::size_t r = 0; r < 7; ++r) EXPECT_NEAR(dot(s.row(r), vectors.row(i)), values[i] * vectors(i, r), 1e-11);
  }
}

}  // namespace
}  // namespace penn
