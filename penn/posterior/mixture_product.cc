// See mixture_product.h. One QR of the stacked system [U_a, U_a mu_a; U_b, U_b mu_b] gives the product of two
// components: V_MM is the new factor, V_MM mu = v the new mean, and the last diagonal entry r the misfit,
//   |U_a (t - mu_a)|^2 + |U_b (t - mu_b)|^2 = |V (t - mu)|^2 + r^2.
#include "penn/posterior/mixture_product.h"

#include <fmt/core.h>

#include <cmath>
#include <limits>
#include <utility>

#include "penn/base/error.h"
#include "penn/posterior/mixture_fit.h"
#include "penn/posterior/mixture_reduce.h"
#include "penn/posterior/normal.h"

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
  for (std::size_t k = 0; k < theta.size(); ++k)
    if (!is_normal(k) && !(theta[k] >= box_.lo[k] && theta[k] <= box_.hi[k]))
      return -std::numeric_limits<double>::infinity();
  return log_part(0, factors_.size(), theta);
}

double ProductDensity::log_part(std::size_t first, std::size_t count, std::span<const double> theta) const {
  std::vector<double> near(theta.begin(), theta.end());
  double log_prior = -log_volume_, log_prior_near = -log_volume_;
  for (std::size_t k = 0; k < theta.size(); ++k) {
    if (!is_normal(k)) continue;
    near[k] = std::clamp(theta[k], -kFarthest, kFarthest);
    log_prior -= 0.5 * theta[k] * theta[k] + kHalfLogTwoPi;
    log_prior_near -= 0.5 * near[k] * near[k] + kHalfLogTwoPi;
  }
  double sum = log_prior;
  for (std::size_t i = first; i < first + count; ++i) sum += factors_[i].log_density(near) - log_prior_near;
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

// With precision P and D = 1 for the normal coordinates, 0 for the others: P' = P - D, mu' = mu + P'^-1 D mu, and the
// integral of the quotient is (2 pi)^(d/2) |P|^(1/2) |P'|^(-1/2) exp(mu^T D mu' / 2).
GaussianMixture divide_by_normal_prior(const GaussianMixture& q, const ProductDensity& product, double* log_integral) {
  const std::size_t m = q.dimension();
  std::vector<double> log_weights, means, factors, unit(m, 1.0);
  for (std::size_t k = 0; k < m; ++k)
    if (!product.is_normal(k)) unit[k] = product.box().hi[k] - product.box().lo[k];
  for (std::size_t j = 0; j < q.components(); ++j) {
    const auto mean = q.component_mean(j);
    DenseMatrix precision(m, m), factor(m + 1, m);  // one row of zeros: QR wants rows >= columns also for m = 1
    for (std::size_t r = 0; r < m; ++r)
      for (std::size_t a = r; a < m; ++a)
        for (std::size_t b = r; b < m; ++b)
          precision(a, b) += q.factor(j)[r * m + a] * unit[a] * q.factor(j)[r * m + b] * unit[b];
    double log_weight = q.log_weight(j) + q.log_determinant(j);
    for (std::size_t k = 0; k < m; ++k) {
      log_weight += std::log(unit[k]);
      if (product.is_normal(k)) precision(k, k) -= 1, log_weight += kHalfLogTwoPi;
    }
    const auto [values, vectors] = symmetric_eigen(precision);
    std::vector<double> moved(m, 0.0);  // P'^-1 D mu; where P' is below 1 and P' = 1 is taken instead, P mu - mu
    for (std::size_t e = 0; e < m; ++e) {
      const double left = std::max(values[e], 1.0);
      log_weight -= 0.5 * std::log(left);
      double along = 0;
      for (std::size_t k = 0; k < m; ++k) along += product.is_normal(k) ? vectors(e, k) * mean[k] : 0.0;
      for (std::size_t k = 0; k < m; ++k) {
        moved[k] += vectors(e, k) * along * (values[e] < 1 ? values[e] : 1 / left);
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

struct WeightedDraws {
  std::vector<double> theta, log_target,
      log_weights;  // (n * M), (n), (n): ln of the target over the distribution they were drawn from
};

// About n draws, as many from each of `distributions`.
template <class Target>
WeightedDraws weighted_draws(const std::vector<const GaussianMixture*>& distributions, Target target, std::size_t n,
                             std::uint64_t seed) {
  DrawStream stream(seed);
  const std::size_t m = distributions[0]->dimension();
  WeightedDraws draws;
  for (const GaussianMixture* distribution : distributions) {
    const std::vector<double> theta = distribution->sample(n / distributions.size() + 1, stream);
    draws.theta.insert(draws.theta.end(), theta.begin(), theta.end());
  }
  std::vector<double> densities(distributions.size());
  for (std::size_t i = 0; i < draws.theta.size(); i += m) {
    const std::span<const double> theta{&draws.theta[i], m};
    for (std::size_t l = 0; l < distributions.size(); ++l) densities[l] = distributions[l]->log_density(theta);
    draws.log_target.push_back(target(theta));
    draws.log_weights.push_back(draws.log_target.back() - log_sum_exp(densities) +
                                std::log(static_cast<double>(distributions.size())));
  }
  return draws;
}

// ln of the integral of the target, where it is finite.
double log_integral_of(const WeightedDraws& draws) {
  return log_sum_exp(draws.log_weights) - std::log(static_cast<double>(draws.log_weights.size()));
}

// KL(target || q) = mean over the target's distribution of ln [target / integral / q], weights making draws of the
// distributions into draws of the target.
double divergence_of(const GaussianMixture& q, const WeightedDraws& draws) {
  const std::size_t m = q.dimension();
  const double log_sum = log_sum_exp(draws.log_weights), log_integral = log_integral_of(draws);
  if (!std::isfinite(log_sum)) return std::numeric_limits<double>::infinity();
  double mean = 0;
  for (std::size_t i = 0; i < draws.log_weights.size(); ++i) {
    const double fraction = std::exp(draws.log_weights[i] - log_sum);
    if (fraction > 0) mean += fraction * (draws.log_target[i] - log_integral - q.log_density({&draws.theta[i * m], m}));
  }
  return mean;
}

// The same between distributions cut to where the target is finite, for draws of q itself: with the mean weight of the
// draws inside for the integral, q's mass there cancels.
double divergence_inside(const GaussianMixture& q, WeightedDraws draws) {
  const std::size_t m = q.dimension();
  WeightedDraws inside;
  for (std::size_t i = 0; i < draws.log_weights.size(); ++i) {
    if (!std::isfinite(draws.log_target[i])) continue;
    inside.theta.insert(inside.theta.end(), draws.theta.begin() + static_cast<std::ptrdiff_t>(i * m),
                        draws.theta.begin() + static_cast<std::ptrdiff_t>((i + 1) * m));
    inside.log_target.push_back(draws.log_target[i]);
    inside.log_weights.push_back(draws.log_weights[i]);
  }
  return inside.log_weights.empty() ? std::numeric_limits<double>::infinity() : divergence_of(q, inside);
}

// Factors first to first + count - 1. Halves are combined first: two posteriors that know about as much overlap, so
// that draws from either, and from their algebraic product, reach all of the target. Where the algebra is not close to
// it a mixture is fitted to the draws, and to draws from that.
ProductResult multiply_halves(const ProductDensity& product, std::size_t first, std::size_t count,
                              const ProductOptions& options) {
  constexpr double kClose = 0.02;
  constexpr int kRounds = 3;
  if (count == 1) return {product.factors()[first], 0.0, 0.0, 0.0, 0, 0, 0.0};
  const ProductResult a = multiply_halves(product, first, count / 2, options),
                      b = multiply_halves(product, first + count / 2, count - count / 2, options);
  double overlap = 0.0, quotient = 0.0;
  const GaussianMixture exact =
      divide_by_normal_prior(multiply_mixtures(a.mixture, b.mixture, &overlap), product, &quotient);
  ReducedMixture reduced = reduce_mixture(exact, options.max_components, options.drop_below);
  ProductResult result{std::move(reduced.mixture),
                       a.log_agreement + b.log_agreement + overlap + quotient + product.log_volume(),
                       a.dropped_weight + b.dropped_weight + reduced.dropped_weight,
                       a.divergence_bound + b.divergence_bound + reduced.divergence_bound,
                       a.merges + b.merges + reduced.merges,
                       a.fits + b.fits,
                       std::numeric_limits<double>::quiet_NaN()};
  if (options.check_draws == 0) return result;
  const auto target = [&](std::span<const double> theta) { return product.log_part(first, count, theta); };
  WeightedDraws draws =
      weighted_draws({&result.mixture, &a.mixture, &b.mixture}, target, options.check_draws, options.seed);
  result.divergence = divergence_of(result.mixture, draws);
  for (int round = 1; round <= kRounds && !(result.divergence < kClose) && effective_count(draws.log_weights) > 2;
       ++round) {
    const GaussianMixture fitted =
        fit_mixture(draws.theta, draws.log_weights, result.mixture.dimension(), {.seed = options.seed});
    draws = weighted_draws({&fitted, &fitted, &a.mixture, &b.mixture}, target, options.check_draws,
                           options.seed + static_cast<std::uint64_t>(round));
    const double divergence = divergence_of(fitted, draws);
    if (!(divergence < result.divergence)) continue;
    result.mixture = fitted;
    result.divergence = divergence;
    result.log_agreement = log_integral_of(draws);
    ++result.fits;
  }
  return result;
}

}  // namespace

ProductResult multiply_posteriors(const ProductDensity& product, const ProductOptions& options) {
  const std::vector<GaussianMixture>& factors = product.factors();
  if (product.has_normal()) return multiply_halves(product, 0, factors.size(), options);
  ProductResult result{factors[0], 0.0, 0.0, 0.0, 0, 0, std::numeric_limits<double>::quiet_NaN()};
  for (std::size_t i = 1; i < factors.size(); ++i) {
    double log_integral = 0.0;
    const GaussianMixture exact = multiply_mixtures(result.mixture, factors[i], &log_integral);
    result.log_agreement += log_integral + product.log_volume();
    ReducedMixture reduced = reduce_mixture(exact, options.max_components, options.drop_below);
    result.mixture = std::move(reduced.mixture);
    result.dropped_weight += reduced.dropped_weight;
    result.divergence_bound += reduced.divergence_bound;
    result.merges += reduced.merges;
  }
  if (options.check_draws > 0) {
    // Inside the box alone: what of the mixture lies outside is to be cut off. A constant factor, the mass inside,
    // drops out of the ratio.
    const auto target = [&](std::span<const double> theta) { return product.log_density(theta); };
    result.divergence =
        divergence_inside(result.mixture, weighted_draws({&result.mixture}, target, options.check_draws, options.seed));
  }
  return result;
}

}  // namespace penn
