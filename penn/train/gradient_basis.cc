#include "penn/train/gradient_basis.h"

namespace penn {
namespace {

constexpr double kMemory = 0.95;           // of the running means, per observation
constexpr int64_t kSmallest = 9, kLargest = 4096;

torch::Tensor eigenvectors(const torch::Tensor& symmetric) { return std::get<1>(torch::linalg_eigh(symmetric)).flip(1).contiguous(); }

// Orthonormal columns that span A Q, in falling order of their eigenvalues; `order` tells where each column came from.
torch::Tensor power_iteration(const torch::Tensor& a, const torch::Tensor& q, torch::Tensor& order) {
  const torch::Tensor aq = a.matmul(q);
  order = std::get<1>((q * aq).sum(0).sort(0, /*descending=*/true));
  return std::get<0>(torch::linalg_qr(aq.index_select(1, order))).contiguous();
}

}  // namespace

bool GradientBasis::is_useful(const torch::Tensor& w) {
  return w.dim() == 2 && std::min(w.size(0), w.size(1)) >= kSmallest && std::max(w.size(0), w.size(1)) <= kLargest;
}

GradientBasis::GradientBasis(int64_t rows, int64_t columns)
    : rows_(rows), columns_(columns), left_(torch::zeros({rows, rows})), right_(torch::zeros({columns, columns})), left_basis_(torch::eye(rows)),
      right_basis_(torch::eye(columns)) {}

void GradientBasis::observe(const torch::Tensor& g) {
  left_.mul_(kMemory).addmm_(g, g.t(), 1, 1 - kMemory);
  right_.mul_(kMemory).addmm_(g.t(), g, 1, 1 - kMemory);
  if (is_set_) return;
  left_basis_ = eigenvectors(left_);
  right_basis_ = eigenvectors(right_);
  is_set_ = true;
}

torch::Tensor GradientBasis::to_basis(const torch::Tensor& g) const { return left_basis_.t().matmul(g).matmul(right_basis_).contiguous(); }
torch::Tensor GradientBasis::from_basis(const torch::Tensor& n) const { return left_basis_.matmul(n).matmul(right_basis_.t()).contiguous(); }

void GradientBasis::refresh(torch::Tensor first, torch::Tensor second) {
  const torch::Tensor in_weights = from_basis(first);
  torch::Tensor rows, columns;
  left_basis_ = power_iteration(left_, left_basis_, rows);
  right_basis_ = power_iteration(right_, right_basis_, columns);
  first.copy_(to_basis(in_weights));
  second.copy_(second.index_select(0, rows).index_select(1, columns));
}

void GradientBasis::write(std::vector<float>& out) const {
  for (const torch::Tensor* t : {&left_, &right_, &left_basis_, &right_basis_}) out.insert(out.end(), t->data_ptr<float>(), t->data_ptr<float>() + t->numel());
}

const float* GradientBasis::read(const float* from) {
  for (torch::Tensor* t : {&left_, &right_, &left_basis_, &right_basis_}) {
    std::copy_n(from, t->numel(), t->data_ptr<float>());
    from += t->numel();
  }
  is_set_ = true;
  return from;
}

}  // namespace penn
