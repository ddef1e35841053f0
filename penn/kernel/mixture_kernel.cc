#include "penn/kernel/mixture_kernel.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace penn {
namespace {

constexpr double kHalfLogTwoPi = 0.91893853320467274178;

// u = softplus(gamma), ln u, and the derivatives du/dgamma, d ln u/dgamma, without loss for large |gamma|.
struct Diagonal {
  double u, log_u, slope, log_slope;
};
Diagonal diagonal(double gamma) {
  const double e = std::exp(-std::fabs(gamma));
  const double u = std::max(gamma, 0.0) + std::log1p(e);
  const double slope = gamma >= 0 ? 1 / (1 + e) : e / (1 + e);
  if (gamma < -40) return {u, gamma, slope, 1.0};  // softplus(gamma) = e^gamma to all digits
  return {u, std::log(u), slope, slope / u};
}

// x -> softmax(x) in place; returns logsumexp of what was there.
double softmax(std::vector<double>& x) {
  const double largest = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (double& v : x) sum += v = std::exp(v - largest);
  for (double& v : x) v /= sum;
  return largest + std::log(sum);
}

// The factor R of U^T U + diag(floor) = R^T R, and what the gradient needs of it.
class FlooredFactor {
 public:
  FlooredFactor(int size, const std::vector<double>& floor) : M_(size), floor_(floor), u_(static_cast<std::size_t>(size) * size), r_(u_.size()), row_(size) {}

  double* u() { return u_.data(); }  // (M, M), upper triangular, to be filled

  // ln det R. The rows of diag(sqrt(floor)) are rotated into U one after the other: U^T U is never formed, which would lose nearly singular ones.
  double decompose() {
    r_ = u_;
    for (int i = 0; i < M_; ++i) {
      std::fill(row_.begin(), row_.end(), 0.0);
      row_[i] = std::sqrt(floor_[i]);
      for (int k = i; k < M_; ++k) {
        if (row_[k] == 0) continue;
        double* r = &r_[k * M_];
        const double length = std::sqrt(r[k] * r[k] + row_[k] * row_[k]), c = r[k] / length, s = row_[k] / length;
        for (int l = k; l < M_; ++l) {
          const double turned = c * r[l] + s * row_[l];
          row_[l] = c * row_[l] - s * r[l];
          r[l] = turned;
        }
      }
    }
    double log_determinant = 0;
    for (int k = 0; k < M_; ++k) log_determinant += std::log(r_[k * M_ + k]);
    return log_determinant;
  }

  // d ln det R / d u_kl = (U P^-1)_kl for l >= k, after decompose(): two triangular solves with row k of U. Valid until the next call.
  const double* log_determinant_slope(int k) {
    for (int l = k; l < M_; ++l) row_[l] = u_[k * M_ + l];
    for (int i = k; i < M_; ++i) {
      const double* r = &r_[i * M_];
      row_[i] /= r[i];
      for (int l = i + 1; l < M_; ++l) row_[l] -= row_[i] * r[l];
    }
    for (int i = M_ - 1; i >= k; --i) {
      const double* r = &r_[i * M_];
      double sum = row_[i];
      for (int l = i + 1; l < M_; ++l) sum -= r[l] * row_[l];
      row_[i] = sum / r[i];
    }
    return row_.data();
  }

 private:
  int M_;
  std::vector<double> floor_, u_, r_, row_;
};

}  // namespace

