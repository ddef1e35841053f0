#include "penn/model/familiarity.h"

#include <algorithm>

namespace penn {
namespace {

// 1 - the distribution function given by its quantiles.
double share_above(const std::vector<float>& quantiles, double x) {
  const auto at = std::lower_bound(quantiles.begin(), quantiles.end(), static_cast<float>(x));
  return static_cast<double>(quantiles.end() - at) / static_cast<double>(quantiles.size());
}

}  // namespace

void Familiarity::distances(const float* embedding, double& inside_distance, double& outside_distance) const {
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
    double along = 0;
    for (size_t i = 0; i < E; ++i) along += static_cast<double>(directions[k * E + i]) * x[i];
    const double t = along / spread[k];
    inside_distance += t * t;
    total -= along * along;
  }
  // Where the directions span everything, what is left is rounding.
  outside_distance = total > 1e-6 * whole ? total : 0;
}

double Familiarity::share_beyond(const float* embedding) const {
  double in = 0, out = 0;
  distances(embedding, in, out);
  if (outside.back() == 0) return share_above(inside, in);
  return std::min(1.0, 2 * std::min(share_above(inside, in), share_above(outside, out)));
}

}  // namespace penn
