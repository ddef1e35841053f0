// Least squares with one trajectory per lane: products of columns in tiles of 3 by 3, which stay in registers, and a
// ridge regression in double precision. Columns come weighted by the root of the weight, responses are columns like the
// others.
#pragma once

#include "penn/summary/lane_series.h"

namespace penn {

inline constexpr int kMaxColumns = kSecondOwn + 3 * kMaxOthers + 1;
inline constexpr int kRegressionChunk = 32;
static_assert((kSecondOwn + 1) % 3 == 0 && (kFirstOwn + 1) % 3 == 0 && (kCubicOwn + 1) % 3 == 0 &&
              (kLocalOwn + 2) % 3 == 0);

using Gram = D[kMaxColumns][kMaxColumns];
using Columns = float[kMaxColumns][kRegressionChunk * kRow];

// Adds the products of columns i..i+2 with j..j+2, for `count` rows.
void tile_sums(const Columns& x, int i, int j, int count, Gram& G);

struct Fit {
  int size;                  // K
  F b[kMaxColumns];          // coefficients
  F log_error[kMaxColumns];  // ln of their standard errors
  D unexplained;             // weighted mean square of the response less what the fit explains
};

// (G + ridge) b = g with G (K, K) in the upper triangle and g = G[.][response], all divided by count; b by L D L^T.
// noise: see regress() in regression_reference.cc; null means the response's own mean square. constant: what the first
// column is before it is weighted.
Fit solve(const Gram& G, int K, int response, double count, const D* noise, const D& constant = D(1));

// Mean products of columns, upper triangle; fill(t, x) writes the weighted columns of sample t. Their number is a
// multiple of 3.
template <class Fill>
void fill_gram(int64_t begin, int64_t end, int columns, Gram& G, Fill fill) {
  alignas(64) Columns x;
  for (int64_t chunk = begin; chunk < end; chunk += kRegressionChunk) {
    const int count = static_cast<int>(std::min<int64_t>(kRegressionChunk, end - chunk));
    for (int i = 0; i < count; ++i) {
      F row[kMaxColumns];
      fill(chunk + i, row);
      for (int k = 0; k < columns; ++k) lanes::store(x[k] + i * kRow, row[k]);
    }
    for (int i = 0; i < columns; i += 3)
      for (int j = i; j < columns; j += 3) tile_sums(x, i, j, count, G);
  }
  const D per_count(1 / static_cast<double>(end - begin));
  for (int i = 0; i < columns; ++i)
    for (int j = i; j < columns; ++j) G[i][j] = G[i][j] * per_count;
}

// The fit of the last of K + 1 columns by the others.
template <class Fill>
Fit regress(int64_t begin, int64_t end, int K, const D* noise, Fill fill, const D& constant = D(1)) {
  Gram G;
  fill_gram(begin, end, K + 1, G, fill);
  return solve(G, K, K, static_cast<double>(end - begin), noise, constant);
}

}  // namespace penn
