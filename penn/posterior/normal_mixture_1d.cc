// Each tail is computed as a sum of small positive terms, never as 1 minus something.
#include "penn/posterior/normal_mixture_1d.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

#include "penn/posterior/normal.h"

namespace penn {

NormalMixture1d::NormalMixture1d(std::vector<double> log_weights, std::vector<double> means, std::vector<double> sds)
    : log_weights_(std::move(log_weights)), means_(std::move(means)), sds_(std::move(sds)) {
  assert(log_weights_.size() == means_.size() && means_.size() == sds_.size());
  const double largest = *std::max_element(log_weights_.begin(), log_weights_.end());
  for (double& v : log_weights_) v -= largest;
  const double total = log_sum_exp(log_weights_);
  for (double& v : log_weights_) weights_.push_back(std::exp(v -= total));
}

double NormalMixture1d::log_density(double x) const {
  std::vector<double> terms(components());
  for (std::size_t j = 0; j < components(); ++j) {
    const double z = (x - means_[j]) / sds_[j];
    terms[j] = log_weights_[j] - std::log(sds_[j]) - 0.5 * z * z - kHalfLogTwoPi;
  }
  return log_sum_exp(terms);
}

double NormalMixture1d::cdf(double x) const {
  double sum = 0.0;
  for (std::size_t j = 0; j < components(); ++j) sum += weights_[j] * normal_cdf((x - means_[j]) / sds_[j]);
  return std::min(sum, 1.0);
}

double NormalMixture1d::survival(double x) const {
  double sum = 0.0;
  for (std::size_t j = 0; j < components(); ++j) sum += weights_[j] * normal_cdf((means_[j] - x) / sds_[j]);
  return std::min(sum, 1.0);
}

double NormalMixture1d::mass(double a, double b) const {
  double sum = 0.0;
  for (std::size_t j = 0; j < components(); ++j)
    sum += weights_[j] * std::exp(log_normal_interval((a - means_[j]) / sds_[j], (b - means_[j]) / sds_[j]));
  return std::min(sum, 1.0);
}

double NormalMixture1d::quantile(double p) const {
  if (!(p >= 0.0 && p <= 1.0)) return std::numeric_limits<double>::quiet_NaN();
  if (p == 0.0 || p == 1.0)
    return p == 0.0 ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  const double z = normal_quantile(p);
  double lo = std::numeric_limits<double>::infinity(), hi = -lo;
  for (std::size_t j = 0; j < components(); ++j) {
    if (weights_[j] == 0.0) continue;
    lo = std::min(lo, means_[j] + sds_[j] * z);
    hi = std::max(hi, means_[j] + sds_[j] * z);
  }
  const bool upper = p > 0.5;  // solve in the nearer tail
  const double target = upper ? 1.0 - p : p;
  double x = mean();
  if (!(x > lo && x < hi)) x = 0.5 * (lo + hi);
  for (int i = 0; i < 200; ++i) {
    const double value = upper ? survival(x) : cdf(x);
    const double error = upper ? target - value : value - target;  // rises with x
    if (error == 0.0) return x;
    (error > 0.0 ? hi : lo) = x;
    if (hi - lo <= 4.0 * std::numeric_limits<double>::epsilon() * std::max(std::fabs(lo), std::fabs(hi))) break;
    const double slope = std::exp(log_density(x));
    // Newton on the logarithm of the tail: linear in the far tail, where Newton on the tail itself would creep.
    double next = x;
    if (value > 0.0 && slope > 0.0) next = x + (upper ? 1.0 : -1.0) * std::log(value / target) * value / slope;
    const bool newton = next > lo && next < hi && i % 4 != 3;  // every fourth step halves, so the bracket must shrink
    if (newton && std::fabs(next - x) <= std::numeric_limits<double>::epsilon() * std::fabs(x)) return next;
    x = newton ? next : 0.5 * (lo + hi);
  }
  return 0.5 * (lo + hi);
}

double NormalMixture1d::mean() const {
  double sum = 0.0;
  for (std::size_t j = 0; j < components(); ++j) sum += weights_[j] * means_[j];
  return sum;
}

double NormalMixture1d::sd() const {
  const double center = mean();
  double sum = 0.0;
  for (std::size_t j = 0; j < components(); ++j) {
    const double d = means_[j] - center;
    sum += weights_[j] * (sds_[j] * sds_[j] + d * d);
  }
  return std::sqrt(sum);
}

}  // namespace penn
