// Textbook algorithms, written for clarity: the matrices here are at most a few dozen wide.
#include "penn/posterior/linear_algebra.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

namespace penn {

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

DenseMatrix identity_matrix(std::size_t n) {
  DenseMatrix result(n, n);
  for (std::size_t i = 0; i < n; ++i) result(i, i) = 1.0;
  return result;
}

DenseMatrix qr_upper(DenseMatrix a) {
  const std::size_t n = a.columns;
  assert(a.rows >= n);
  for (std::size_t k = 0; k < n; ++k) {
    // The row with the largest entry goes first (Powell and Reid): rows of very different size, as in a product of a
    // sharp and a flat component, then each keep their own digits. V^T V does not care about the order of rows.
    std::size_t pivot = k;
    for (std::size_t r = k + 1; r < a.rows; ++r)
      if (std::fabs(a(r, k)) > std::fabs(a(pivot, k))) pivot = r;
    const double largest = std::fabs(a(pivot, k));
    if (largest == 0.0) continue;
    if (pivot != k) std::swap_ranges(&a(k, 0), &a(k, 0) + n, &a(pivot, 0));
    double sum = 0.0;
    for (std::size_t r = k; r < a.rows; ++r) sum += (a(r, k) / largest) * (a(r, k) / largest);
    const double norm = largest * std::sqrt(sum);
    const double sign = a(k, k) > 0.0 ? -1.0 : 1.0;  // away from cancellation
    const double alpha = sign * norm;                // the new diagonal entry
    // Reflection I - v v^T / (v_k norm'), v = column - alpha e_k, stored scaled so that v_k = 1.
    const double head = a(k, k) - alpha;
    const double beta = -head / alpha;
    for (std::size_t r = k + 1; r < a.rows; ++r) a(r, k) /= head;
    for (std::size_t c = k + 1; c < n; ++c) {
      double projection = a(k, c);
      for (std::size_t r = k + 1; r < a.rows; ++r) projection += a(r, k) * a(r, c);
      projection *= beta;
      a(k, c) -= projection;
      for (std::size_t r = k + 1; r < a.rows; ++r) a(r, c) -= projection * a(r, k);
    }
    a(k, k) = alpha;
  }
  DenseMatrix v(n, n);
  for (std::size_t k = 0; k < n; ++k) {
    const double sign = a(k, k) < 0.0 ? -1.0 : 1.0;
    for (std::size_t c = k; c < n; ++c) v(k, c) = sign * a(k, c);
  }
  return v;
}

DenseMatrix rq_upper(const DenseMatrix& a) {
  // With J the reversal of order: (J A)^T = Q V, so A A^T = J V^T V J = (J V^T J)(J V^T J)^T, and J V^T J is upper.
  const std::size_t n = a.rows;
  DenseMatrix reversed(a.columns, n);
  for (std::size_t r = 0; r < n; ++r)
    for (std::size_t c = 0; c < a.columns; ++c) reversed(c, n - 1 - r) = a(r, c);
  const DenseMatrix v = qr_upper(std::move(reversed));
  DenseMatrix t(n, n);
  for (std::size_t r = 0; r < n; ++r)
    for (std::size_t c = r; c < n; ++c) t(r, c) = v(n - 1 - c, n - 1 - r);
  return t;
}

bool reverse_cholesky(const DenseMatrix& s, DenseMatrix* t) {
  const std::size_t n = s.rows;
  *t = DenseMatrix(n, n);
  for (std::size_t j = n; j-- > 0;) {
    double pivot = s(j, j);
    for (std::size_t k = j + 1; k < n; ++k) pivot -= (*t)(j, k) * (*t)(j, k);
    if (!(pivot > 0.0) || !std::isfinite(pivot)) return false;
    const double diagonal = std::sqrt(pivot);
    (*t)(j, j) = diagonal;
    for (std::size_t i = 0; i < j; ++i) {
      double sum = s(i, j);
      for (std::size_t k = j + 1; k < n; ++k) sum -= (*t)(i, k) * (*t)(j, k);
      (*t)(i, j) = sum / diagonal;
    }
  }
  return true;
}

bool cholesky(const DenseMatrix& s, DenseMatrix* l) {
  const std::size_t n = s.rows;
  *l = DenseMatrix(n, n);
  for (std::size_t j = 0; j < n; ++j) {
    double pivot = s(j, j);
    for (std::size_t k = 0; k < j; ++k) pivot -= (*l)(j, k) * (*l)(j, k);
    if (!(pivot > 0.0) || !std::isfinite(pivot)) return false;
    (*l)(j, j) = std::sqrt(pivot);
    for (std::size_t i = j + 1; i < n; ++i) {
      double sum = s(i, j);
      for (std::size_t k = 0; k < j; ++k) sum -= (*l)(i, k) * (*l)(j, k);
      (*l)(i, j) = sum / (*l)(j, j);
    }
  }
  return true;
}

void solve_upper(const double* u, std::size_t n, std::span<double> x) {
  for (std::size_t i = n; i-- > 0;) {
    double sum = x[i];
    for (std::size_t k = i + 1; k < n; ++k) sum -= u[i * n + k] * x[k];
    x[i] = sum / u[i * n + i];
  }
}

void solve_upper_transposed(const double* u, std::size_t n, std::span<double> x) {
  for (std::size_t i = 0; i < n; ++i) {
    double sum = x[i];
    for (std::size_t k = 0; k < i; ++k) sum -= u[k * n + i] * x[k];
    x[i] = sum / u[i * n + i];
  }
}

DenseMatrix inverse_upper(const double* u, std::size_t n) {
  DenseMatrix result(n, n);
  for (std::size_t c = 0; c < n; ++c) {
    result(c, c) = 1.0 / u[c * n + c];
    for (std::size_t r = c; r-- > 0;) {
      double sum = 0.0;
      for (std::size_t k = r + 1; k <= c; ++k) sum -= u[r * n + k] * result(k, c);
      result(r, c) = sum / u[r * n + r];
    }
  }
  return result;
}

void solve_cholesky(const DenseMatrix& l, std::span<double> x) {
  const std::size_t n = l.rows;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) x[i] -= l(i, k) * x[k];
    x[i] /= l(i, i);
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) x[i] -= l(k, i) * x[k];
    x[i] /= l(i, i);
  }
}

