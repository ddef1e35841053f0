// Marginals, conditionals, projections and changes of unit (declared in gaussian_mixture.h).
// One QR does both: with the columns of U ordered (A, B) and U = Q V,  |U d|^2 = |V_AA d_A + V_AB d_B|^2 + |V_BB
// d_B|^2, so B has precision factor V_BB, and A given B has factor V_AA and mean mu_A - V_AA^-1 V_AB (b - mu_B).
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "penn/base/error.h"
#include "penn/posterior/box_component.h"
#include "penn/posterior/gaussian_mixture.h"
#include "penn/posterior/normal.h"

namespace penn {

namespace {

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
    if (!std::isfinite(lo[k]) || !std::isfinite(hi[k])) throw Error(fmt::format("bounds [{}, {}] of coordinate {} are not finite", lo[k], hi[k], k));
}

}  // namespace

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

GaussianMixture GaussianMixture::with_widths(std::span<const double> factors) const {
  if (factors.size() != dimension_) throw Error(fmt::format("{} factors for the widths of {} parameters", factors.size(), dimension_));
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
