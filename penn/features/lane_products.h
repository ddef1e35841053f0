// Sums over time of products of columns, one trajectory per lane: what regressions, bins and grids are made of.
// Products are added up in register tiles, in float32 over kSamples and then in double.
// And a ridge regression on them.
#pragma once

#include <initializer_list>
#include <vector>

#include "penn/features/definitions.h"
#include "penn/features/lane_math.h"

namespace penn {

// A regression: the columns of its terms in the order of their features, and of the response.
struct Terms {
  static constexpr int kMost = kSecondOwn + 3 * kMaxOthers;
  int size = 0, response = 0;
  int column[kMost];
  void add(int k) { column[size++] = k; }
};
struct Fit {
  int size;
  F b[Terms::kMost], log_error[Terms::kMost];  // coefficients, ln of their standard errors
  D unexplained;                               // weighted mean square of the response less what the fit explains
};

// Rows i and columns j >= i of the products that are wanted. kHats: row i is the membership of bin i at the position
// that stands in column 0.
struct ProductBlock {
  int row, rows, column, columns;
  enum Rows { kColumns, kHats } kind = kColumns;
};

class ProductSums {
 public:
  static constexpr int kMaxColumns = 64, kSamples = 48,
                       kColumn = kSamples * kRow;  // floats from a column to the next

  // fill(t, x) writes the columns of sample t to x, x + kColumn, ..., begin <= t < end. Where samples have weights,
  // they are multiplied by its root. Means afterwards.
  template <class Fill>
  void compute(int64_t begin, int64_t end, std::initializer_list<ProductBlock> blocks, Fill fill) {
    tiles_.clear();
    for (const ProductBlock& block : blocks) add_tiles(block);
    for (int64_t first = begin; first < end; first += kSamples) {
      const int count = static_cast<int>(std::min<int64_t>(kSamples, end - first));
      for (int i = 0; i < count; ++i) fill(first + i, x_ + i * kRow);
      for (Tile& tile : tiles_) tile.sums(tile, x_, count);
      carry();
    }
    divide(static_cast<double>(end - begin));
  }
  const D& operator()(int i, int j) const { return i <= j ? total_[i][j] : total_[j][i]; }

  // (G + ridge) b = g by L D L^T, from the means of `count` samples; column 0 is the constant. noise: see regress() in
  // regression_reference.cc; null means the response's own mean square. constant: the value of column 0.
  Fit solve(const Terms& terms, double count, const D* noise, const D& constant = D(1));

 private:
  struct Tile {
    int i, rows, j, columns;
    void (*sums)(Tile& tile, const float* x, int count);
    F sum[12];  // (rows, columns)
  };
  template <int A, int B>
  static void tile_sums(Tile& tile, const float* x, int count);
  template <int B>
  static void hat_sums(Tile& tile, const float* x, int count);
  void add_tiles(const ProductBlock& block);
  void carry();  // from the tiles to total_
  void divide(double count);

  alignas(64) float x_[kMaxColumns * kColumn];
  std::vector<Tile> tiles_;
  D total_[kMaxColumns][kMaxColumns], L_[Terms::kMost][Terms::kMost];
};

}  // namespace penn
