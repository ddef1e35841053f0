#include "penn/network/mixture_output.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "penn/base/error.h"
#include "penn/posterior/normal.h"

namespace penn {
namespace {

constexpr double kSmallestScale = 0.3,
                 kLargestLog = 12;  // of "log_scale"; a scale of 6e-6 of the half-range at the least

// Eight rows side by side, or one: the same code for training and inference.
constexpr int kRows = 8;
typedef double Rows __attribute__((vector_size(kRows * sizeof(double))));
template <class V>
constexpr int kLanesOf = sizeof(V) / sizeof(double);
inline double& lane(double& x, int) {
  return x;
}
inline double lane(const Rows& x, int i) {
  return x[i];
}
inline double lane(const double& x, int) {
  return x;
}

template <class V, class Function>
inline V map(const V& x, Function f) {
  if constexpr (kLanesOf<V> == 1) return f(x);
  else {
    V result;
    for (int i = 0; i < kRows; ++i) result[i] = f(x[i]);
    return result;
  }
}

// A mixture as numbers, and what the way back to the raw row needs. U with its diagonal, row by row: (N, M (M + 1) /
// 2).
template <class V>
struct Parameters {
  explicit Parameters(const MixtureShape& s)
      : M(s.parameters),
        N(s.components),
        upper(M * (M + 1) / 2),
        logit(N),
        mean(N * M),
        coupling(static_cast<size_t>(N) * upper),
        u(coupling.size()),
        slope(N * M),
        log_u(N * M) {}
  int M, N, upper;
  std::vector<V> logit, mean;
  std::vector<V> coupling, u;                                    // coupling: as in the raw row, diagonal unused
  std::vector<V> slope;                                          // of u_kk with respect to its raw scale
  std::vector<V> log_u;                                          // ln u_kk; "direct" alone fills it
  int diagonal(int k) const { return k * M - k * (k - 1) / 2; }  // where row k of U begins

  // get(i): entry i of the raw row(s).
  template <class Get>
  void read(const MixtureShape& s, Get get) {
    const bool is_direct = s.parameterisation == "direct";
    int at = 0;
    for (int j = 0; j < N; ++j) logit[j] = get(at++);
    for (int i = 0; i < N * M; ++i) mean[i] = get(at++);
    for (int j = 0; j < N; ++j)
      for (int k = 0; k < M; ++k) {
        const V scale = get(at++);
        V& out = u[static_cast<size_t>(j) * upper + diagonal(k)];
        if (is_direct) {
          out = map(scale, [](double g) { return std::max(g, 0.0) + std::log1p(std::exp(-std::fabs(g))); });
          slope[j * M + k] =
              map(scale, [](double g) { return g >= 0 ? 1 / (1 + std::exp(-g)) : std::exp(g) / (1 + std::exp(g)); });
          for (int i = 0; i < kLanesOf<V>; ++i)
            set(log_u[j * M + k], i,
                lane(scale, i) < -40 ? lane(scale, i) : std::log(lane(out, i)));  // softplus(g) = e^g to all digits
        } else {
          slope[j * M + k] = map(scale, [](double g) { return std::exp(std::min(g, kLargestLog)); });
          out = slope[j * M + k] + kSmallestScale;
          for (int i = 0; i < kLanesOf<V>; ++i)
            if (lane(scale, i) > kLargestLog) set(slope[j * M + k], i, 0.0);
        }
      }
    for (int j = 0; j < N; ++j) {
      V *c = &coupling[static_cast<size_t>(j) * upper], *factor = &u[static_cast<size_t>(j) * upper];
      for (int k = 0; k < M; ++k)
        for (int l = k + 1; l < M; ++l) {
          const int i = diagonal(k) + l - k;
          c[i] = s.full ? get(at++) : V{};
          factor[i] = is_direct ? c[i] : c[i] * factor[diagonal(l)];
        }
      if (!is_direct && j > 0)
        for (int k = 0; k < M; ++k) mean[j * M + k] = mean[k] + mean[j * M + k] / factor[diagonal(k)];
    }
  }
  static void set(V& x, int i, double value) {
    if constexpr (kLanesOf<V> == 1) x = value;
    else x[i] = value;
  }
};

using Lanes = Parameters<Rows>;

Rows square_root(const Rows& x) {
  return map(x, [](double v) { return std::sqrt(v); });
}

// One component of eight rows: P = U^T U + diag(floor) = R^T R, ln det R, and d ln det R / d U = U P^-1.
class FlooredPrecision {
 public:
  FlooredPrecision(int M, std::span<const double> floor)
      : M_(M), floor_(floor), r_(static_cast<size_t>(M) * M), inverse_(r_.size()), p_(r_.size()) {}

