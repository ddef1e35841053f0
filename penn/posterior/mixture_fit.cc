#include "penn/posterior/mixture_fit.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "penn/base/error.h"
#include "penn/posterior/normal.h"

namespace penn {
namespace {

struct Moments {
  double weight = 0;
  std::vector<double> mean;
  DenseMatrix covariance;
};

// Of the points, each counted with weight(i).
template <class Weight>
Moments moments_of(std::span<const double> points, std::size_t d, Weight weight) {
  Moments m{0, std::vector<double>(d, 0.0), DenseMatrix(d, d)};
  const std::size_t n = points.size() / d;
  for (std::size_t i = 0; i < n; ++i) {
    const double w = weight(i);
    m.weight += w;
    for (std::size_t k = 0; k < d; ++k) m.mean[k] += w * points[i * d + k];
  }
  if (!(m.weight > 0)) return m;
  for (double& x : m.mean) x /= m.weight;
  for (std::size_t i = 0; i < n; ++i) {
    const double w = weight(i) / m.weight;
    if (w == 0) continue;
    for (std::size_t k = 0; k < d; ++k)
      for (std::size_t l = k; l < d; ++l)
        m.covariance(k, l) += w * (points[i * d + k] - m.mean[k]) * (points[i * d + l] - m.mean[l]);
  }
  for (std::size_t k = 0; k < d; ++k)
    for (std::size_t l = 0; l < k; ++l) m.covariance(k, l) = m.covariance(l, k);
  return m;
}

DenseMatrix blend(double a, const DenseMatrix& x, double b, const DenseMatrix& y) {
  DenseMatrix z = x;
  for (std::size_t i = 0; i < z.data.size(); ++i) z.data[i] = a * x.data[i] + b * y.data[i];
  return z;
}

}  // namespace

double effective_count(std::span<const double> log_weights) {
  std::vector<double> doubled(log_weights.begin(), log_weights.end());
  for (double& w : doubled) w *= 2;
  const double sum = log_sum_exp(log_weights);
  return std::isfinite(sum) ? std::exp(2 * sum - log_sum_exp(doubled)) : 0;
}

GaussianMixture fit_mixture(std::span<const double> points, std::span<const double> log_weights, std::size_t d,
                            const FitOptions& options) {
  const std::size_t n = log_weights.size();
  const double worth = effective_count(log_weights);
  if (d == 0 || points.size() != n * d || !(worth > 1))
    throw Error("a mixture cannot be fitted to fewer than two points");
  const double log_sum = log_sum_exp(log_weights);
  std::vector<double> fraction;
  for (double w : log_weights) fraction.push_back(std::exp(w - log_sum));

  const Moments whole = moments_of(points, d, [&](std::size_t i) { return fraction[i]; });
  const double most = static_cast<double>(std::max<std::size_t>(1, options.most_components));
  const std::size_t N = static_cast<std::size_t>(std::clamp(worth / (20.0 * static_cast<double>(d)), 1.0, most));
  // Components begin at points drawn by weight, with the width of an N-th of the volume, and never get far narrower
  // than a few points can tell.
  const double part = std::pow(static_cast<double>(N), -2.0 / static_cast<double>(d));
  DenseMatrix narrow = blend(part, whole.covariance, 0, whole.covariance);
  for (std::size_t k = 0; k < d; ++k) narrow(k, k) = narrow(k, k) * (1 + 1e-9) + 1e-300;
  DrawStream draws(options.seed);
  std::vector<double> weights(N, 1.0 / static_cast<double>(N)), cumulative;
  double running = 0;
  for (double s : fraction) cumulative.push_back(running += s);
  std::vector<std::vector<double>> means;
  for (std::size_t j = 0; j < N; ++j) {
    const auto at =
        std::lower_bound(cumulative.begin(), cumulative.end() - 1, draws.uniform() * running) - cumulative.begin();
    means.emplace_back(points.begin() + at * static_cast<std::ptrdiff_t>(d),
                       points.begin() + (at + 1) * static_cast<std::ptrdiff_t>(d));
  }
  if (N == 1) means[0] = whole.mean;
  std::vector<DenseMatrix> covariances(N, narrow);
  GaussianMixture fitted = GaussianMixture::from_covariances(weights, means, covariances);

  const double pseudo = static_cast<double>(d + 1);
  std::vector<double> parts(n * N);  // of point i in component j
  for (int iteration = 0; iteration < options.iterations; ++iteration) {
    for (std::size_t i = 0; i < n; ++i) {
      const std::span<double> row(&parts[i * N], N);
      if (fraction[i] == 0) {
        std::fill(row.begin(), row.end(), 0.0);
        continue;
      }
      fitted.component_log_densities(points.subspan(i * d, d), row);
      const double sum = log_sum_exp(row);
      for (double& r : row) r = fraction[i] * std::exp(r - sum);
    }
    for (std::size_t j = 0; j < N; ++j) {
      Moments m = moments_of(points, d, [&](std::size_t i) { return parts[i * N + j]; });
      const double count = worth * m.weight;
      weights[j] = std::max(m.weight, 1e-12);
      if (m.weight > 0) means[j] = m.mean;
      covariances[j] = blend(count / (count + pseudo), m.covariance, pseudo / (count + pseudo), narrow);
    }
    fitted = GaussianMixture::from_covariances(weights, means, covariances);
  }
  return fitted;
}

}  // namespace penn
