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

ProductDensity::ProductDensity(std::vector<GaussianMixture> factors, Box box)
    : factors_(std::move(factors)), box_(std::move(box)) {
  check_factors();
  check_box(box_, factors_[0].dimension());
  for (std::size_t k = 0; k < box_.lo.size(); ++k) log_volume_ += std::log(box_.hi[k] - box_.lo[k]);
  if (!std::isfinite(log_volume_)) throw Error("combining posteriors needs a finite prior box");
}

ProductDensity::ProductDensity(std::vector<GaussianMixture> factors) : factors_(std::move(factors)) { check_factors(); }

void ProductDensity::check_factors() const {
  if (factors_.empty()) throw Error("a product of no posteriors");
  const std::size_t m = factors_[0].dimension();
  for (const GaussianMixture& q : factors_)
    if (q.dimension() != m)
      throw Error(fmt::format("posteriors in {} and {} dimensions cannot be combined", m, q.dimension()));
}

double ProductDensity::log_density(std::span<const double> theta) const {
  double log_prior = -log_volume_;
  if (has_normal_prior())
    for (const double u : theta) log_prior -= 0.5 * u * u + kHalfLogTwoPi;
  else if (!box_.contains(theta)) return -std::numeric_limits<double>::infinity();
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

GaussianMixture divide_by_standard_normal(const GaussianMixture& q, double* log_integral) {
  constexpr double kLeast = 0.1;
  const std::size_t m = q.dimension();
  std::vector<double> log_weights, means, factors;
  for (std::size_t j = 0; j < q.components(); ++j) {
    // In the basis of the precision's eigenvectors: lambda -> lambda - 1, and the mean moves away from 0, as (lambda - 1) mu' = lambda mu says.
    DenseMatrix precision(m, m), factor(m + 1, m);  // one row of zeros: QR wants rows >= columns also for m = 1
    for (std::size_t r = 0; r < m; ++r)
      for (std::size_t a = r; a < m; ++a)
        for (std::size_t b = r; b < m; ++b) precision(a, b) += q.factor(j)[r * m + a] * q.factor(j)[r * m + b];
    const auto [values, vectors] = symmetric_eigen(precision);
    std::vector<double> mean(m, 0.0);
    double log_weight = q.log_weight(j) + static_cast<double>(m) * kHalfLogTwoPi;
    for (std::size_t e = 0; e < m; ++e) {
      const double before = values[e], after = std::max(before - 1, kLeast);
      double y = 0;
      for (std::size_t k = 0; k < m; ++k) y += vectors(e, k) * q.component_mean(j)[k];
      const double moved = before * y / after;
      log_weight += 0.5 * std::log(before / after) + 0.5 * (after * moved * moved - before * y * y);
      for (std::size_t k = 0; k < m; ++k) {
        mean[k] += vectors(e, k) * moved;
        factor(e, k) = std::sqrt(after) * vectors(e, k);
      }
    }
    const DenseMatrix upper = qr_upper(std::move(factor));
    for (std::size_t r = 0; r < m; ++r)
      for (std::size_t c = 0; c < m; ++c) factors.push_back(c >= r ? upper(r, c) : 0.0);
    means.insert(means.end(), mean.begin(), mean.end());
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
    if (product.has_normal_prior()) {
      exact = divide_by_standard_normal(exact, &log_integral);
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
