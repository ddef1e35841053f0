// Matrix products of float32 on one thread. Every element is summed in the same order whatever the size of the rest:
// rows of a product do not depend on their neighbours, and threads may share out the rows of a result in any way.
//   c (M, N) (+)= a (M, K) b (K, N),   c_ij = sum over blocks of k of [fma chain over the block, from 0]
#pragma once

#include <cstddef>
#include <cstdint>

#include "penn/base/aligned.h"

namespace penn {

// Element (i, j) is data[i * row_step + j * column_step]; one of the steps is 1.
struct MatrixView {
  const float* data;
  std::ptrdiff_t row_step, column_step;
};
inline MatrixView rows_of(const float* data, int64_t columns) {
  return {data, columns, 1};
}  // as stored, row by row
inline MatrixView transposed(const float* data, int64_t columns) {
  return {data, 1, columns};
}  // of what is stored so
inline MatrixView from_row(MatrixView a, int64_t row) {
  return {a.data + row * a.row_step, a.row_step, a.column_step};
}

inline constexpr int64_t kSumBlock = 256;  // terms summed before they are added to the result

// add: c += a b instead of c = a b. c has rows of c_step floats. block: terms of one partial sum; it decides the
// rounding.
void multiply(float* c, int64_t c_step, MatrixView a, MatrixView b, int64_t M, int64_t N, int64_t K, bool add = false,
              int64_t block = kSumBlock);

// The same on several threads, which share out the rows.
void multiply_on(int threads, float* c, int64_t c_step, MatrixView a, MatrixView b, int64_t M, int64_t N, int64_t K,
                 bool add = false);
// to (columns, rows) = the transpose of from (rows, columns)
void transpose(const float* from, int64_t rows, int64_t columns, float* to);

// b (K, N) as the products read it: for a matrix that is used again and again. The same sums as with b itself.
class PackedMatrixRight {
 public:
  PackedMatrixRight() = default;
  PackedMatrixRight(MatrixView b, int64_t K, int64_t N);
  // Columns from `column` on, a multiple of the tile's, of the block of rows from `first` on.
  const float* panel(int64_t first, int64_t column) const;

 private:
  int64_t K_ = 0, columns_ = 0;  // columns in whole tiles
  AlignedVector<float> data_;
};
void multiply(float* c, int64_t c_step, MatrixView a, const PackedMatrixRight& b, int64_t M, int64_t N, int64_t K);

}  // namespace penn
