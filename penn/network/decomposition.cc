#include "penn/network/decomposition.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "penn/base/aligned.h"
#include "penn/network/matrix.h"

namespace penn {
namespace {

float dot(const float* a, const float* b, int64_t n) {
  float sums[32] = {};  // side by side: a single chain of additions would wait for itself
  int64_t i = 0;
  for (; i + 32 <= n; i += 32)
    for (int64_t j = 0; j < 32; ++j) sums[j] += a[i + j] * b[i + j];
  for (; i < n; ++i) sums[i % 32] += a[i] * b[i];
  return std::accumulate(sums, sums + 32, 0.0f);
}

// The b columns of a panel, each k numbers and `step` from the next: reflections v (b, k), v_i = 0 before i, that make
// them triangular one after the other, and t (b, b) with H_1 ... H_b = I + V^T t V. The panel itself keeps nothing that
// is used again.
void reflect(float* panel, int64_t step, int64_t b, int64_t k, float* v, float* t) {
  std::fill(v, v + b * k, 0.0f);
  std::fill(t, t + b * b, 0.0f);
  for (int64_t i = 0; i < b; ++i) {
    float *column = panel + i * step, *vi = v + i * k;
    const float norm = std::sqrt(dot(column + i, column + i, k - i));
    if (norm == 0) continue;  // nothing to reflect: H_i = I
    const float inverse = 1 / (column[i] + std::copysign(norm, column[i]));
    vi[i] = 1;
    for (int64_t j = i + 1; j < k; ++j) vi[j] = column[j] * inverse;
    const float tau = 2 / dot(vi + i, vi + i, k - i);
    for (int64_t r = i + 1; r < b; ++r) {
      float* other = panel + r * step;
      const float along = tau * dot(other + i, vi + i, k - i);
      for (int64_t j = i; j < k; ++j) other[j] -= along * vi[j];
    }
    // The next column of t: -tau (e_i + t V v_i).
    for (int64_t r = 0; r < i; ++r) {
      const float product = tau * dot(v + r * k + i, vi + i, k - i);
      for (int64_t q = 0; q <= r; ++q) t[q * b + i] -= product * t[q * b + r];
    }
    t[i * b + i] = -tau;
  }
}

}  // namespace

void eigenvectors(const double* symmetric, int64_t n, double* vectors, std::vector<double>& values) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(Eigen::Map<const Eigen::MatrixXd>(symmetric, n, n));
  Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(vectors, n, n) =
      solver.eigenvectors().rowwise().reverse();
  values.resize(static_cast<size_t>(n));
  Eigen::Map<Eigen::VectorXd>(values.data(), n) = solver.eigenvalues().reverse();
}

// Schreiber and Van Loan 1989: a block of reflections is I - V^T T V, so that nearly all work is matrix products.
void orthonormalise(float* a, int64_t n, int threads) {
  const int64_t block = n > 512 ? 72 : 24;
  AlignedVector<float> columns(static_cast<size_t>(n * n)), V(columns.size()), T(static_cast<size_t>(n * block)), x,
      y;  // columns: a's, one after the other
  transpose(a, n, n, columns.data());
  x.resize(T.size());
  y.resize(T.size());
  for (int64_t first = 0; first < n; first += block) {
    const int64_t b = std::min(block, n - first), k = n - first, below = k - b;
    float *panel = &columns[static_cast<size_t>(first * n + first)], *v = &V[static_cast<size_t>(first * n)],
          *t = &T[static_cast<size_t>(first * block)];
    reflect(panel, n, b, k, v, t);
    float* rest = panel + b * n;  // the columns to come: each minus (column V^T) T V
    multiply_on(threads, x.data(), b, {rest, n, 1}, transposed(v, k), below, b, k);
    multiply_on(threads, y.data(), b, rows_of(x.data(), b), rows_of(t, b), below, b, b);
    multiply_on(threads, rest, n, rows_of(y.data(), b), rows_of(v, k), below, k, b, true);
  }
  std::fill(a, a + n * n, 0.0f);
  for (int64_t i = 0; i < n; ++i) a[i * n + i] = 1;
  for (int64_t first = (n - 1) / block * block; first >= 0; first -= block) {
    const int64_t b = std::min(block, n - first), k = n - first;
    const float *v = &V[static_cast<size_t>(first * n)], *t = &T[static_cast<size_t>(first * block)];
    float* rest = a + first * n + first;  // minus V^T (T V rest)
    multiply_on(threads, x.data(), k, rows_of(v, k), {rest, n, 1}, b, k, k);
    multiply(y.data(), k, rows_of(t, b), rows_of(x.data(), k), b, k, b);
    multiply_on(threads, rest, n, transposed(v, k), rows_of(y.data(), k), k, k, b, true);
  }
}

}  // namespace penn