template <class T>
void mixture_rows(const MixtureShape& shape, std::int64_t begin, std::int64_t end, const T* y, const T* theta, T* log_q,
                  std::uint8_t* bad, T* gradient, double lesson) {
  const int M = shape.parameters, N = shape.components, upper = shape.upper(), K = shape.size();
  std::vector<double> weight(N), term(N), distance(static_cast<std::size_t>(N) * M), product(distance.size()), pull(M);
  std::vector<Diagonal> diag(distance.size());
  const bool has_floor = !shape.least_precision.empty();
  const std::vector<double> floor = has_floor ? shape.least_precision : std::vector<double>(M, 0.0);
  std::vector<FlooredFactor> floored(has_floor && upper ? N : 0, FlooredFactor(M, floor));  // none where the precision is diagonal
  for (std::int64_t b = begin; b < end; ++b) {
    const T* row = y + b * K;
    const T *means = row + N, *gammas = means + N * M, *uppers = gammas + N * M;
    for (int j = 0; j < N; ++j) {
      double* d = &distance[j * M];
      double* v = &product[j * M];  // U (theta - mu)
      double a = row[j];
      for (int k = 0; k < M; ++k) d[k] = static_cast<double>(theta[b * M + k]) - means[j * M + k];
      const T* u = uppers + static_cast<std::int64_t>(j) * upper;
      for (int k = 0; k < M; ++k) {
        const Diagonal& p = diag[j * M + k] = diagonal(gammas[j * M + k]);
        double sum = p.u * d[k];
        if (upper)
          for (int l = k + 1; l < M; ++l) sum += *u++ * d[l];
        v[k] = sum;
        a -= 0.5 * (sum * sum + floor[k] * d[k] * d[k]);
        if (floored.empty()) a += has_floor ? 0.5 * std::log(p.u * p.u + floor[k]) : p.log_u;
      }
      if (!floored.empty()) {
        double* full = floored[j].u();
        u = uppers + static_cast<std::int64_t>(j) * upper;
        for (int k = 0; k < M; ++k) {
          full[k * M + k] = diag[j * M + k].u;
          for (int l = k + 1; l < M; ++l) full[k * M + l] = *u++;
        }
        a += floored[j].decompose();
      }
      weight[j] = row[j];
      term[j] = a;
    }
    const double log_sum = softmax(term);  // term is now the share of each component in q(theta)
    const double value = log_sum - softmax(weight) - M * kHalfLogTwoPi;
    bool good = std::fabs(value) <= kMixtureLimit;  // false for NaN
    if (good && gradient) {
      T* g = gradient + b * K;
      T *g_mean = g + N, *g_gamma = g_mean + N * M, *g_upper = g_gamma + N * M;
      for (int j = 0; j < N; ++j) {
        const double r = term[j] + lesson / N;
        const double *d = &distance[j * M], *v = &product[j * M];
        const T* u = uppers + static_cast<std::int64_t>(j) * upper;
        T* gu = g_upper + static_cast<std::int64_t>(j) * upper;
        g[j] = static_cast<T>(term[j] - weight[j]);
        std::fill(pull.begin(), pull.end(), 0.0);  // becomes U^T v + floor d
        for (int k = 0; k < M; ++k) {
          const Diagonal& p = diag[j * M + k];
          const double* rise = floored.empty() ? nullptr : floored[j].log_determinant_slope(k);
          const double log_slope = rise ? rise[k] * p.slope : has_floor ? p.u / (p.u * p.u + floor[k]) * p.slope : p.log_slope;
          g_gamma[j * M + k] = static_cast<T>(r * (log_slope - v[k] * d[k] * p.slope));
          pull[k] += v[k] * p.u + floor[k] * d[k];
          if (!upper) continue;
          for (int l = k + 1; l < M; ++l) {
            pull[l] += v[k] * u[l - k - 1];
            gu[l - k - 1] = static_cast<T>(r * ((rise ? rise[l] : 0) - v[k] * d[l]));
          }
          u += M - k - 1;
          gu += M - k - 1;
        }
        for (int k = 0; k < M; ++k) g_mean[j * M + k] = static_cast<T>(r * pull[k]);
      }
      int within = 1;  // NaN and infinity are not
      for (int k = 0; k < K; ++k) within &= std::fabs(g[k]) <= static_cast<T>(kMixtureLimit);
      good = within;
    }
    if (!good && gradient) std::fill_n(gradient + b * K, K, T(0));
    bad[b] = !good;
    log_q[b] = good ? static_cast<T>(value) : T(0);
  }
}

template void mixture_rows(const MixtureShape&, std::int64_t, std::int64_t, const float*, const float*, float*,
                           std::uint8_t*, float*, double);
template void mixture_rows(const MixtureShape&, std::int64_t, std::int64_t, const double*, const double*, double*,
                           std::uint8_t*, double*, double);

}  // namespace penn