DenseMatrix outer_gram(const DenseMatrix& a) {
  DenseMatrix result(a.rows, a.rows);
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::size_t j = 0; j <= i; ++j) result(i, j) = result(j, i) = dot(a.row(i), a.row(j));
  return result;
}

DenseMatrix inner_gram(const DenseMatrix& a) {
  DenseMatrix result(a.columns, a.columns);
  for (std::size_t r = 0; r < a.rows; ++r)
    for (std::size_t i = 0; i < a.columns; ++i)
      for (std::size_t j = 0; j < a.columns; ++j) result(i, j) += a(r, i) * a(r, j);
  return result;
}

std::pair<std::vector<double>, DenseMatrix> symmetric_eigen(DenseMatrix s) {
  const std::size_t n = s.rows;
  DenseMatrix vectors = identity_matrix(n);  // rows turn into eigenvectors
  for (int sweep = 0; sweep < 60; ++sweep) {
    double off = 0.0, total = 0.0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        total += s(i, j) * s(i, j);
        if (i != j) off += s(i, j) * s(i, j);
      }
    if (off <= 1e-32 * total) break;
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t q = p + 1; q < n; ++q) {
        if (s(p, q) == 0.0) continue;
        const double theta = (s(q, q) - s(p, p)) / (2.0 * s(p, q));
        const double t = (theta >= 0.0 ? 1.0 : -1.0) / (std::fabs(theta) + std::hypot(1.0, theta));
        const double c = 1.0 / std::hypot(1.0, t), sn = t * c;
        for (std::size_t k = 0; k < n; ++k) {
          const double kp = s(k, p), kq = s(k, q);
          s(k, p) = c * kp - sn * kq;
          s(k, q) = sn * kp + c * kq;
        }
        for (std::size_t k = 0; k < n; ++k) {
          const double pk = s(p, k), qk = s(q, k);
          s(p, k) = c * pk - sn * qk;
          s(q, k) = sn * pk + c * qk;
          const double vp = vectors(p, k), vq = vectors(q, k);
          vectors(p, k) = c * vp - sn * vq;
          vectors(q, k) = sn * vp + c * vq;
        }
      }
  }
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return s(a, a) > s(b, b); });
  std::pair<std::vector<double>, DenseMatrix> result{std::vector<double>(n), DenseMatrix(n, n)};
  for (std::size_t i = 0; i < n; ++i) {
    result.first[i] = s(order[i], order[i]);
    for (std::size_t k = 0; k < n; ++k) result.second(i, k) = vectors(order[i], k);
  }
  return result;
}

DenseMatrix correlation_of(DenseMatrix covariance) {
  DenseMatrix& c = covariance;
  std::vector<double> sd(c.rows);
  for (std::size_t k = 0; k < c.rows; ++k) sd[k] = std::sqrt(c(k, k));
  for (std::size_t r = 0; r < c.rows; ++r)
    for (std::size_t l = 0; l < c.rows; ++l) c(r, l) = r == l ? 1.0 : std::clamp(c(r, l) / sd[r] / sd[l], -1.0, 1.0);
  return covariance;
}

}  // namespace penn
