// The innermost loop of every matrix product here, and the transposition that feeds it. A tile of the result, R rows by
// V vectors, stays in registers: on the 16 of AVX2, 12 sums, two vectors of b, one number of a.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "penn/base/lanes.h"
#include "penn/network/tile_sizes.h"

namespace penn {

static_assert(kVector == lanes::kWidth);

// sum[r][v] += sum_k a[r * a_row + k * a_step] * b[k * b_step + v * kVector + lane]
template <int R, int V>
[[gnu::always_inline]] inline void add_products(lanes::F (&sum)[R][V], const float* a, std::ptrdiff_t a_row,
                                                std::ptrdiff_t a_step, const float* b, std::ptrdiff_t b_step,
                                                int64_t K) {
  for (int64_t k = 0; k < K; ++k, a += a_step, b += b_step) {
    lanes::F right[V];
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) right[v] = lanes::load(b + v * kVector);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      const lanes::F left = lanes::splat(a[r * a_row]);
#pragma GCC unroll 2
      for (int v = 0; v < V; ++v) sum[r][v] = lanes::fma(left, right[v], sum[r][v]);
    }
  }
}

// Calls f.template operator()<R>() for R = rows, 1 <= rows <= kPanel.
template <int R = kPanel, class F>
inline void with_rows(int64_t rows, F&& f) {
  if constexpr (R > 0) {
    if (rows == R) return f.template operator()<R>();
    with_rows<R - 1>(rows, f);
  }
}

// result[i] = element index[i] of a and b, one after the other. One instruction with gcc; clang has no such built-in
// function.
inline lanes::F shuffle(lanes::F a, lanes::F b, lanes::I index) {
#if defined(__clang__)
  lanes::F result;
  for (int i = 0; i < kVector; ++i) result[i] = index[i] < kVector ? a[index[i]] : b[index[i] - kVector];
  return result;
#else
  return __builtin_shuffle(a, b, index);
#endif
}

// Blocks of `width` change places between rows i and i | width of a square.
template <int width, int... lane>
[[gnu::always_inline]] inline void exchange_blocks(lanes::F (&row)[kVector], std::integer_sequence<int, lane...>) {
  constexpr lanes::I low = {((lane & width) ? kVector + (lane ^ width) : lane)...},
                     high = {((lane & width) ? kVector + lane : (lane ^ width))...};
#pragma GCC unroll 16
  for (int i = 0; i < kVector; ++i) {
    if (i & width) continue;
    const lanes::F a = row[i], b = row[i | width];
    row[i] = shuffle(a, b, low);
    row[i | width] = shuffle(a, b, high);
  }
  if constexpr (2 * width < kVector) exchange_blocks<2 * width>(row, std::integer_sequence<int, lane...>());
}

// to[i * to_step + j] = from[j * from_step + i] for i, j < kVector, in log2 steps.
[[gnu::always_inline]] inline void transpose_square(const float* from, std::ptrdiff_t from_step, float* to,
                                                    std::ptrdiff_t to_step) {
  lanes::F row[kVector];
#pragma GCC unroll 16
  for (int i = 0; i < kVector; ++i) row[i] = lanes::load(from + i * from_step);
  exchange_blocks<1>(row, std::make_integer_sequence<int, kVector>());
#pragma GCC unroll 16
  for (int i = 0; i < kVector; ++i) lanes::store(to + i * to_step, row[i]);
}

}  // namespace penn