  // ln det R. Floors are at least of the order of 1 and u at most e^12: the product U^T U keeps the digits that matter
  // in doubles.
  Rows factorise(const Lanes& m, const Rows* u) {
    Rows log_determinant = {}, product = Rows{} + 1.0;
    for (int i = 0; i < M_; ++i)
      for (int l = i; l < M_; ++l) {
        Rows sum = l == i ? Rows{} + floor_[static_cast<size_t>(i)] : Rows{};
        for (int k = 0; k <= i; ++k) sum += u[m.diagonal(k) + i - k] * u[m.diagonal(k) + l - k];
        for (int k = 0; k < i; ++k) sum -= r(k, i) * r(k, l);
        if (l == i) {
          r(i, i) = square_root(sum);
          product *= r(i, i);
          if (i % 8 == 7 || i == M_ - 1) {  // a logarithm for every eight factors: no product of them overflows
            log_determinant += map(product, [](double v) { return std::log(v); });
            product = Rows{} + 1.0;
          }
        } else {
          r(i, l) = sum / r(i, i);
        }
      }
    return log_determinant;
  }

  // out, stored as U is: (U P^-1)_kl for l >= k, after factorise().
  void slope(const Lanes& m, const Rows* u, Rows* out) {
    for (int l = 0; l < M_; ++l) {  // R^-1, upper triangular
      inverse(l, l) = 1.0 / r(l, l);
      for (int k = l - 1; k >= 0; --k) {
        Rows sum = {};
        for (int i = k + 1; i <= l; ++i) sum += r(k, i) * inverse(i, l);
        inverse(k, l) = -sum * inverse(k, k);
      }
    }
    for (int i = 0; i < M_; ++i)
      for (int l = i; l < M_; ++l) {
        Rows sum = {};
        for (int k = l; k < M_; ++k) sum += inverse(i, k) * inverse(l, k);
        p_[static_cast<size_t>(i * M_ + l)] = p_[static_cast<size_t>(l * M_ + i)] = sum;
      }
    for (int k = 0; k < M_; ++k)
      for (int l = k; l < M_; ++l) {
        Rows sum = {};
        for (int i = k; i < M_; ++i) sum += u[m.diagonal(k) + i - k] * p_[static_cast<size_t>(i * M_ + l)];
        out[m.diagonal(k) + l - k] = sum;
      }
  }

 private:
  Rows& r(int i, int l) { return r_[static_cast<size_t>(i * M_ + l)]; }
  Rows& inverse(int i, int l) { return inverse_[static_cast<size_t>(i * M_ + l)]; }
  int M_;
  std::span<const double> floor_;
  std::vector<Rows> r_, inverse_, p_;  // (M, M)
};

// x -> softmax(x) in place; returns logsumexp of what was there.
Rows softmax(std::vector<Rows>& x) {
  Rows largest = x[0], sum = {};
  for (const Rows& v : x) largest = v > largest ? v : largest;
  for (Rows& v : x) sum += v = map(v - largest, [](double d) { return std::exp(d); });
  for (Rows& v : x) v /= sum;
  return largest + map(sum, [](double v) { return std::log(v); });
}

bool all_finite(const float* x, int64_t count) {
  bool is_finite = true;
  for (int64_t i = 0; i < count; ++i)
    is_finite &= std::fabs(x[i]) <= std::numeric_limits<float>::max();  // false for NaN
  return is_finite;
}

// Everything of eight rows at a time.
class MixtureLoss {
 public:
  explicit MixtureLoss(const MixtureShape& shape)
      : s_(shape),
        M_(shape.parameters),
        N_(shape.components),
        has_floor_(!shape.precision_floor.empty()),
        floor_(shape.precision_floor),
        m_(shape),
        precision_(M_, floor_),
        distance_(static_cast<size_t>(N_) * M_),
        product_(distance_.size()),
        rise_(m_.u.size()),
        weight_(N_),
        responsibility_(N_),
        weighted_(M_),
        dmean_(distance_.size()),
        du_(m_.upper),
        gradient_(static_cast<size_t>(shape.size())) {
    if (!has_floor_) floor_.assign(static_cast<size_t>(M_), 0.0);
  }

