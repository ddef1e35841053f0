// The map y -> mixture and its inverse (declared in gaussian_mixture.h): softmax for the weights, softplus for the
// diagonal of U_j, the rest as it is. Order: N logits, N*M means, N*M gammas, N*M(M-1)/2 strictly upper entries.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "penn/base/error.h"
#include "penn/density/gaussian_mixture.h"

namespace penn {

namespace {

constexpr double kLargest = 1e50;  // |y| is clipped here: squares of products of two such numbers are still finite
constexpr double kSmallestDiag =
    1e-50;  // softplus below this (gamma < -115) would make a flat component's volume infinite
constexpr double kZeroWeightLogit = -1e30;  // finite also as float32

double softplus(double x) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
}

// ln(exp(u) - 1), without overflow for large and without cancellation for small u.
double softplus_inverse(double u) {
  return u + std::log(-std::expm1(-u));
}

}  // namespace

std::size_t GaussianMixture::free_size(std::size_t components, std::size_t dimension, CovarianceKind kind) {
  const std::size_t upper = kind == CovarianceKind::kFull ? dimension * (dimension - 1) / 2 : 0;
  return components * (1 + 2 * dimension + upper);
}

GaussianMixture GaussianMixture::from_free_vector(std::span<const double> y, std::size_t components,
                                                  std::size_t dimension, CovarianceKind kind, std::span<const double> least_precision) {
  const std::size_t n = components, m = dimension;
  if (n == 0 || m == 0) throw Error(fmt::format("a mixture of {} components in {} dimensions", n, m));
  if (y.size() != free_size(n, m, kind))
    throw Error(fmt::format("free vector has {} entries, a {} mixture of {} components in {} dimensions needs {}",
                            y.size(), kind == CovarianceKind::kFull ? "full" : "diagonal", n, m,
                            free_size(n, m, kind)));
  for (std::size_t i = 0; i < y.size(); ++i)
    if (!std::isfinite(y[i])) throw Error(fmt::format("entry {} of the free vector is not finite", i));

  std::size_t position = 0;
  const auto next = [&] { return std::clamp(y[position++], -kLargest, kLargest); };
  std::vector<double> log_weights(n), means(n * m), factors(n * m * m, 0.0);
  for (double& v : log_weights) v = next();
  for (double& v : means) v = next();
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t k = 0; k < m; ++k) factors[(j * m + k) * m + k] = std::max(softplus(next()), kSmallestDiag);
  if (kind == CovarianceKind::kFull)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t k = 0; k < m; ++k)
        for (std::size_t l = k + 1; l < m; ++l) factors[(j * m + k) * m + l] = next();
  if (!least_precision.empty())
    for (std::size_t j = 0; j < n; ++j) {
      DenseMatrix stacked(2 * m, m);  // U above the roots of least_precision
      std::copy_n(&factors[j * m * m], m * m, stacked.data.begin());
      for (std::size_t k = 0; k < m; ++k) stacked(m + k, k) = std::sqrt(least_precision[k]);
      DenseMatrix narrowed = qr_upper(std::move(stacked));
      for (std::size_t k = 0; k < m; ++k) narrowed(k, k) = std::max(narrowed(k, k), kSmallestDiag);  // rounding beside entries of 1e50
      std::copy(narrowed.data.begin(), narrowed.data.end(), &factors[j * m * m]);
    }
  return from_factors(std::move(log_weights), std::move(means), std::move(factors));
}

std::vector<double> GaussianMixture::free_vector(CovarianceKind kind) const {
  const std::size_t n = components(), m = dimension_;
  std::vector<double> y;
  y.reserve(free_size(n, m, kind));
  for (double v : log_weights_) y.push_back(std::max(v, kZeroWeightLogit));
  y.insert(y.end(), means_.begin(), means_.end());
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t k = 0; k < m; ++k) y.push_back(softplus_inverse(factor(j)[k * m + k]));
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t k = 0; k < m; ++k)
      for (std::size_t l = k + 1; l < m; ++l) {
        const double u = factor(j)[k * m + l];
        if (kind == CovarianceKind::kFull) y.push_back(u);
        else if (u != 0.0) throw Error(fmt::format("component {} is not diagonal", j + 1));
      }
  return y;
}

}  // namespace penn
