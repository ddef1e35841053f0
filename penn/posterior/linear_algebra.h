// Dense linear algebra for the few dimensions of a posterior (M up to a few dozen): QR, triangular solves, Cholesky,
// symmetric eigenvectors. Row-major doubles. Wherever a factor can be had by QR it is, because forming A^T A first
// would square the condition number and lose nearly singular components.
#pragma once

#include <cstddef>
#include <span>
#include <utility>  // std::pair
#include <vector>

namespace penn {

struct DenseMatrix {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<double> data;  // (rows, columns)

  DenseMatrix() = default;
  DenseMatrix(std::size_t rows, std::size_t columns) : rows(rows), columns(columns), data(rows * columns, 0.0) {}
  double& operator()(std::size_t r, std::size_t c) { return data[r * columns + c]; }
  double operator()(std::size_t r, std::size_t c) const { return data[r * columns + c]; }
  std::span<const double> row(std::size_t r) const { return {data.data() + r * columns, columns}; }
};

DenseMatrix identity_matrix(std::size_t n);

// A (r, n), r >= n  ->  V (n, n) upper triangular, diagonal >= 0, V^T V = A^T A (Householder; Q is not kept).
DenseMatrix qr_upper(DenseMatrix a);

// A (n, c), c >= n  ->  T (n, n) upper triangular, diagonal >= 0, T T^T = A A^T.
DenseMatrix rq_upper(const DenseMatrix& a);

// S (n, n) symmetric positive definite  ->  T upper triangular with T T^T = S. False if S is not positive definite.
bool reverse_cholesky(const DenseMatrix& s, DenseMatrix* t);

// S (n, n) symmetric positive definite  ->  L lower triangular with L L^T = S. False if S is not positive definite.
bool cholesky(const DenseMatrix& s, DenseMatrix* l);

// Solve U x = b and U^T x = b in place; u points to an (n, n) upper triangular block.
void solve_upper(const double* u, std::size_t n, std::span<double> x);
void solve_upper_transposed(const double* u, std::size_t n, std::span<double> x);

// Inverse of an upper triangular matrix, again upper triangular.
DenseMatrix inverse_upper(const double* u, std::size_t n);

// Solve L L^T x = b in place, L from cholesky().
void solve_cholesky(const DenseMatrix& l, std::span<double> x);

// A A^T and A^T A.
DenseMatrix outer_gram(const DenseMatrix& a);
DenseMatrix inner_gram(const DenseMatrix& a);

// Symmetric S -> eigenvalues in falling order, eigenvectors as the rows of a matrix (cyclic Jacobi).
std::pair<std::vector<double>, DenseMatrix> symmetric_eigen(DenseMatrix s);

double dot(std::span<const double> a, std::span<const double> b);

// Of a covariance matrix: 1 on the diagonal, the rest within [-1, 1].
DenseMatrix correlation_of(DenseMatrix covariance);

}  // namespace penn
