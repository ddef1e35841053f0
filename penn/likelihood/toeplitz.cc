#include "penn/likelihood/toeplitz.h"

#include <Eigen/Core>
#include <cmath>
#include <numbers>

namespace penn {
namespace {

double product_of(const double* a, const double* b, size_t n) {
  const auto count = static_cast<Eigen::Index>(n);
  return Eigen::Map<const Eigen::VectorXd>(a, count).dot(Eigen::Map<const Eigen::VectorXd>(b, count));
}

}  // namespace

// The best prediction of e_k is sum_j phi_j e_(k-1-j). phi is kept forwards and reversed, r_j = phi_(k-1-j): then every
// loop runs forwards, and with the reflection coefficient kappa the step to k + 1 is phi_j -= kappa r_j, r_j -= kappa
// phi_j, in place, with kappa appended to phi and put before r.
bool ToeplitzFilter::run(std::span<const double> gamma, std::span<const double> e, std::span<const double> other) {
  const size_t n = e.size();
  phi_.assign(n, 0.0), reversed_.assign(n, 0.0);
  u_.resize(n), v_.resize(n), w_.resize(other.size());
  double variance = gamma[0];
  double* r = reversed_.data() + n;  // moves to the left
  for (size_t k = 0; k < n; ++k) {
    if (!(variance > 0) || !std::isfinite(variance)) return false;
    u_[k] = e[k] - product_of(r, e.data(), k);
    if (!other.empty()) w_[k] = other[k] - product_of(r, other.data(), k);
    v_[k] = variance;
    if (k + 1 == n) break;
    const double kappa = (gamma[k + 1] - product_of(r, gamma.data() + 1, k)) / variance;
    double* phi = phi_.data();
    for (size_t j = 0; j < k; ++j) {
      const double a = phi[j], b = r[j];
      phi[j] = a - kappa * b;
      r[j] = b - kappa * a;
    }
    phi[k] = kappa;
    *--r = kappa;
    variance *= (1 - kappa) * (1 + kappa);
  }
  return true;
}

double ToeplitzFilter::log_density() const {
  double sum = 0;
  for (size_t k = 0; k < u_.size(); ++k) sum += std::log(2 * std::numbers::pi * v_[k]) + u_[k] * u_[k] / v_[k];
  return -0.5 * sum;
}

}  // namespace penn
