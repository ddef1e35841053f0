#include "penn/train/gradient_basis.h"

#include <gtest/gtest.h>

#include <cmath>

#include "network/reference.h"
#include "penn/network/decomposition.h"
#include "penn/train/optimiser.h"

namespace penn {
namespace {

using reference::random_floats;
using Floats = std::vector<float>;

// a (m, k) b (k, n)
Floats product(const Floats& a, const Floats& b, size_t m, size_t k, size_t n) {
  Floats c(m * n);
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (size_t l = 0; l < k; ++l) sum += static_cast<double>(a[i * k + l]) * b[l * n + j];
      c[i * n + j] = static_cast<float>(sum);
    }
  return c;
}
Floats flipped(const Floats& a, size_t m, size_t n) {
  Floats t(a.size());
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < n; ++j) t[j * m + i] = a[i * n + j];
  return t;
}
double norm(const Floats& a) {
  double sum = 0;
  for (const float x : a) sum += static_cast<double>(x) * x;
  return std::sqrt(sum);
}
double distance(const Floats& a, const Floats& b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::fabs(static_cast<double>(a[i]) - b[i]));
  return largest;
}

Floats to_basis(const GradientBasis& basis, const Floats& g) {
  Floats half(g.size()), out(g.size());
  basis.rotate_left(g.data(), 0, basis.columns(), half.data());
  basis.rotate_right(half.data(), 0, basis.rows(), out.data());
  return out;
}
Floats from_basis(const GradientBasis& basis, const Floats& x) {
  Floats half(x.size()), out(x.size());
  basis.rotate_right_back(x.data(), 0, basis.rows(), half.data());
  basis.rotate_left_back(half.data(), 0, basis.columns(), out.data());
  return out;
}

TEST(gradient_basis_test, there_and_back_is_nothing) {
  for (const auto& [m, n] : {std::pair<int64_t, int64_t>{20, 33}, {33, 20}, {16, 16}}) {
    const size_t size = static_cast<size_t>(m * n);
    GradientBasis basis(m, n);
    for (uint64_t i = 0; i < 5; ++i) {
      const Floats g = random_floats(size, i);
      basis.observe(g.data(), 1, 0, m);
      if (i == 0) basis.set_basis(g.data());
    }
    Floats moment = random_floats(size, 10), second = random_floats(size, 11);
    for (float& v : second) v *= v;
    for (uint64_t turn = 0; turn < 3; ++turn) {
      const Floats g = random_floats(size, 20 + turn);
      EXPECT_LT(distance(from_basis(basis, to_basis(basis, g)), g), 2e-5);
      EXPECT_NEAR(norm(to_basis(basis, g)), norm(g), 1e-4);
      // Turning the basis leaves the first moment where it is in the space of the weights, and only exchanges second
      // moments.
      const Floats before = from_basis(basis, moment);
      Floats sorted = second;
      basis.refresh(moment.data(), second.data());
      EXPECT_LT(distance(from_basis(basis, moment), before), 2e-5);
      std::sort(sorted.begin(), sorted.end());
      Floats after = second;
      std::sort(after.begin(), after.end());
      EXPECT_EQ(sorted, after);
    }
  }
}

// In the basis of its first gradient G has entries on the diagonal alone: Q_L and Q_R are its singular vectors.
TEST(gradient_basis_test, the_first_basis_diagonalises_the_first_gradient) {
  for (const auto& [m, n] : {std::pair<int64_t, int64_t>{12, 30}, {30, 12}, {14, 14}}) {
    const Floats g = random_floats(static_cast<size_t>(m * n), 3);
    GradientBasis basis(m, n);
    basis.observe(g.data(), 0.1f, 0, m);
    basis.set_basis(g.data());
    const Floats d = to_basis(basis, g);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        if (i != j) {
          EXPECT_NEAR(d[static_cast<size_t>(i * n + j)], 0, 1e-4) << i << " " << j;
        } else if (i > 0) {
          EXPECT_LE(std::fabs(d[static_cast<size_t>(i * n + i)]),
                    std::fabs(d[static_cast<size_t>((i - 1) * n + i - 1)]) + 1e-4);  // largest first
        }
      }
  }
}

// Along the weights' own axes Adam gives rare values of single features steps that are far too large: a training of
// soup had losses of thousands.
TEST(gradient_basis_test, directions_no_gradient_has_reached_are_not_the_weights_own_axes) {
  for (const auto& [m, n] : {std::pair<int64_t, int64_t>{12, 100}, {100, 12}}) {
    const Floats g = random_floats(static_cast<size_t>(m * n), 4);
    GradientBasis basis(m, n);
    basis.observe(g.data(), 1, 0, m);
    basis.set_basis(g.data());
    Floats state;
    basis.write(state);
    const size_t N = 100;
    const float* q =
        state.data() + state.size() - (n == 100 ? N * N : N * N + 12 * 12);  // the basis of the larger side
    for (size_t i = 0; i < N; ++i)
      for (size_t j = 0; j < N; ++j) EXPECT_LT(std::fabs(q[i * N + j]), 0.9) << i << " " << j;
  }
}

