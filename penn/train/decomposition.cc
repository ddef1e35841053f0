#include "penn/train/decomposition.h"

#include <Eigen/Dense>

namespace penn {
namespace {

template <class T>
using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class T>
Eigen::SelfAdjointEigenSolver<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>> solve(const T* symmetric, int64_t n) {
  return Eigen::SelfAdjointEigenSolver<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>>(Eigen::Map<const RowMajor<T>>(symmetric, n, n));
}

}  // namespace

void eigenvectors(const float* symmetric, int64_t n, float* vectors) {
  Eigen::Map<RowMajor<float>>(vectors, n, n) = solve(symmetric, n).eigenvectors().rowwise().reverse();
}

void eigenvectors(const double* symmetric, int64_t n, double* vectors, std::vector<double>& values) {
  const auto solver = solve(symmetric, n);
  Eigen::Map<RowMajor<double>>(vectors, n, n) = solver.eigenvectors().rowwise().reverse();
  values.resize(static_cast<size_t>(n));
  Eigen::Map<Eigen::VectorXd>(values.data(), n) = solver.eigenvalues().reverse();
}

void orthonormalise(float* a, int64_t n) {
  Eigen::Map<RowMajor<float>> matrix(a, n, n);
  Eigen::HouseholderQR<Eigen::MatrixXf> qr{Eigen::MatrixXf(matrix)};
  matrix = Eigen::MatrixXf(qr.householderQ());
}

}  // namespace penn
