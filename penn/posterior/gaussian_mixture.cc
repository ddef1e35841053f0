// Construction from factors and covariances, density, sampling, moments. The free vector is in mixture_free_vector.cc,
// marginals and conditionals in mixture_algebra.cc.
#include "penn/posterior/gaussian_mixture.h"

#include <fmt/core.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "penn/base/error.h"
#include "penn/posterior/normal.h"

namespace penn {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Sigma (M, M) -> U with U^T U = Sigma^-1. Sigma = T T^T with T upper, so U = T^-1.
DenseMatrix factor_of_covariance(const DenseMatrix& covariance, std::size_t j) {
  const std::size_t m = covariance.rows;
  DenseMatrix symmetric(m, m);
  for (std::size_t r = 0; r < m; ++r)
    for (std::size_t c = 0; c < m; ++c) {
      const double scale = std::sqrt(std::fabs(covariance(r, r) * covariance(c, c)));
      if (!(std::fabs(covariance(r, c) - covariance(c, r)) <= 1e-6 * scale))
        throw Error(fmt::format("covariance of component {} is not symmetric (entries {},{} and {},{})", j + 1, r + 1,
                                c + 1, c + 1, r + 1));
      symmetric(r, c) = 0.5 * (covariance(r, c) + covariance(c, r));
    }
  DenseMatrix t;
  if (!reverse_cholesky(symmetric, &t)) {
    // A correlation of 1 up to rounding may have lost its last digit on the way through text: give back one ulp.
    const double ridge = 4.0 * static_cast<double>(m) * std::numeric_limits<double>::epsilon();
    for (std::size_t k = 0; k < m; ++k) symmetric(k, k) *= 1.0 + ridge;
    if (!reverse_cholesky(symmetric, &t))
      throw Error(fmt::format("covariance of component {} is not positive definite", j + 1),
                  "every variance must be positive and every correlation between -1 and 1");
  }
  return inverse_upper(t.data.data(), m);
}

}  // namespace

void GaussianMixture::finish() {
  const std::size_t n = log_weights_.size(), m = dimension_;
  // The largest goes first, on its own: in 1e38 + ln 2 the ln 2 would be lost.
  const double largest = *std::max_element(log_weights_.begin(), log_weights_.end());
  assert(std::isfinite(largest));
  for (double& v : log_weights_) v -= largest;
  const double total = log_sum_exp(log_weights_);
  log_determinants_.assign(n, 0.0);
  cumulative_.resize(n);
  double sum = 0.0;
  for (std::size_t j = 0; j < n; ++j) {
    log_weights_[j] -= total;
    sum += std::exp(log_weights_[j]);
    cumulative_[j] = sum;
    for (std::size_t k = 0; k < m; ++k) log_determinants_[j] += std::log(factor(j)[k * m + k]);
  }
}

GaussianMixture GaussianMixture::from_factors(std::vector<double> log_weights, std::vector<double> means,
                                              std::vector<double> factors) {
  const std::size_t n = log_weights.size();
  if (n == 0 || means.empty() || means.size() % n != 0)
    throw Error(fmt::format("a mixture of {} components with {} mean values", n, means.size()));
  const std::size_t m = means.size() / n;
  if (factors.size() != n * m * m)
    throw Error(fmt::format("expected {} factor entries ({} x {} x {}), got {}", n * m * m, n, m, m, factors.size()));
  for (double v : means)
    if (!std::isfinite(v)) throw Error("a component mean is not finite");
  bool some_weight = false;
  for (double v : log_weights) {
    if (std::isnan(v) || v == kInfinity) throw Error("a component weight is not finite");
    some_weight |= v > -kInfinity;
  }
  if (!some_weight) throw Error("all component weights are zero");
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t r = 0; r < m; ++r)
      for (std::size_t c = 0; c < m; ++c) {
        const double u = factors[(j * m + r) * m + c];
        if (!std::isfinite(u) || (c < r && u != 0.0) || (c == r && !(u > 0.0)))
          throw Error(fmt::format("factor of component {} is not upper triangular with a positive diagonal", j + 1));
      }
  GaussianMixture q;
  q.dimension_ = m;
  q.log_weights_ = std::move(log_weights);
  q.means_ = std::move(means);
  q.factors_ = std::move(factors);
  q.finish();
  return q;
}