// Gradients of directions u with distinct scales: after some refreshing the mean of G G^T is diagonal in the basis.
TEST(gradient_basis_test, repeated_refreshing_finds_the_eigenvectors) {
  constexpr size_t m = 12, n = 40;
  Floats u = random_floats(m * m, 1), mean(m * m, 0.0f), moment(m * n, 0.0f), second(m * n, 0.0f);
  orthonormalise(u.data(), m);
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < m; ++j) u[i * m + j] *= static_cast<float>(std::pow(1.7, j));
  GradientBasis basis(m, n);
  for (uint64_t i = 0; i < 400; ++i) {
    const Floats g = product(u, random_floats(m * n, 100 + i), m, m, n), square = product(g, flipped(g, m, n), m, n, m);
    basis.observe(g.data(), 1, 0, m);
    if (i == 0) basis.set_basis(g.data());
    for (size_t k = 0; k < mean.size(); ++k) mean[k] = 0.95f * mean[k] + 0.05f * square[k];
    if (i % 4 == 3) basis.refresh(moment.data(), second.data());
  }
  Floats state;
  basis.write(state);
  const Floats q(state.begin() + m * m + n * n, state.begin() + 2 * m * m + n * n);
  const Floats d = product(product(flipped(q, m, m), mean, m, m, m), q, m, m, m);
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < m; ++j)
      if (i != j) {
        EXPECT_LT(std::fabs(d[i * m + j]), 0.02 * d[0]);
      }
  EXPECT_GT(d[0], d[m * m - 1] * 100);  // largest first
}

TEST(gradient_basis_test, how_rows_are_shared_out_does_not_change_a_bit) {
  const int64_t m = 70, n = 45;
  const Floats g = random_floats(static_cast<size_t>(m * n), 5);
  GradientBasis whole(m, n), parts(m, n);
  whole.observe(g.data(), 0.5f, 0, m);
  for (int64_t first = 0; first < m; first += 16) parts.observe(g.data(), 0.5f, first, std::min(m, first + 16));
  whole.set_basis(g.data());
  parts.set_basis(g.data());
  Floats a, b;
  whole.write(a);
  parts.write(b);
  EXPECT_EQ(a, b);
  Floats half(g.size()), out(g.size());
  for (int64_t first = 0; first < n; first += 16)
    parts.rotate_left(g.data(), first, std::min(n, first + 16), half.data());
  for (int64_t first = 0; first < m; first += 16)
    parts.rotate_right(half.data(), first, std::min(m, first + 16), out.data());
  EXPECT_EQ(out, to_basis(whole, g));
}

TEST(gradient_basis_test, only_matrices_worth_it_are_rotated) {
  EXPECT_TRUE(GradientBasis::is_useful({9, 4096}));
  EXPECT_FALSE(GradientBasis::is_useful({8, 100}));
  EXPECT_FALSE(GradientBasis::is_useful({100, 5000}));
  EXPECT_FALSE(GradientBasis::is_useful({100}));
}

TEST(decomposition_test, eigenvectors_are_orthonormal_and_in_falling_order) {
  constexpr size_t n = 15;
  const Floats a = random_floats(n * n, 6);
  std::vector<double> symmetric(n * n), vectors(n * n), values;
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) symmetric[i * n + j] = static_cast<double>(a[i * n + j]) + a[j * n + i];
  eigenvectors(symmetric.data(), n, vectors.data(), values);
  for (size_t k = 0; k < n; ++k) {
    if (k > 0) {
      EXPECT_LE(values[k], values[k - 1]);
    }
    for (size_t i = 0; i < n; ++i) {
      double sum = 0;
      for (size_t j = 0; j < n; ++j) sum += symmetric[i * n + j] * vectors[j * n + k];
      EXPECT_NEAR(sum, values[k] * vectors[i * n + k], 1e-12);
    }
  }
}

// One block of reflections, several, the size where blocks grow; columns over eight decades, or some of them zero or
// doubled.
TEST(decomposition_test, orthonormal_columns_span_what_the_columns_span_on_any_number_of_threads) {
  for (const size_t n : {1u, 10u, 24u, 61u, 150u, 530u})
    for (const bool is_deficient : {false, true}) {
      Floats a = random_floats(n * n, 7);
      for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < n; ++j) {
          a[i * n + j] *= std::pow(10.0f, -8 * static_cast<float>(j) / static_cast<float>(n));
          if (is_deficient && j % 5 == 1) a[i * n + j] = 0;
          if (is_deficient && j % 5 == 3) a[i * n + j] = a[i * n + j - 1];
        }
      Floats q = a, on_three = a;
      orthonormalise(q.data(), static_cast<int64_t>(n));
      orthonormalise(on_three.data(), static_cast<int64_t>(n), 3);
      EXPECT_EQ(q, on_three);
      const Floats one = product(flipped(q, n, n), q, n, n, n), r = product(flipped(q, n, n), a, n, n, n);
      for (size_t j = 0; j < n; ++j) {
        double norm = 0;
        for (size_t i = 0; i < n; ++i) norm += static_cast<double>(a[i * n + j]) * a[i * n + j];
        for (size_t i = 0; i < n; ++i) {
          ASSERT_NEAR(one[i * n + j], i == j, 4e-6) << n << " " << i << " " << j;
          if (i > j) {
            ASSERT_LE(std::abs(r[i * n + j]), 2e-6 * std::sqrt(norm)) << n << " " << i << " " << j;  // upper triangular
          }
        }
      }
    }
}

}  // namespace
}  // namespace penn
