// See lane_regression.h.
#include "penn/summary/lane_regression.h"

namespace penn {

using lanes::load;

void tile_sums(const Columns& x, int i, int j, int count, Gram& G) {
  F sum[3][3] = {};
  for (int t = 0; t < count; ++t) {
    const F left[3] = {load(x[i] + t * kRow), load(x[i + 1] + t * kRow), load(x[i + 2] + t * kRow)};
#pragma GCC unroll 3
    for (int s = 0; s < 3; ++s) {
      const F right = load(x[j + s] + t * kRow);
#pragma GCC unroll 3
      for (int r = 0; r < 3; ++r) sum[r][s] += left[r] * right;
    }
  }
  for (int r = 0; r < 3; ++r)
    for (int s = 0; s < 3; ++s) G[i + r][j + s] += D(sum[r][s]);
}

Fit solve(const Gram& G, int K, int response, double count, const D* noise, const D& constant) {
  const D weight = G[0][0] / (constant * constant) + D(1e-6), square = G[response][response];
  const D penalty =
      (noise ? *noise : square / weight) * D(1 / (double{kCoefficientPrior} * kCoefficientPrior * count)) + D(1e-30);
  D L[kMaxColumns][kMaxColumns], rest[kMaxColumns], b[kMaxColumns];
  for (int i = 0; i < K; ++i) {
    for (int j = i; j < K; ++j) L[i][j] = G[i][j];
    L[i][i] += D(kRidge) * G[i][i] + penalty;
    rest[i] = G[i][response];
  }
  for (int i = 0; i < K; ++i) {
    const D inverse = D(1) / L[i][i];
    for (int r = i + 1; r < K; ++r) {
      const D factor = L[i][r] * inverse;
      for (int s = r; s < K; ++s) L[r][s] -= factor * L[i][s];
      rest[r] -= factor * rest[i];
    }
  }
  Fit fit;
  fit.size = K;
  fit.unexplained = square;
  for (int i = K; i-- > 0;) {
    for (int s = i + 1; s < K; ++s) rest[i] -= L[i][s] * b[s];
    b[i] = rest[i] / L[i][i];
    fit.b[i] = b[i].narrow();
    fit.unexplained -= b[i] * G[i][response];
  }
  fit.unexplained = larger(fit.unexplained, D(1e-5) * square) / weight;
  // L is now upper triangular with D on its diagonal, G = L^T D^-1 L: column k of L^-1, squared and times D_k, adds to
  // the diagonal of the inverse.
  D variance[kMaxColumns];
  for (int k = 0; k < K; ++k) {
    D v[kMaxColumns];
    v[k] = D(1) / L[k][k];
    for (int i = k; i-- > 0;) {
      D sum;
      for (int s = i + 1; s <= k; ++s) sum += L[i][s] * v[s];
      v[i] = (D() - sum) / L[i][i];
    }
    for (int i = 0; i <= k; ++i) variance[i] += v[i] * v[i] * L[k][k];
  }
  for (int i = 0; i < K; ++i)
    fit.log_error[i] = clamp(log_positive((variance[i] * fit.unexplained / D(count)).narrow()) * 0.5f, kErrorLimit);
  return fit;
}

}  // namespace penn
