#include "penn/model/typicality.h"

#include <algorithm>

namespace penn {
namespace {

// 1 - the distribution function given by its quantiles.
double share_above(const std::vector<float>& quantiles, double x) {
  const auto at = std::lower_bound(quantiles.begin(), quantiles.end(), static_cast<float>(x));
  return static_cast<double>(quantiles.end() - at) / static_cast<double>(quantiles.size());
}

// Eight sums side by side: a single chain of additions would wait for itself.
double dot(const float* a, const double* b, size_t n) {
  double sum[8] = {};
  size_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (size_t j = 0; j < 8; ++j) sum[j] += a[i + j] * b[i + j];
  for (; i < n; ++i) sum[0] += a[i] * b[i];
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

}  // namespace

void Typicality::distances(const float* embedding, double& inside_distance, double& outside_distance) const {
  const size_t E = mean.size();
  std::vector<double> x(E);
  double total = 0;
  for (size_t i = 0; i < E; ++i) {
    x[i] = static_cast<double>(embedding[i]) - mean[i];
    total += x[i] * x[i];
  }
  inside_distance = 0;
  const double whole = total;
  for (size_t k = 0; k < spread.size(); ++k) {
    const double along = dot(&directions[k * E], x.data(), E);
    const double t = along / spread[k];
    inside_distance += t * t;
    total -= along * along;
  }
  // Where the directions span everything, what is left is rounding.
  outside_distance = total > 1e-6 * whole ? total : 0;
}

double Typicality::fraction_beyond(const float* embedding) const {
  double in = 0, out = 0;
  distances(embedding, in, out);
  if (outside.back() == 0) return share_above(inside, in);
  return std::min(1.0, 2 * std::min(share_above(inside, in), share_above(outside, out)));
}

}  // namespace penn
