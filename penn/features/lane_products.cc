// See lane_products.h.
#include "penn/features/lane_products.h"

namespace penn {

using lanes::load;

// sum[a][b] = sum over samples of x[i + a] * x[j + b].
template <int A, int B>
void ProductSums::tile_sums(Tile& tile, const float* x, int count) {
  const float *left = x + tile.i * kColumn, *right = x + tile.j * kColumn;
  F s[A][B] = {};
  for (int t = 0; t < count * kRow; t += kRow) {
    F l[A];
#pragma GCC unroll 4
    for (int a = 0; a < A; ++a) l[a] = load(left + a * kColumn + t), in_register(l[a]);
#pragma GCC unroll 4
    for (int b = 0; b < B; ++b) {
      F r = load(right + b * kColumn + t);
      in_register(r);
#pragma GCC unroll 4
      for (int a = 0; a < A; ++a) s[a][b] += l[a] * r;
    }
  }
#pragma GCC unroll 12
  for (int k = 0; k < A * B; ++k) tile.sum[k] = s[k / B][k % B];
}

// sum[b] = sum over samples of the membership of bin i times x[j + b].
template <int B>
void ProductSums::hat_sums(Tile& tile, const float* x, int count) {
  const float *right = x + tile.j * kColumn, bin = static_cast<float>(tile.i);
  F s[B] = {};
  for (int t = 0; t < count * kRow; t += kRow) {
    const F h = hat(load(x + t), bin);
#pragma GCC unroll 12
    for (int b = 0; b < B; ++b) s[b] += h * load(right + b * kColumn + t);
  }
#pragma GCC unroll 12
  for (int b = 0; b < B; ++b) tile.sum[b] = s[b];
}

void ProductSums::add_tiles(const ProductBlock& block) {
  constexpr decltype(Tile::sums) kTiles[3][4] = {{tile_sums<1, 1>, tile_sums<1, 2>, tile_sums<1, 3>, tile_sums<1, 4>},
                                                 {tile_sums<2, 1>, tile_sums<2, 2>, tile_sums<2, 3>, tile_sums<2, 4>},
                                                 {tile_sums<3, 1>, tile_sums<3, 2>, tile_sums<3, 3>, tile_sums<3, 4>}};
  constexpr decltype(Tile::sums) kHats[] = {hat_sums<1>, hat_sums<2>,  hat_sums<3>,  hat_sums<4>,
                                            hat_sums<5>, hat_sums<6>,  hat_sums<7>,  hat_sums<8>,
                                            hat_sums<9>, hat_sums<10>, hat_sums<11>, hat_sums<12>};
  const bool hats = block.kind == ProductBlock::kHats;
  for (int i = block.row, rows; i < block.row + block.rows; i += rows) {
    rows = even_part(block.row + block.rows - i, hats ? 1 : 3);
    const int end = block.column + block.columns;
    for (int j = std::max(i, block.column), columns; j < end; j += columns) {
      columns = even_part(end - j, hats ? 12 : 4);
      tiles_.push_back({i, rows, j, columns, hats ? kHats[columns - 1] : kTiles[rows - 1][columns - 1], {}});
      for (int a = i; a < i + rows; ++a) std::fill(total_[a] + j, total_[a] + j + columns, D());
    }
  }
}

void ProductSums::carry() {
  for (const Tile& tile : tiles_) {
    const F* next = tile.sum;
    for (int a = tile.i; a < tile.i + tile.rows; ++a)
      for (int b = tile.j; b < tile.j + tile.columns; ++b) total_[a][b] += D(*next++);
  }
}

void ProductSums::divide(double count) {
  for (const Tile& tile : tiles_)
    for (int a = tile.i; a < tile.i + tile.rows; ++a)
      for (int b = tile.j; b < tile.j + tile.columns; ++b) total_[a][b] = total_[a][b] * D(1 / count);
}

Fit ProductSums::solve(const Terms& terms, double count, const D* noise, const D& constant) {
  const ProductSums& G = *this;
  auto& L = L_;
  const int K = terms.size;
  const D weight = G(0, 0) / (constant * constant) + D(1e-6), square = G(terms.response, terms.response);
  const D penalty =
      (noise ? *noise : square / weight) * D(1 / (double{kCoefficientPrior} * kCoefficientPrior * count)) + D(1e-30);
  D inverse[Terms::kMost], rest[Terms::kMost], b[Terms::kMost], variance[Terms::kMost];
  for (int i = 0; i < K; ++i) {
    for (int j = i; j < K; ++j) L[i][j] = G(terms.column[i], terms.column[j]);
    L[i][i] += D(kRidge) * L[i][i] + penalty;
    rest[i] = G(terms.column[i], terms.response);
  }
  for (int i = 0; i < K; ++i) {
    inverse[i] = D(1) / L[i][i];
    for (int r = i + 1; r < K; ++r) {
      const D factor = L[i][r] * inverse[i];
      for (int s = r; s < K; ++s) L[r][s] -= factor * L[i][s];
      rest[r] -= factor * rest[i];
    }
  }
  Fit fit;
  fit.size = K;
  fit.unexplained = square;
  for (int i = K; i-- > 0;) {
    for (int s = i + 1; s < K; ++s) rest[i] -= L[i][s] * b[s];
    b[i] = rest[i] * inverse[i];
    fit.b[i] = b[i].narrow();
    fit.unexplained -= b[i] * G(terms.column[i], terms.response);
  }
  fit.unexplained = larger(fit.unexplained, D(1e-5) * square) / weight;
  // L is now upper triangular with D on its diagonal, G = L^T D^-1 L: column k of L^-1, squared and times D_k, adds to
  // the diagonal of the inverse.
  for (int k = 0; k < K; ++k) {
    D v[Terms::kMost];
    v[k] = inverse[k];
    for (int i = k; i-- > 0;) {
      D sum;
      for (int s = i + 1; s <= k; ++s) sum += L[i][s] * v[s];
      v[i] = (D() - sum) * inverse[i];
    }
    for (int i = 0; i <= k; ++i) variance[i] += v[i] * v[i] * L[k][k];
  }
  for (int i = 0; i < K; ++i)
    fit.log_error[i] = clamp(log_positive((variance[i] * fit.unexplained / D(count)).narrow()) * 0.5f, kErrorLimit);
  return fit;
}

}  // namespace penn
