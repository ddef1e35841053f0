// Matrix products whose columns are lanes (trajectories), for matrices of a few hundred rows that are used again for
// every time step. No threads, no allocation: each thread works on tiles of its own.
//   multiply:       out (M, lanes) (+)= A (M, K) * [b1 (K1, lanes); b2 (K2, lanes)]
//   accumulate_outer:  out (M, N) += sum over time and lanes of g (M, lanes) * x (N, lanes)^T
// Both are the same register tile, kPanel rows by two vectors: on 16 registers 12 sums, two vectors of b, one of A.
#pragma once

#include <vector>

#include "penn/kernel/lane.h"

namespace penn {

#if defined(__AVX512F__)
inline constexpr int kPanel = 12;
#else
inline constexpr int kPanel = 6;
#endif

inline constexpr int round_up(int n, int step) {
  return (n + step - 1) / step * step;
}

// A (M, K) rearranged so that the panel kernel reads it once, front to back: [panel][k][row in panel], zero rows added.
class PackedMatrix {
 public:
  PackedMatrix() = default;
  PackedMatrix(int rows, int columns)
      : rows_(rows), columns_(columns), data_(static_cast<std::size_t>(round_up(rows, kPanel)) * columns, 0.0f) {}
  float& at(int row, int column) {
    return data_[static_cast<std::size_t>(row / kPanel) * kPanel * columns_ + column * kPanel + row % kPanel];
  }
  const float* panel(int first_row) const { return data_.data() + static_cast<std::size_t>(first_row) * columns_; }
  int rows() const { return rows_; }
  int columns() const { return columns_; }

 private:
  int rows_ = 0, columns_ = 0;
  std::vector<float> data_;
};

// What the sums start from.
enum class Start { kBias, kAdd };

// R rows of out. a: [k][kPanel], bias: R numbers for Start::kBias. b1 may be followed by a second block of rows b2.
template <int R, Start start>
inline void panel_multiply(float* out, const float* bias, const float* a, const float* b1, int k1, const float* b2,
                           int k2) {
  Vec sum[R][2];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
    if constexpr (start == Start::kBias) {
      sum[r][0] = sum[r][1] = bias ? broadcast(bias[r]) : Vec{};
    } else {
      sum[r][0] = load(out + r * kTileLanes);
      sum[r][1] = load(out + r * kTileLanes + kVector);
    }
  }
  for (int part = 0; part < 2; ++part) {
    const float* b = part == 0 ? b1 : b2;
    const int count = part == 0 ? k1 : k2;
    for (int k = 0; k < count; ++k, a += kPanel, b += kTileLanes) {
      const Vec b_low = load(b), b_high = load(b + kVector);
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) {
        const Vec factor = broadcast(a[r]);
        sum[r][0] += factor * b_low;
        sum[r][1] += factor * b_high;
      }
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
    store(out + r * kTileLanes, sum[r][0]);
    store(out + r * kTileLanes + kVector, sum[r][1]);
  }
}

// Calls f.template operator()<R>() for R = rows, 1 <= rows <= kPanel.
template <int R = kPanel, class F>
inline void with_rows(int rows, F&& f) {
  if constexpr (R > 0) {
    if (rows == R) return f.template operator()<R>();
    with_rows<R - 1>(rows, f);
  }
}

// Rows [first, last) of out = A * [b1; b2] (+ bias, or + out). first must be a multiple of kPanel.
template <Start start>
inline void multiply(float* out, const PackedMatrix& a, const float* bias, const float* b1, int k1,
                     const float* b2 = nullptr, int k2 = 0) {
  for (int row = 0; row < a.rows(); row += kPanel) {
    const int rows = a.rows() - row < kPanel ? a.rows() - row : kPanel;
    float* o = out + row * kTileLanes;
    const float* offset = bias ? bias + row : nullptr;
    if (rows == kPanel) panel_multiply<kPanel, start>(o, offset, a.panel(row), b1, k1, b2, k2);
    else with_rows(rows, [&]<int R>() { panel_multiply<R, start>(o, offset, a.panel(row), b1, k1, b2, k2); });
  }
}

// ---- sums over time and lanes ---------------------------------------------------------------------------------------

