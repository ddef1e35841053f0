// Construction from factors and covariances, density, sampling, moments; marginals, conditionals, projections, changes
// of unit.
#include "penn/posterior/gaussian_mixture.h"

#include <fmt/core.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

#include "penn/base/error.h"
#include "penn/posterior/box_component.h"
#include "penn/posterior/normal.h"

namespace penn {

namespace {

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

void check_indices(std::span<const std::size_t> indices, std::size_t dimension) {
  std::vector<bool> seen(dimension, false);
  for (std::size_t i : indices) {
    if (i >= dimension) throw Error(fmt::format("coordinate {} of a mixture in {} dimensions", i, dimension));
    if (seen[i]) throw Error(fmt::format("coordinate {} is named twice", i));
    seen[i] = true;
  }
}

std::vector<std::size_t> others(std::span<const std::size_t> indices, std::size_t dimension) {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < dimension; ++i)
    if (std::find(indices.begin(), indices.end(), i) == indices.end()) result.push_back(i);
  return result;
}

// V of the QR of U with its columns in the order (first, last).
DenseMatrix reordered(const double* u, std::size_t m, std::span<const std::size_t> first,
                      std::span<const std::size_t> last) {
  DenseMatrix a(m, m);
  for (std::size_t r = 0; r < m; ++r) {
    for (std::size_t c = 0; c < first.size(); ++c) a(r, c) = u[r * m + first[c]];
    for (std::size_t c = 0; c < last.size(); ++c) a(r, first.size() + c) = u[r * m + last[c]];
  }
  DenseMatrix v = qr_upper(a);
  for (std::size_t k = 0; k < m; ++k) {
    if (v(k, k) > 0.0) continue;
    // Columns that are multiples of each other to the last digit: what is left is rounding, of this size.
    double square = 0.0;
    for (std::size_t r = 0; r < m; ++r) square += a(r, k) * a(r, k);
    v(k, k) = std::numeric_limits<double>::epsilon() * std::sqrt(square);
  }
  return v;
}

// A scale of units: a box with finite bounds.
void check_units(std::span<const double> lo, std::span<const double> hi, std::size_t dimension) {
  check_box({{lo.begin(), lo.end()}, {hi.begin(), hi.end()}}, dimension);
  for (std::size_t k = 0; k < dimension; ++k)
    if (!std::isfinite(lo[k]) || !std::isfinite(hi[k]))
      throw Error(fmt::format("bounds [{}, {}] of coordinate {} are not finite", lo[k], hi[k], k));
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

DenseMatrix GaussianMixture::correlation() const {
  return correlation_of(covariance());
}

// ---- marginals, conditionals, projections, changes of unit
// One QR does both: with the columns of U ordered (A, B) and U = Q V,  |U d|^2 = |V_AA d_A + V_AB d_B|^2 + |V_BB
// d_B|^2, so B has precision factor V_BB, and A given B has factor V_AA and mean mu_A - V_AA^-1 V_AB (b - mu_B).

GaussianMixture GaussianMixture::marginal(std::span<const std::size_t> indices) const {
  check_indices(indices, dimension_);
  if (indices.empty()) throw Error("a marginal needs at least one coordinate");
  const std::vector<std::size_t> rest = others(indices, dimension_);
  std::vector<double> means, factors;
  for (std::size_t j = 0; j < components(); ++j) {
    const DenseMatrix v = reordered(factor(j), dimension_, rest, indices);
    for (std::size_t i : indices) means.push_back(component_mean(j)[i]);
    for (std::size_t r = rest.size(); r < dimension_; ++r)
      factors.insert(factors.end(), &v.data[r * dimension_ + rest.size()], &v.data[r * dimension_] + dimension_);
  }
  return from_factors(log_weights_, std::move(means), std::move(factors));
}

GaussianMixture GaussianMixture::conditional(std::span<const std::size_t> indices,
                                             std::span<const double> values) const {
  check_indices(indices, dimension_);
  if (values.size() != indices.size())
    throw Error(fmt::format("{} coordinates are fixed to {} values", indices.size(), values.size()));
  if (indices.size() >= dimension_) throw Error("a conditional must leave at least one coordinate free");
  for (double v : values)
    if (!std::isfinite(v)) throw Error("a conditional needs finite values");
  const std::vector<std::size_t> free = others(indices, dimension_);
  const std::size_t m = dimension_, a = free.size();
  std::vector<double> log_weights(components()), means, factors;
  for (std::size_t j = 0; j < components(); ++j) {
    const DenseMatrix v = reordered(factor(j), m, free, indices);
    std::vector<double> offset(indices.size());
    for (std::size_t i = 0; i < offset.size(); ++i) offset[i] = values[i] - component_mean(j)[indices[i]];
    double square = 0.0, log_determinant = 0.0;  // of the given part: the evidence of component j
    for (std::size_t r = a; r < m; ++r) {
      const double z = dot(v.row(r).subspan(a), offset);
      square += z * z;
      log_determinant += std::log(v(r, r));
    }
    log_weights[j] = log_weights_[j] + log_determinant - 0.5 * square;
    std::vector<double> shift(a);
    DenseMatrix block(a, a);
    for (std::size_t r = 0; r < a; ++r) {
      shift[r] = dot(v.row(r).subspan(a), offset);
      for (std::size_t c = r; c < a; ++c) block(r, c) = v(r, c);
    }
    solve_upper(block.data.data(), a, shift);
    for (std::size_t r = 0; r < a; ++r) means.push_back(component_mean(j)[free[r]] - shift[r]);
    factors.insert(factors.end(), block.data.begin(), block.data.end());
  }
  return from_factors(std::move(log_weights), std::move(means), std::move(factors));
}

NormalMixture1d GaussianMixture::projection(std::span<const double> direction) const {
  if (direction.size() != dimension_)
    throw Error(fmt::format("a direction of {} entries in {} dimensions", direction.size(), dimension_));
  std::vector<double> means, sds;
  for (std::size_t j = 0; j < components(); ++j) {
    means.push_back(dot(direction, component_mean(j)));
    std::vector<double> z(direction.begin(), direction.end());
    solve_upper_transposed(factor(j), dimension_, z);  // a^T Sigma a = |U^-T a|^2
    sds.push_back(std::sqrt(dot(z, z)));
  }
  return NormalMixture1d(log_weights_, std::move(means), std::move(sds));
}

NormalMixture1d GaussianMixture::marginal_1d(std::size_t index) const {
  check_indices({&index, 1}, dimension_);
  std::vector<double> direction(dimension_, 0.0);
  direction[index] = 1.0;
  return projection(direction);
}

GaussianMixture GaussianMixture::affine(std::span<const double> shift, std::span<const double> scale) const {
  const std::size_t m = dimension_;
  std::vector<double> means = means_, factors = factors_;
  for (std::size_t i = 0; i < means.size(); ++i) means[i] = shift[i % m] + scale[i % m] * means[i];
  for (std::size_t i = 0; i < factors.size(); ++i) factors[i] /= scale[i % m];  // i % m is the column
  return from_factors(log_weights_, std::move(means), std::move(factors));
}

GaussianMixture GaussianMixture::rescaled(std::span<const double> lo, std::span<const double> hi) const {
  check_units(lo, hi, dimension_);
  std::vector<double> scale(dimension_);
  for (std::size_t k = 0; k < dimension_; ++k) scale[k] = hi[k] - lo[k];
  return affine(lo, scale);
}

GaussianMixture GaussianMixture::unscaled(std::span<const double> lo, std::span<const double> hi) const {
  check_units(lo, hi, dimension_);
  std::vector<double> shift(dimension_), scale(dimension_);
  for (std::size_t k = 0; k < dimension_; ++k) {
    scale[k] = 1.0 / (hi[k] - lo[k]);
    shift[k] = -lo[k] * scale[k];
  }
  return affine(shift, scale);
}

GaussianMixture GaussianMixture::with_scales(std::span<const double> factors) const {
  if (factors.size() != dimension_)
    throw Error(fmt::format("{} factors for the scales of {} parameters", factors.size(), dimension_));
  std::vector<double> narrowed = factors_;
  for (std::size_t i = 0; i < narrowed.size(); ++i) narrowed[i] /= factors[i % dimension_];  // i % m is the column
  return from_factors(log_weights_, means_, std::move(narrowed));
}

GaussianMixture GaussianMixture::with_precision_floor(std::span<const double> floor) const {
  constexpr double kSmallestDiagonal = 1e-50;  // rounding beside large entries must not leave a zero
  const std::size_t m = dimension_;
  if (floor.size() != m) throw Error(fmt::format("{} precision floors for {} parameters", floor.size(), m));
  std::vector<double> factors = factors_;
  for (std::size_t j = 0; j < components(); ++j) {
    DenseMatrix stacked(2 * m, m);  // U above the roots of the floor
    std::copy_n(factor(j), m * m, stacked.data.begin());
    for (std::size_t k = 0; k < m; ++k) stacked(m + k, k) = std::sqrt(floor[k]);
    DenseMatrix narrowed = qr_upper(std::move(stacked));
    for (std::size_t k = 0; k < m; ++k) narrowed(k, k) = std::max(narrowed(k, k), kSmallestDiagonal);
    std::copy(narrowed.data.begin(), narrowed.data.end(), &factors[j * m * m]);
  }
  return from_factors(log_weights_, means_, std::move(factors));
}

}  // namespace penn
