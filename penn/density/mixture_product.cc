// See mixture_product.h. One QR of the stacked system [U_a, U_a mu_a; U_b, U_b mu_b] gives the product of two
// components: V_MM is the new factor, V_MM mu = v the new mean, and the last diagonal entry r the misfit,
//   |U_a (t - mu_a)|^2 + |U_b (t - mu_b)|^2 = |V (t - mu)|^2 + r^2.
#include "penn/density/mixture_product.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "penn/base/error.h"
#include "penn/density/mixture_reduce.h"
#include "penn/density/normal.h"

namespace penn {

ProductDensity::ProductDensity(std::vector<GaussianMixture> factors, Box box, std::vector<bool> normal)
    : factors_(std::move(factors)), box_(std::move(box)), normal_(std::move(normal)) {
  if (factors_.empty()) throw Error("a product of no posteriors");
  const std::size_t m = factors_[0].dimension();
  for (const GaussianMixture& q : factors_)
    if (q.dimension() != m)
      throw Error(fmt::format("posteriors in {} and {} dimensions cannot be combined", m, q.dimension()));
  check_box(box_, m);
  for (std::size_t k = 0; k < m; ++k)
    if (!is_normal(k)) log_volume_ += std::log(box_.hi[k] - box_.lo[k]);
  if (!std::isfinite(log_volume_)) throw Error("combining posteriors needs a finite prior box");
}

double ProductDensity::log_density(std::span<const double> theta) const {
  double log_prior = -log_volume_;
  for (std::size_t k = 0; k < theta.size(); ++k) {
    if (is_normal(k)) log_prior -= 0.5 * theta[k] * theta[k] + kHalfLogTwoPi;
    else if (!(theta[k] >= box_.lo[k] && theta[k] <= box_.hi[k])) return -std::numeric_limits<double>::infinity();
  }
  double sum = -static_cast<double>(factors_.size() - 1) * log_prior;
  for (const GaussianMixture& q : factors_) sum += q.log_density(theta);
  return sum;
}

GaussianMixture multiply_mixtures(const GaussianMixture& a, const GaussianMixture& b, double* log_integral) {
  const std::size_t m = a.dimension();
  if (b.dimension() != m)
    throw Error(fmt::format("mixtures in {} and {} dimensions have no product", m, b.dimension()));
  std::vector<double> log_weights, means, factors;
  for (std::size_t i = 0; i < a.components(); ++i)
    for (std::size_t j = 0; j < b.components(); ++j) {
      // Means relative to component i of a, so that a small misfit between large numbers keeps its digits.
      const auto origin = a.component_mean(i), other = b.component_mean(j);
      DenseMatrix stacked(2 * m + 1, m + 1);  // one row of zeros: QR wants rows >= columns also for m = 1
      for (std::size_t r = 0; r < m; ++r)
        for (std::size_t c = r; c < m; ++c) {
          stacked(r, c) = a.factor(i)[r * m + c];
          stacked(m + r, c) = b.factor(j)[r * m + c];
          stacked(m + r, m) += stacked(m + r, c) * (other[c] - origin[c]);
        }
      const DenseMatrix v = qr_upper(std::move(stacked));
      std::vector<double> mean(m);
      DenseMatrix factor(m, m);
      double log_determinant = 0.0;
      for (std::size_t r = 0; r < m; ++r) {
        mean[r] = v(r, m);
        log_determinant += std::log(v(r, r));
        for (std::size_t c = r; c < m; ++c) factor(r, c) = v(r, c);
      }
      solve_upper(factor.data.data(), m, mean);
      for (std::size_t r = 0; r < m; ++r) means.push_back(origin[r] + mean[r]);
      factors.insert(factors.end(), factor.data.begin(), factor.data.end());
      log_weights.push_back(a.log_weight(i) + b.log_weight(j) + a.log_determinant(i) + b.log_determinant(j) -
                            log_determinant - 0.5 * v(m, m) * v(m, m) - static_cast<double>(m) * kHalfLogTwoPi);
    }
  *log_integral = log_sum_exp(log_weights);
  return GaussianMixture::from_factors(std::move(log_weights), std::move(means), std::move(factors));
}

// With precision P and D = 1 for the normal coordinates, 0 for the others: P' = P - D, mu' = mu + P'^-1 D mu, and the integral of the quotient is
// (2 pi)^(d/2) |P|^(1/2) |P'|^(-1/2) exp(mu^T D mu' / 2).
GaussianMixture divide_by_normal_prior(const GaussianMixture& q, const ProductDensity& product, double* log_integral) {
  constexpr double kLeast = 0.1;
  const std::size_t m = q.dimension();
  std::vector<double> log_weights, means, factors, unit(m, 1.0);
  for (std::size_t k = 0; k < m; ++k)
    if (!product.is_normal(k)) unit[k] = product.box().hi[k] - product.box().lo[k];
  for (std::size_t j = 0; j < q.components(); ++j) {
    const auto mean = q.component_mean(j);
    DenseMatrix precision(m, m), factor(m + 1, m);  // one row of zeros: QR wants rows >= columns also for m = 1
    for (std::size_t r = 0; r < m; ++r)
      for (std::size_t a = r; a < m; ++a)
        for (std::size_t b = r; b < m; ++b) precision(a, b) += q.factor(j)[r * m + a] * unit[a] * q.factor(j)[r * m + b] * unit[b];
    double log_weight = q.log_weight(j) + q.log_determinant(j);
    for (std::size_t k = 0; k < m; ++k) {
      log_weight += std::log(unit[k]);
      if (product.is_normal(k)) precision(k, k) -= 1, log_weight += kHalfLogTwoPi;
    }
    const auto [values, vectors] = symmetric_eigen(precision);
    std::vector<double> moved(m, 0.0);  // P'^-1 D mu
    for (std::size_t e = 0; e < m; ++e) {
      const double left = std::max(values[e], kLeast);
      log_weight -= 0.5 * std::log(left);
      double along = 0;
      for (std::size_t k = 0; k < m; ++k) along += product.is_normal(k) ? vectors(e, k) * mean[k] : 0.0;
      for (std::size_t k = 0; k < m; ++k) {
        moved[k] += vectors(e, k) * along / left;
        factor(e, k) = std::sqrt(left) * vectors(e, k) / unit[k];
      }
    }
    for (std::size_t k = 0; k < m; ++k) {
      means.push_back(mean[k] + unit[k] * moved[k]);
      if (product.is_normal(k)) log_weight += 0.5 * mean[k] * means.back();
    }
    const DenseMatrix upper = qr_upper(std::move(factor));
    for (std::size_t r = 0; r < m; ++r)
      for (std::size_t c = 0; c < m; ++c) factors.push_back(c >= r ? upper(r, c) : 0.0);
    log_weights.push_back(log_weight);
  }
  *log_integral = log_sum_exp(log_weights);
  return GaussianMixture::from_factors(std::move(log_weights), std::move(means), std::move(factors));
}

namespace {

// (sum w)^2 / (n sum w^2) over draws from the mixture, w = product / mixture, 0 outside the box.
double reweighting_efficiency(const ProductDensity& product, const GaussianMixture& q, std::size_t n,
                              std::uint64_t seed) {
  DrawStream draws(seed);
  const std::vector<double> theta = q.sample(n, draws);
  std::vector<double> log_weights, doubled;
  for (std::size_t i = 0; i < n; ++i) {
    const std::span<const double> point{&theta[i * q.dimension()], q.dimension()};
    const double target = product.log_density(point);
    if (!std::isfinite(target)) continue;  // outside: no fault of the mixture, which is to be cut to the box
    log_weights.push_back(target - q.log_density(point));
    doubled.push_back(2.0 * log_weights.back());
  }
  if (log_weights.empty()) return 0.0;
  return std::exp(2.0 * log_sum_exp(log_weights) - log_sum_exp(doubled)) / static_cast<double>(log_weights.size());
}

}  // namespace

ProductResult multiply_posteriors(const ProductDensity& product, const ProductOptions& options) {
  const std::vector<GaussianMixture>& factors = product.factors();
  ProductResult result{factors[0], 0.0, 0.0, 0.0, 0, std::numeric_limits<double>::quiet_NaN()};
  for (std::size_t i = 1; i < factors.size(); ++i) {
    double log_integral = 0.0;
    GaussianMixture exact = multiply_mixtures(result.mixture, factors[i], &log_integral);
    result.log_agreement += log_integral + product.log_volume();
    if (product.has_normal()) {
      exact = divide_by_normal_prior(exact, product, &log_integral);
      result.log_agreement += log_integral;
    }
    ReducedMixture reduced = reduce_mixture(exact, options.max_components, options.drop_below);
    result.mixture = std::move(reduced.mixture);
    result.dropped_weight += reduced.dropped_weight;
    result.divergence_bound += reduced.divergence_bound;
    result.merges += reduced.merges;
  }
  if (options.check_draws > 0)
    result.efficiency = reweighting_efficiency(product, result.mixture, options.check_draws, options.seed);
  return result;
}

}  // namespace penn