GaussianMixture GaussianMixture::from_covariances(const std::vector<double>& weights,
                                                  const std::vector<std::vector<double>>& means,
                                                  const std::vector<DenseMatrix>& covariances) {
  const std::size_t n = weights.size();
  if (n == 0 || means.size() != n || covariances.size() != n)
    throw Error(fmt::format("{} weights, {} means and {} covariances do not make a mixture", n, means.size(),
                            covariances.size()));
  const std::size_t m = means[0].size();
  std::vector<double> log_weights(n), flat_means, factors;
  for (std::size_t j = 0; j < n; ++j) {
    if (!(weights[j] >= 0.0)) throw Error(fmt::format("weight of component {} is {}", j + 1, weights[j]));
    log_weights[j] = std::log(weights[j]);
    if (means[j].size() != m || m == 0 || covariances[j].rows != m || covariances[j].columns != m)
      throw Error(
          fmt::format("component {} has a mean of {} and a covariance of {} x {} entries, expected dimension {}", j + 1,
                      means[j].size(), covariances[j].rows, covariances[j].columns, m));
    flat_means.insert(flat_means.end(), means[j].begin(), means[j].end());
    const DenseMatrix u = factor_of_covariance(covariances[j], j);
    factors.insert(factors.end(), u.data.begin(), u.data.end());
  }
  return from_factors(std::move(log_weights), std::move(flat_means), std::move(factors));
}

double GaussianMixture::weight(std::size_t j) const {
  return std::exp(log_weights_[j]);
}

DenseMatrix GaussianMixture::component_covariance(std::size_t j) const {
  return outer_gram(inverse_upper(factor(j), dimension_));
}

void GaussianMixture::component_log_densities(std::span<const double> theta, std::span<double> out) const {
  const std::size_t m = dimension_;
  assert(theta.size() == m && out.size() == components());
  for (std::size_t j = 0; j < components(); ++j) {
    const double* u = factor(j);
    const double* mu = &means_[j * m];
    double square = 0.0;
    for (std::size_t k = 0; k < m; ++k) {
      double sum = 0.0;
      for (std::size_t l = k; l < m; ++l) sum += u[k * m + l] * (theta[l] - mu[l]);
      square += sum * sum;
    }
    out[j] = log_weights_[j] + log_determinants_[j] - 0.5 * square - static_cast<double>(m) * kHalfLogTwoPi;
  }
}

double GaussianMixture::log_density(std::span<const double> theta) const {
  std::vector<double> terms(components());
  component_log_densities(theta, terms);
  return log_sum_exp(terms);
}

void GaussianMixture::sample_component(std::size_t j, DrawStream& draws, std::span<double> out) const {
  for (double& z : out) z = draws.normal();
  solve_upper(factor(j), dimension_, out);  // covariance U^-1 U^-T
  for (std::size_t k = 0; k < dimension_; ++k) out[k] += means_[j * dimension_ + k];
}

std::vector<double> GaussianMixture::sample(std::size_t n, DrawStream& draws) const {
  std::vector<double> result(n * dimension_);
  for (std::size_t i = 0; i < n; ++i) {
    const double u = draws.uniform() * cumulative_.back();
    // upper_bound never lands on a component of weight 0; u < the last value, so it never runs past the end.
    const auto found = std::upper_bound(cumulative_.begin(), cumulative_.end(), u);
    sample_component(static_cast<std::size_t>(found - cumulative_.begin()), draws,
                     {&result[i * dimension_], dimension_});
  }
  return result;
}

std::vector<double> GaussianMixture::mean() const {
  std::vector<double> result(dimension_, 0.0);
  for (std::size_t j = 0; j < components(); ++j)
    for (std::size_t k = 0; k < dimension_; ++k) result[k] += weight(j) * means_[j * dimension_ + k];
  return result;
}

DenseMatrix GaussianMixture::covariance() const {
  const std::size_t m = dimension_;
  const std::vector<double> center = mean();
  DenseMatrix result(m, m);
  for (std::size_t j = 0; j < components(); ++j) {
    const double w = weight(j);
    if (w == 0.0) continue;
    const DenseMatrix sigma = component_covariance(j);
    const auto mu = component_mean(j);
    for (std::size_t r = 0; r < m; ++r)
      for (std::size_t c = 0; c < m; ++c) result(r, c) += w * (sigma(r, c) + (mu[r] - center[r]) * (mu[c] - center[c]));
  }
  return result;
}

DenseMatrix GaussianMixture::correlation() const { return correlation_of(covariance()); }

}  // namespace penn