  // raw (rows, K), theta (rows, M): `count` rows; the last is repeated up to eight.
  void read(const float* raw, const float* theta, int count) {
    const int64_t K = s_.size();
    const auto gather = [&](const float* from, int64_t step, int64_t i) {
      Rows out;
      for (int r = 0; r < kRows; ++r) out[r] = from[std::min(r, count - 1) * step + i];
      return out;
    };
    m_.read(s_, [&](int i) { return gather(raw, K, i); });
    for (int k = 0; k < M_; ++k) weighted_[k] = gather(theta, M_, k);
    for (int j = 0; j < N_; ++j)
      for (int k = 0; k < M_; ++k) distance_[j * M_ + k] = weighted_[k] - m_.mean[j * M_ + k];
  }

  // ln q; fills weights and responsibilities.
  Rows density(bool with_gradient) {
    for (int j = 0; j < N_; ++j) {
      const Rows *u = factor(j), *d = &distance_[j * M_];
      Rows a = m_.logit[j];
      for (int k = 0; k < M_; ++k) {
        Rows sum = {};
        for (int l = k; l < M_; ++l) sum += u[m_.diagonal(k) + l - k] * d[l];
        product_[j * M_ + k] = sum;
        a -= 0.5 * (sum * sum + floor_[k] * d[k] * d[k]);
      }
      a += log_determinant(j, u, with_gradient);
      weight_[j] = m_.logit[j];
      responsibility_[j] = a;
    }
    const Rows log_sum = softmax(responsibility_);
    return log_sum - softmax(weight_) - M_ * kHalfLogTwoPi;
  }
  const std::vector<Rows>& weights() const { return weight_; }

  // d/d raw of ln q + (auxiliary / N) sum_j ln q_j.
  const std::vector<Rows>& gradient(double auxiliary) {
    Rows *g_mean = &gradient_[N_], *g_scale = g_mean + N_ * M_, *g_coupling = g_scale + N_ * M_;
    const bool is_direct = s_.parameterisation == "direct";
    for (int j = 0; j < N_; ++j) {
      const Rows responsibility = responsibility_[j] + auxiliary / N_;
      const Rows *u = factor(j), *d = &distance_[j * M_], *v = &product_[j * M_],
                 *rise = &rise_[static_cast<size_t>(j) * m_.upper];
      const Rows* c = &m_.coupling[static_cast<size_t>(j) * m_.upper];
      gradient_[j] = responsibility_[j] - weight_[j];
      for (int k = 0; k < M_; ++k) weighted_[k] = floor_[k] * d[k];  // becomes U^T v + floor d
      for (int k = 0; k < M_; ++k)
        for (int l = k; l < M_; ++l) {
          const int i = m_.diagonal(k) + l - k;
          weighted_[l] += v[k] * u[i];
          du_[i] = responsibility * (rise[i] - v[k] * d[l]);
        }
      for (int k = 0; k < M_; ++k) dmean_[j * M_ + k] = responsibility * weighted_[k];
      // back through the parameterisation
      if (s_.full)
        for (int k = 0; k < M_; ++k)
          for (int l = k + 1; l < M_; ++l) {
            const int i = m_.diagonal(k) + l - k;
            *g_coupling++ = is_direct ? du_[i] : du_[i] * u[m_.diagonal(l)];
            if (!is_direct) du_[m_.diagonal(l)] += du_[i] * c[i];
          }
      for (int k = 0; k < M_; ++k) {
        const Rows unit = u[m_.diagonal(k)];
        Rows& dm = dmean_[j * M_ + k];
        if (!is_direct && j > 0) {
          dmean_[k] += dm;
          du_[m_.diagonal(k)] -= dm * (m_.mean[j * M_ + k] - m_.mean[k]) / unit;
          dm /= unit;
        }
        g_scale[j * M_ + k] = du_[m_.diagonal(k)] * m_.slope[j * M_ + k];
      }
    }
    std::copy(dmean_.begin(), dmean_.end(), g_mean);
    return gradient_;
  }

 private:
  const Rows* factor(int j) const { return &m_.u[static_cast<size_t>(j) * m_.upper]; }