// A block of vectors x_t (N, lanes), t < T, transposed to [column panel][t][lane][kTileLanes columns].
// N must be a multiple of kVector (pad with zero rows), so the last panel may be half empty.
inline std::size_t transposed_size(int n, int time) {
  return static_cast<std::size_t>(round_up(n, kTileLanes)) * time * kTileLanes;
}
// result[i] = element index[i] of a and b, one after the other. One instruction with gcc; clang, which only fuzzes, has no such built-in function.
inline Vec shuffle(Vec a, Vec b, IntVec index) {
#if defined(__clang__)
  Vec result;
  for (int i = 0; i < kVector; ++i) result[i] = index[i] < kVector ? a[index[i]] : b[index[i] - kVector];
  return result;
#else
  return __builtin_shuffle(a, b, index);
#endif
}
inline void transpose_into(float* block, int n, int time, int t, const float* x) {
  for (int first = 0; first < n; first += kVector) {
    float* to = block + (static_cast<std::size_t>(first / kTileLanes) * time + t) * kTileLanes * kTileLanes + first % kTileLanes;
    const float* from = x + static_cast<std::size_t>(first) * kTileLanes;
    for (int half = 0; half < 2; ++half) {
      // A kVector x kVector transposition in log2 steps: exchange blocks of size 1, 2, 4, ... between row pairs.
      Vec row[kVector];
#pragma GCC unroll 16
      for (int i = 0; i < kVector; ++i) row[i] = load(from + i * kTileLanes + half * kVector);
#pragma GCC unroll 16
      for (int width = 1; width < kVector; width *= 2) {
        IntVec low, high;
        for (int i = 0; i < kVector; ++i) {
          low[i] = (i & width) ? kVector + (i ^ width) : i;
          high[i] = (i & width) ? kVector + i : (i ^ width);
        }
#pragma GCC unroll 16
        for (int i = 0; i < kVector; ++i) {
          if (i & width) continue;
          const Vec a = row[i], b = row[i | width];
          row[i] = shuffle(a, b, low);
          row[i | width] = shuffle(a, b, high);
        }
      }
#pragma GCC unroll 16
      for (int i = 0; i < kVector; ++i) store(to + (half * kVector + i) * kTileLanes, row[i]);
    }
  }
}

// out (R, V vectors) += sum_{t, lane} g[t][row][lane] * x[t][lane][column]. g: rows of kTileLanes, time stride in floats.
template <int R, int V>
inline void panel_outer(float* out, int out_stride, const float* g, std::size_t g_stride, int time, const float* x) {
  Vec sum[R][V];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) sum[r][v] = load_loose(out + r * out_stride + v * kVector);
  for (int t = 0; t < time; ++t, g += g_stride) {
    for (int lane = 0; lane < kTileLanes; ++lane, x += kTileLanes) {
      Vec b[V];
#pragma GCC unroll 2
      for (int v = 0; v < V; ++v) b[v] = load(x + v * kVector);
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) {
        const Vec factor = broadcast(g[r * kTileLanes + lane]);
#pragma GCC unroll 2
        for (int v = 0; v < V; ++v) sum[r][v] += factor * b[v];
      }
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) store_loose(out + r * out_stride + v * kVector, sum[r][v]);
}

// out (M, out_stride) += sum over t < time and lanes of g_t (M, lanes) * x_t (N, lanes)^T, x as made by transpose_into
// with the same time. N is a multiple of kVector.
inline void accumulate_outer(float* out, int out_stride, int m, int n, const float* g, std::size_t g_stride, int time,
                             const float* x) {
  for (int column = 0; column < n; column += kTileLanes) {
    const float* panel = x + static_cast<std::size_t>(column) * time * kTileLanes;
    const bool whole = n - column >= kTileLanes;
    for (int row = 0; row < m; row += kPanel) {
      const int rows = m - row < kPanel ? m - row : kPanel;
      float* o = out + static_cast<std::size_t>(row) * out_stride + column;
      with_rows(rows, [&]<int R>() {
        if (whole) panel_outer<R, 2>(o, out_stride, g + row * kTileLanes, g_stride, time, panel);
        else panel_outer<R, 1>(o, out_stride, g + row * kTileLanes, g_stride, time, panel);
      });
    }
  }
}

}  // namespace penn
