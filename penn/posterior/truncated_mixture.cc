// See truncated_mixture.h.
#include "penn/posterior/truncated_mixture.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "penn/base/error.h"
#include "penn/posterior/normal.h"

namespace penn {

namespace {

constexpr double kRejectionMass = 0.05;
constexpr int kTries = 400;  // all fail with probability 0.95^400 = 1e-9 at the worst
constexpr std::size_t kProposals = 64;
constexpr int kSweeps = 3;

}  // namespace

TruncatedMixture::TruncatedMixture(GaussianMixture mixture, Box box, const BoxOptions& options)
    : mixture_(std::move(mixture)), box_(std::move(box)), inside_(box_mass(mixture_, box_, options)) {
  if (!std::isfinite(inside_.log_mass))
    throw Error("the posterior has no mass inside the parameter box",
                "the observation is unlike anything the model was trained on");
  double sum = 0.0;
  for (std::size_t j = 0; j < mixture_.components(); ++j) {
    components_.emplace_back(mixture_, j, box_);
    DenseMatrix u(mixture_.dimension(), mixture_.dimension());
    std::copy_n(mixture_.factor(j), u.data.size(), u.data.begin());
    precisions_.push_back(inner_gram(u));
    sum += std::exp(mixture_.log_weight(j) + inside_.component_log_mass[j] - inside_.log_mass);
    cumulative_.push_back(sum);
  }
}

double TruncatedMixture::log_density(std::span<const double> theta) const {
  if (!box_.contains(theta)) return -std::numeric_limits<double>::infinity();
  return mixture_.log_density(theta) - inside_.log_mass;
}

TruncatedDraws TruncatedMixture::sample(std::size_t n, DrawStream& draws) const {
  const std::size_t m = mixture_.dimension();
  TruncatedDraws result{std::vector<double>(n * m), 0};
  for (std::size_t i = 0; i < n; ++i) {
    const auto found = std::upper_bound(cumulative_.begin(), cumulative_.end(), draws.uniform() * cumulative_.back());
    const std::size_t j = static_cast<std::size_t>(found - cumulative_.begin());
    const std::span<double> theta{&result.theta[i * m], m};
    bool accepted = false;
    if (inside_.component_log_mass[j] >= std::log(kRejectionMass))
      for (int t = 0; t < kTries && !accepted; ++t) {
        mixture_.sample_component(j, draws, theta);
        accepted = box_.contains(theta);
      }
    if (accepted) continue;
    resample(j, draws, theta);
    // Independent coordinates: every proposal is already an exact draw.
    if (!components_[j].independent()) ++result.approximate;
  }
  return result;
}

void TruncatedMixture::resample(std::size_t j, DrawStream& draws, std::span<double> theta) const {
  const std::size_t m = theta.size();
  const std::size_t proposals = components_[j].independent() ? 1 : kProposals;
  std::vector<double> u(m), candidate(m);
  // Weighted reservoir of size one: the i-th proposal replaces the kept one with probability w_i / (w_1 + ... + w_i).
  double log_total = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < proposals; ++i) {
    for (double& v : u) v = draws.uniform();
    const double log_weight = components_[j].propose(u, candidate);
    const double both[] = {log_total, log_weight};
    log_total = log_sum_exp(both);
    if (i == 0 || std::log(draws.uniform()) < log_weight - log_total)
      std::copy(candidate.begin(), candidate.end(), theta.begin());
  }
  if (proposals > 1)
    for (int s = 0; s < kSweeps; ++s) gibbs_sweep(j, draws, theta);
}

void TruncatedMixture::gibbs_sweep(std::size_t j, DrawStream& draws, std::span<double> theta) const {
  const DenseMatrix& precision = precisions_[j];
  const auto mu = mixture_.component_mean(j);
  for (std::size_t k = 0; k < theta.size(); ++k) {
    double pull = 0.0;
    for (std::size_t l = 0; l < theta.size(); ++l)
      if (l != k) pull += precision(k, l) * (theta[l] - mu[l]);
    const double center = mu[k] - pull / precision(k, k), sd = 1.0 / std::sqrt(precision(k, k));
    const double z = normal_interval_quantile((box_.lo[k] - center) / sd, (box_.hi[k] - center) / sd, draws.uniform());
    theta[k] = std::clamp(center + sd * z, box_.lo[k], box_.hi[k]);
  }
}

}  // namespace penn
