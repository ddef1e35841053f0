#include "penn/network/matrix.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "network/reference.h"
#include "penn/network/lane_tile.h"

namespace penn {
namespace {

using reference::random_floats;

constexpr float kGuard = 77.0f;

// a and b as stored: as they are or transposed.
struct Operands {
  int64_t M, N, K;
  bool a_transposed, b_transposed;
  std::vector<float> a, b;
  Operands(int64_t m, int64_t n, int64_t k, bool at, bool bt)
      : M(m),
        N(n),
        K(k),
        a_transposed(at),
        b_transposed(bt),
        a(random_floats(static_cast<size_t>(m * k), static_cast<uint64_t>(m * 1000 + k))),
        b(random_floats(static_cast<size_t>(k * n), static_cast<uint64_t>(n * 1000 + k + 7))) {}
  MatrixView left() const { return a_transposed ? transposed(a.data(), M) : rows_of(a.data(), K); }
  MatrixView right() const { return b_transposed ? transposed(b.data(), K) : rows_of(b.data(), N); }
  double at(int64_t i, int64_t j, double& size) const {
    const MatrixView l = left(), r = right();
    double sum = 0;
    for (int64_t k = 0; k < K; ++k) {
      const double term =
          static_cast<double>(l.data[i * l.row_step + k * l.column_step]) * r.data[k * r.row_step + j * r.column_step];
      sum += term;
      size += std::fabs(term);
    }
    return sum;
  }
};

// Zero to two tiles and one more in each dimension. Error of a sum of K products in floats: at most (K + 1) eps times
// the sum of their sizes.
TEST(matrix_test, product_equals_three_loops_for_every_size_of_tile) {
  for (const int64_t K : {0, 1, 2, kVector - 1, kVector, kVector + 1, 40})
    for (int64_t M = 0; M <= 2 * kPanel + 1; ++M)
      for (int64_t N = 0; N <= 2 * kTileLanes + 1; N += N < 3 || N % kVector > kVector - 2 || N % kVector == 0 ? 1 : 2)
        for (int kind = 0; kind < 8; ++kind) {
          const bool add = kind & 4;
          const Operands o(M, N, K, kind & 1, kind & 2);
          const int64_t step = N + 3;
          std::vector<float> c(static_cast<size_t>((M + 1) * step), kGuard);
          multiply(c.data(), step, o.left(), o.right(), M, N, K, add);
          for (int64_t i = 0; i <= M; ++i)
            for (int64_t j = 0; j < step; ++j) {
              const float got = c[static_cast<size_t>(i * step + j)];
              if (i == M || j >= N) {
                ASSERT_EQ(got, kGuard) << "wrote outside: " << M << " x " << N << " x " << K;
                continue;
              }
              double size = add ? kGuard : 0;
              const double expected = o.at(i, j, size) + (add ? kGuard : 0);
              ASSERT_LE(std::fabs(got - expected), (static_cast<double>(K) + 1) * 1.2e-7 * size)
                  << M << " x " << N << " x " << K << ", kind " << kind;
            }
        }
}

TEST(matrix_test, long_sums_are_made_of_blocks) {
  for (const int64_t K : {kSumBlock - 1, kSumBlock, kSumBlock + 1, 2 * kSumBlock + 3})
    for (int kind = 0; kind < 4; ++kind) {
      const Operands o(7, 19, K, kind & 1, kind & 2);
      std::vector<float> c(7 * 19), parts(c.size());
      multiply(c.data(), 19, o.left(), o.right(), 7, 19, K);
      for (int64_t first = 0; first < K; first += kSumBlock) {
        const MatrixView l = o.left(), r = o.right();
        multiply(parts.data(), 19, {l.data + first * l.column_step, l.row_step, l.column_step},
                 {r.data + first * r.row_step, r.row_step, r.column_step}, 7, 19, std::min(kSumBlock, K - first),
                 first > 0);
      }
      EXPECT_EQ(c, parts);  // bit for bit
      for (int64_t i = 0; i < 7; ++i)
        for (int64_t j = 0; j < 19; ++j) {
          double size = 0;
          const double expected = o.at(i, j, size);
          EXPECT_LE(std::fabs(c[static_cast<size_t>(i * 19 + j)] - expected), 1e-5 * size);
        }
    }
}

// Bit for bit: an element is the same whatever the number of rows and columns beside it, and whichever rows a thread
// takes.
TEST(matrix_test, an_element_does_not_depend_on_its_neighbours) {
  for (int kind = 0; kind < 4; ++kind) {
    const int64_t M = 3 * kPanel + 2, N = 2 * kTileLanes + 5, K = 300;
    const Operands o(M, N, K, kind & 1, kind & 2);
    std::vector<float> all(static_cast<size_t>(M * N));
    multiply(all.data(), N, o.left(), o.right(), M, N, K);
    for (const int64_t first : {int64_t{0}, int64_t{1}, int64_t{kPanel}, M - 1})
      for (const int64_t rows : {int64_t{1}, int64_t{2}, int64_t{kPanel + 1}}) {
        if (first + rows > M) continue;
        std::vector<float> some(static_cast<size_t>(rows * N));
        multiply(some.data(), N, from_row(o.left(), first), o.right(), rows, N, K);
        EXPECT_EQ(std::memcmp(some.data(), all.data() + first * N, some.size() * sizeof(float)), 0)
            << "rows from " << first;
      }
    for (const int64_t column : {int64_t{0}, int64_t{3}, N - 1}) {
      std::vector<float> one(static_cast<size_t>(M));
      const MatrixView r = o.right();
      multiply(one.data(), 1, o.left(), {r.data + column * r.column_step, r.row_step, r.column_step}, M, 1, K);
      for (int64_t i = 0; i < M; ++i) EXPECT_EQ(one[static_cast<size_t>(i)], all[static_cast<size_t>(i * N + column)]);
    }
  }
}

TEST(matrix_test, a_square_is_transposed) {
  const std::vector<float> from = random_floats(static_cast<size_t>(kVector * (kVector + 3)), 1);
  std::vector<float> to(static_cast<size_t>(kVector * (kVector + 5)), kGuard);
  transpose_square(from.data(), kVector + 3, to.data(), kVector + 5);
  for (int i = 0; i < kVector; ++i)
    for (int j = 0; j < kVector + 5; ++j)
      EXPECT_EQ(to[static_cast<size_t>(i * (kVector + 5) + j)],
                j < kVector ? from[static_cast<size_t>(j * (kVector + 3) + i)] : kGuard);
}

}  // namespace
}  // namespace penn
