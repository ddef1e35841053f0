// See box_component.h. The most confined coordinate is conditioned on first (it is last in T): what follows it then
// varies least, and so does the estimate.
#include "penn/posterior/box_component.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "penn/base/error.h"
#include "penn/posterior/normal.h"

namespace penn {

bool Box::contains(std::span<const double> theta) const {
  for (std::size_t k = 0; k < lo.size(); ++k)
    if (!(theta[k] >= lo[k] && theta[k] <= hi[k])) return false;
  return true;
}

void check_box(const Box& box, std::size_t dimension) {
  if (box.lo.size() != dimension || box.hi.size() != dimension)
    throw Error(fmt::format("a box of {} lower and {} upper bounds for {} dimensions", box.lo.size(), box.hi.size(),
                            dimension));
  for (std::size_t k = 0; k < dimension; ++k)
    if (!(box.lo[k] < box.hi[k]))
      throw Error(fmt::format("bounds [{}, {}] of coordinate {} are not an interval", box.lo[k], box.hi[k], k));
}

BoxComponent::BoxComponent(const GaussianMixture& q, std::size_t j, const Box& box) {
  const std::size_t m = q.dimension();
  const DenseMatrix t = inverse_upper(q.factor(j), m);
  const auto mu = q.component_mean(j);
  std::vector<double> log_mass(m);
  for (std::size_t k = 0; k < m; ++k) {
    const double sd = std::sqrt(dot(t.row(k), t.row(k)));
    const double a = (box.lo[k] - mu[k]) / sd, b = (box.hi[k] - mu[k]) / sd;
    log_mass[k] = log_normal_interval(a, b);
    outside_bound_ += normal_cdf(a) + normal_cdf(-b);
  }
  order_.resize(m);
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::stable_sort(order_.begin(), order_.end(),
                   [&](std::size_t a, std::size_t b) { return log_mass[a] > log_mass[b]; });
  DenseMatrix rows(m, m);
  for (std::size_t r = 0; r < m; ++r) {
    mean_.push_back(mu[order_[r]]);
    lo_.push_back(box.lo[order_[r]]);
    hi_.push_back(box.hi[order_[r]]);
    for (std::size_t c = 0; c < m; ++c) rows(r, c) = t(order_[r], c);
  }
  t_ = rq_upper(rows);
  for (std::size_t r = 0; r < m; ++r)
    for (std::size_t c = r + 1; c < m; ++c) independent_ &= t_(r, c) == 0.0;
}

double BoxComponent::propose(std::span<const double> u, std::span<double> theta) const {
  const std::size_t m = mean_.size();
  double log_weight = 0.0;
  std::vector<double> z(m);
  for (std::size_t r = m; r-- > 0;) {
    double center = mean_[r];
    for (std::size_t c = r + 1; c < m; ++c) center += t_(r, c) * z[c];
    const double a = (lo_[r] - center) / t_(r, r), b = (hi_[r] - center) / t_(r, r);
    log_weight += log_normal_interval(a, b);
    z[r] = normal_interval_quantile(a, b, u[r]);
    theta[order_[r]] = std::clamp(center + t_(r, r) * z[r], lo_[r], hi_[r]);
  }
  return log_weight;
}

}  // namespace penn
