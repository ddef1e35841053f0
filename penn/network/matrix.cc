#include "penn/network/matrix.h"

#include <algorithm>
#include <cstring>

#include "penn/base/parallel.h"
#include "penn/network/lane_tile.h"

namespace penn {
namespace {

using lanes::F;

constexpr int64_t kAhead = 12;

// Columns [first, first + kTileLanes) of b, K rows of kTileLanes floats; columns beyond N are 0.
void pack_right(MatrixView b, int64_t first, int64_t N, int64_t K, float* to) {
  const int64_t columns = std::min<int64_t>(kTileLanes, N - first);
  const float* from = b.data + first * b.column_step;
  if (columns < kTileLanes) std::fill(to, to + K * kTileLanes, 0.0f);
  if (b.column_step == 1 && columns == kTileLanes) {
    for (int64_t k = 0; k < K; ++k, from += b.row_step, to += kTileLanes) {
      __builtin_prefetch(from + kAhead * b.row_step);  // rows lie far apart: the processor does not see them coming
      lanes::store(to, lanes::load(from));
      lanes::store(to + kVector, lanes::load(from + kVector));
    }
    return;
  }
  int64_t k = 0;
  if (b.row_step == 1 && columns == kTileLanes)
    for (; k + kVector <= K; k += kVector)
      for (int half = 0; half < kTileLanes; half += kVector)
        transpose_square(from + half * b.column_step + k, b.column_step, to + k * kTileLanes + half, kTileLanes);
  for (; k < K; ++k)
    for (int64_t j = 0; j < columns; ++j) to[k * kTileLanes + j] = from[k * b.row_step + j * b.column_step];
}

// Rows of a that lie side by side in memory (row_step 1) as [strip of kPanel rows][k][row].
void pack_left(MatrixView a, int64_t M, int64_t K, float* to) {
  for (int64_t row = 0; row < M; row += kPanel, to += kPanel * K) {
    const int64_t rows = std::min<int64_t>(kPanel, M - row);
    const float* from = a.data + row;
    for (int64_t k = 0; k < K; ++k, from += a.column_step)
      if (rows == kPanel) std::memcpy(to + k * kPanel, from, kPanel * sizeof(float));
      else std::copy_n(from, rows, to + k * kPanel);
  }
}

template <int R>
[[gnu::noinline]] void tile(float* c, int64_t c_step, const float* a, std::ptrdiff_t a_row, std::ptrdiff_t a_step,
                            const float* b, int64_t K, int64_t columns, bool add) {
  F sum[R][2] = {};
  if (a_step == 1) add_products<R, 2>(sum, a, a_row, 1, b, kTileLanes, K);
  else add_products<R, 2>(sum, a, 1, kPanel, b, kTileLanes, K);
  if (columns == kTileLanes) {
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
      for (int v = 0; v < 2; ++v) {
        float* to = c + r * c_step + v * kVector;
        lanes::store(to, add ? lanes::load(to) + sum[r][v] : sum[r][v]);
      }
    return;
  }
  alignas(64) float row[kTileLanes];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
    lanes::store(row, sum[r][0]);
    lanes::store(row + kVector, sum[r][1]);
    for (int64_t j = 0; j < columns; ++j) c[r * c_step + j] = add ? c[r * c_step + j] + row[j] : row[j];
  }
}

// panel(first, count, column): the packed columns from `column` on of rows [first, first + count) of the right side.
template <class Panel>
void multiply_panels(float* c, int64_t c_step, MatrixView a, int64_t M, int64_t N, int64_t K, bool add, int64_t block,
                     Panel panel) {
  thread_local AlignedVector<float> left;
  if (K == 0 && !add)
    for (int64_t i = 0; i < M; ++i) std::fill_n(c + i * c_step, N, 0.0f);
  const bool is_packed = a.column_step != 1;
  for (int64_t first = 0; first < K; first += block, add = true) {
    const int64_t count = std::min(block, K - first);
    const MatrixView a_block{a.data + first * a.column_step, a.row_step, a.column_step};
    if (is_packed) {
      left.resize(std::max(left.size(), static_cast<size_t>(round_up(M, kPanel) * count)));
      pack_left(a_block, M, count, left.data());
    }
    for (int64_t column = 0; column < N; column += kTileLanes) {
      const float* right = panel(first, count, column);
      const int64_t columns = std::min<int64_t>(kTileLanes, N - column);
      for (int64_t row = 0; row < M; row += kPanel) {
        const float* from = is_packed ? left.data() + row * count : a_block.data + row * a.row_step;
        with_rows(std::min<int64_t>(kPanel, M - row), [&]<int R>() {
          tile<R>(c + row * c_step + column, c_step, from, is_packed ? 1 : a.row_step, is_packed ? kPanel : 1, right,
                  count, columns, add);
        });
      }
    }
  }
}

}  // namespace

void multiply(float* c, int64_t c_step, MatrixView a, MatrixView b, int64_t M, int64_t N, int64_t K, bool add,
              int64_t block) {
  thread_local AlignedVector<float> right;
  right.resize(std::max(right.size(), static_cast<size_t>(std::min(block, K) * kTileLanes)));
  multiply_panels(c, c_step, a, M, N, K, add, block, [&](int64_t first, int64_t count, int64_t column) -> const float* {
    pack_right({b.data + first * b.row_step, b.row_step, b.column_step}, column, N, count, right.data());
    return right.data();
  });
}

void multiply_on(int threads, float* c, int64_t c_step, MatrixView a, MatrixView b, int64_t M, int64_t N, int64_t K,
                 bool add) {
  const int64_t rows = round_up(std::max<int64_t>((M + threads - 1) / threads, 8 * kPanel), kPanel);
  parallel_for((M + rows - 1) / rows, threads, [&](int64_t i, int) {
    const int64_t first = i * rows;
    multiply(c + first * c_step, c_step, from_row(a, first), b, std::min(rows, M - first), N, K, add);
  });
}

void transpose(const float* from, int64_t rows, int64_t columns, float* to) {
  for (int64_t i = 0; i < rows; i += kVector)
    for (int64_t j = 0; j < columns; j += kVector)
      if (i + kVector <= rows && j + kVector <= columns)
        transpose_square(from + i * columns + j, columns, to + j * rows + i, rows);
      else
        for (int64_t r = i; r < std::min(rows, i + kVector); ++r)
          for (int64_t q = j; q < std::min(columns, j + kVector); ++q) to[q * rows + r] = from[r * columns + q];
}

PackedMatrixRight::PackedMatrixRight(MatrixView b, int64_t K, int64_t N)
    : K_(K), columns_(round_up(N, kTileLanes)), data_(static_cast<size_t>(K * columns_)) {
  for (int64_t first = 0; first < K; first += kSumBlock)
    for (int64_t column = 0; column < N; column += kTileLanes)
      pack_right({b.data + first * b.row_step, b.row_step, b.column_step}, column, N, std::min(kSumBlock, K - first),
                 const_cast<float*>(panel(first, column)));
}

const float* PackedMatrixRight::panel(int64_t first, int64_t column) const {
  return data_.data() + first * columns_ + column * std::min(kSumBlock, K_ - first);
}

void multiply(float* c, int64_t c_step, MatrixView a, const PackedMatrixRight& b, int64_t M, int64_t N, int64_t K) {
  multiply_panels(c, c_step, a, M, N, K, false, kSumBlock,
                  [&](int64_t first, int64_t, int64_t column) { return b.panel(first, column); });
}

}  // namespace penn
