// The basis in which Adam runs for one weight matrix (m, n): the eigenvectors of the running means of G G^T and G^T G,
// where G is its gradient (SOAP: Vyas et al. 2024). Statistics of a trajectory are strongly correlated, so that along
// the weights' own axes every step is a compromise; in this basis the curvature is nearly diagonal, and a training
// needs a fraction of the steps (docs/notes/recipe.md). Rows, or columns, of every product can be computed on their
// own: several threads share a matrix.
#pragma once

#include <cstdint>
#include <vector>

#include "penn/base/aligned.h"
#include "penn/network/matrix.h"
#include "penn/network/weights.h"

namespace penn {

class GradientBasis {
 public:
  static bool is_useful(const Shape& shape);  // matrices of a size worth rotating
  GradientBasis(int64_t rows, int64_t columns);

  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }

  // Running means of G G^T (rows [first, last)) and G^T G (rows scaled to the same fraction of its columns). scale: of
  // the gradient.
  void observe(const float* gradient, float scale, int64_t first, int64_t last);
  // From the first gradient; later steps turn it.
  void set_basis(const float* gradient);

  // Columns [first, last) of out = Q_L^T G.
  void rotate_left(const float* gradient, int64_t first, int64_t last, float* out) const;
  // Rows [first, last): out = x Q_R, and out = x Q_R^T.
  void rotate_right(const float* x, int64_t first, int64_t last, float* out) const;
  void rotate_right_back(const float* x, int64_t first, int64_t last, float* out) const;
  // Columns [first, last) of out = Q_L x.
  void rotate_left_back(const float* x, int64_t first, int64_t last, float* out) const;

  // One power iteration towards the present eigenvectors; takes Adam's two means (m, n) along.
  void refresh(float* first_moment, float* second_moment, int threads = 1);

  // For checkpoints: all four matrices, one after the other.
  int64_t size() const { return 2 * (rows_ * rows_ + columns_ * columns_); }
  void write(std::vector<float>& out) const;
  const float* read(const float* from);

 private:
  int64_t rows_, columns_;
  AlignedVector<float> left_, right_;  // running means of G G^T (m, m) and G^T G (n, n); their upper triangles count
  AlignedVector<float> left_basis_, right_basis_;  // their eigenvectors, as columns, largest first
  // What the rotations of every step read, made when the bases change: Q_L^T; Q_R and Q_R^T.
  void prepare();
  AlignedVector<float> left_transposed_;
  PackedMatrixRight packed_right_, packed_right_back_;
};

}  // namespace penn
