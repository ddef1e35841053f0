// The basis in which Adam runs for one weight matrix W (m, n): the eigenvectors of the running means of G G^T and G^T G, where G is its
// gradient (SOAP: Vyas et al. 2024). Statistics of a trajectory are strongly correlated, so that along the weights' own axes every step is
// a compromise; in this basis the curvature is nearly diagonal, and a training needs a fraction of the steps (docs/recipe.md).
#pragma once

#include <torch/torch.h>

#include <vector>

namespace penn {

class GradientBasis {
 public:
  static bool is_useful(const torch::Tensor& weights);  // matrices of a size worth rotating
  GradientBasis(int64_t rows, int64_t columns);

  void observe(const torch::Tensor& gradient);                     // updates the means; the first call sets the basis
  torch::Tensor to_basis(const torch::Tensor& gradient) const;     // Q_L^T G Q_R
  torch::Tensor from_basis(const torch::Tensor& step) const;       // Q_L N Q_R^T
  // One power iteration towards the present eigenvectors; takes Adam's two means (m, n) along.
  void refresh(torch::Tensor first_moment, torch::Tensor second_moment);

  // For checkpoints: all four matrices, one after the other.
  int64_t size() const { return 2 * (rows_ * rows_ + columns_ * columns_); }
  void write(std::vector<float>& out) const;
  const float* read(const float* from);

 private:
  int64_t rows_, columns_;
  bool is_set_ = false;
  torch::Tensor left_, right_;             // running means of G G^T (m, m) and G^T G (n, n)
  torch::Tensor left_basis_, right_basis_; // their eigenvectors, largest first
};

}  // namespace penn