  // ln det(P_j) / 2, and its derivative with respect to U into rise_.
  Rows log_determinant(int j, const Rows* u, bool with_gradient) {
    Rows* rise = &rise_[static_cast<size_t>(j) * m_.upper];
    if (has_floor_ && s_.full) {
      const Rows value = precision_.factorise(m_, u);
      if (with_gradient) precision_.slope(m_, u, rise);
      return value;
    }
    Rows sum = {};
    for (int k = 0; k < M_; ++k) {
      const int i = m_.diagonal(k);
      const Rows p = u[i] * u[i] + floor_[k];
      const bool is_known = !has_floor_ && s_.parameterisation == "direct";
      sum += is_known ? m_.log_u[j * M_ + k] : 0.5 * map(p, [](double v) { return std::log(v); });
      rise[i] = has_floor_ ? u[i] / p : 1.0 / u[i];
    }
    return sum;
  }

  const MixtureShape& s_;
  int M_, N_;
  bool has_floor_;
  std::vector<double> floor_;
  Lanes m_;
  FlooredPrecision precision_;
  std::vector<Rows> distance_, product_;       // (N, M): theta - mu, U (theta - mu)
  std::vector<Rows> rise_;                     // d ln det / d U
  std::vector<Rows> weight_, responsibility_;  // (N): weights, and responsibilities of the components in q(theta)
  std::vector<Rows> weighted_, dmean_, du_, gradient_;
};

}  // namespace

GaussianMixture mixture_of(const MixtureShape& shape, const float* raw, std::span<const double> scale_factors) {
  Parameters<double> m(shape);
  for (int i = 0; i < shape.size(); ++i)
    if (!std::isfinite(raw[i]))
      throw Error("the network gave a number that is not finite", "the model may be damaged: train it again");
  m.read(shape, [&](int i) { return static_cast<double>(raw[i]); });
  for (int j = 0; j < m.N; ++j)
    for (int k = 0; k < m.M; ++k) {  // a flat component's volume must stay finite
      double& u = m.u[static_cast<size_t>(j) * m.upper + m.diagonal(k)];
      u = std::max(u, 1e-50);
    }
  const size_t M = static_cast<size_t>(m.M);
  std::vector<double> factors(static_cast<size_t>(m.N) * M * M, 0.0);
  for (int j = 0; j < m.N; ++j)
    for (int k = 0; k < m.M; ++k)
      for (int l = k; l < m.M; ++l)
        factors[(static_cast<size_t>(j) * M + static_cast<size_t>(k)) * M + static_cast<size_t>(l)] =
            m.u[static_cast<size_t>(j) * m.upper + m.diagonal(k) + l - k];
  GaussianMixture mixture = GaussianMixture::from_factors(std::move(m.logit), std::move(m.mean), std::move(factors));
  if (!scale_factors.empty()) mixture = mixture.with_scales(scale_factors);
  return shape.precision_floor.empty() ? mixture : mixture.with_precision_floor(shape.precision_floor);
}

void mixture_rows(const MixtureShape& shape, int64_t first, int64_t last, const float* raw, const float* theta,
                  double auxiliary, double* log_q, uint8_t* bad, double* weights, float* gradient) {
  MixtureLoss loss(shape);
  const int64_t K = shape.size(), M = shape.parameters, N = shape.components;
  for (int64_t b = first; b < last; b += kRows) {
    const int count = static_cast<int>(std::min<int64_t>(kRows, last - b));
    loss.read(raw + b * K, theta + b * M, count);
    const Rows value = loss.density(gradient != nullptr);
    const std::vector<Rows>* g = gradient ? &loss.gradient(auxiliary) : nullptr;
    for (int r = 0; r < count; ++r) {
      bool is_good = std::fabs(value[r]) <= kMixtureLimit && all_finite(raw + (b + r) * K, K) &&
                     all_finite(theta + (b + r) * M, M);  // an infinite scale is one that is capped, not a NaN
      if (g && is_good)
        for (const Rows& x : *g) is_good = is_good && std::fabs(x[r]) <= kMixtureLimit;
      bad[b + r] = !is_good;
      log_q[b + r] = is_good ? value[r] : 0;
      if (weights)
        for (int64_t j = 0; j < N; ++j)
          weights[(b + r) * N + j] = is_good ? loss.weights()[static_cast<size_t>(j)][r] : 0;
      if (g)
        for (int64_t k = 0; k < K; ++k)
          gradient[(b + r) * K + k] = is_good ? static_cast<float>((*g)[static_cast<size_t>(k)][r]) : 0.0f;
    }
  }
}

}  // namespace penn
