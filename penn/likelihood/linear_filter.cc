#include "penn/likelihood/linear_filter.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace penn {
namespace {

std::vector<NodeId> all_nodes(const LinearSystem& linear) {
  std::vector<NodeId> roots = linear.channels;
  for (const auto* rows : {&linear.A, &linear.C})
    for (const std::vector<NodeId>& row : *rows) roots.insert(roots.end(), row.begin(), row.end());
  for (const State& state : linear.system.states) {
    roots.insert(roots.end(), {state.drift, state.initial.low, state.initial.high});
    for (const Diffusion& diffusion : state.diffusion) roots.push_back(diffusion.coefficient);
  }
  return roots;
}

}  // namespace

GaussianMap compose(const GaussianMap& second, const GaussianMap& first) {
  GaussianMap map;
  map.F = second.F * first.F;
  map.c = second.F * first.c + second.c;
  map.Q = second.F * first.Q * second.F.transpose() + second.Q;
  return map;
}

GaussianMap power(const GaussianMap& map, int64_t count) {
  const Eigen::Index S = map.F.rows();
  GaussianMap result{FilterMatrix::Identity(S, S), FilterMatrix::Zero(S, S), FilterVector::Zero(S)}, square = map;
  for (; count > 0; count /= 2) {
    if (count % 2) result = compose(square, result);
    if (count > 1) square = compose(square, square);
  }
  return result;
}

LinearFilter::LinearFilter(std::shared_ptr<const LinearSystem> linear, std::span<const float> z, double sampling)
    : linear_(std::move(linear)),
      z_(z.begin(), z.end()),
      S_(static_cast<Eigen::Index>(linear_->system.states.size())),
      q_(static_cast<Eigen::Index>(linear_->C[0].size()) - S_),
      d_(linear_->channels.size()),
      sampling_(sampling),
      dt_(sampling / static_cast<double>(linear_->system.simulation.steps_per_sample)),
      values_(linear_->system.graph, all_nodes(*linear_)),
      gain_(d_),
      variance_(d_) {}

void LinearFilter::set_coefficients(std::span<const double> theta, double time) {
  const LinearSystem& l = *linear_;
  values_.evaluate(theta, {}, time);
  FilterMatrix G = FilterMatrix::Zero(S_, static_cast<Eigen::Index>(l.driving.size()));
  step_.F = FilterMatrix::Identity(S_, S_);
  step_.c.resize(S_);
  for (Eigen::Index i = 0; i < S_; ++i) {
    const State& state = l.system.states[static_cast<size_t>(i)];
    for (Eigen::Index j = 0; j < S_; ++j)
      step_.F(i, j) += dt_ * values_[l.A[static_cast<size_t>(i)][static_cast<size_t>(j)]];
    step_.c(i) = dt_ * values_[state.drift];
    for (const Diffusion& diffusion : state.diffusion)
      for (size_t k = 0; k < l.driving.size(); ++k)
        if (l.driving[k] == diffusion.noise) G(i, static_cast<Eigen::Index>(k)) += values_[diffusion.coefficient];
  }
  step_.Q = dt_ * G * G.transpose();
  C_.resize(static_cast<Eigen::Index>(d_), S_ + q_);
  c_.resize(static_cast<Eigen::Index>(d_));
  for (size_t i = 0; i < d_; ++i) {
    c_(static_cast<Eigen::Index>(i)) = values_[l.channels[i]];
    for (Eigen::Index j = 0; j < S_ + q_; ++j)
      C_(static_cast<Eigen::Index>(i), j) = values_[l.C[i][static_cast<size_t>(j)]];
  }
}

// From sample to sample + 1; leaves the coefficients of the channels at the new time.
void LinearFilter::advance(std::span<const double> theta, int64_t sample, FilterVector& mean, FilterMatrix& P) {
  const LinearSystem& l = *linear_;
  if (!l.matrices_vary && !l.offsets_vary) {
    mean = per_sample_.F * mean + per_sample_.c;
    P = per_sample_.F * P * per_sample_.F.transpose() + per_sample_.Q;
    return;
  }
  const int64_t m = l.system.simulation.steps_per_sample;
  for (int64_t i = 0; i < m; ++i) {
    set_coefficients(theta, static_cast<double>(sample) * sampling_ + static_cast<double>(i) * dt_);
    mean = step_.F * mean + step_.c;
    if (l.matrices_vary) P = step_.F * P * step_.F.transpose() + step_.Q;
  }
  if (!l.matrices_vary) P = per_sample_.F * P * per_sample_.F.transpose() + per_sample_.Q;
  set_coefficients(theta, static_cast<double>(sample + 1) * sampling_);
}

void LinearFilter::start(std::span<const double> theta, FilterVector& mean, FilterMatrix& P, FilterMatrix& of_spread) {
  const LinearSystem& l = *linear_;
  const int64_t burn_in = l.system.simulation.burn_in.low;
  set_coefficients(theta, -static_cast<double>(burn_in) * sampling_);
  per_sample_ = power(step_, l.system.simulation.steps_per_sample);
  mean = FilterVector::Zero(S_);
  of_spread = P = FilterMatrix::Zero(S_, S_);
  for (Eigen::Index i = 0; i < S_; ++i) {
    const Initial& initial = l.system.states[static_cast<size_t>(i)].initial;
    const double low = values_[initial.low], high = values_[initial.high], centre = 0.5 * (low + high);
    const double width = initial.low == initial.high ? 0 : high - low;
    mean(i) = initial.random_sign ? 0 : centre;
    of_spread(i, i) = width * width / 12 + (initial.random_sign ? centre * centre : 0);
  }
  if (!l.matrices_vary && !l.offsets_vary) {
    const GaussianMap whole = power(per_sample_, burn_in);
    mean = whole.F * mean + whole.c;
    of_spread = whole.F * of_spread * whole.F.transpose();
    P = of_spread + whole.Q;
    return;
  }
  FilterMatrix total = of_spread;
  for (int64_t sample = -burn_in; sample < 0; ++sample) {
    advance(theta, sample, mean, total);
    if (l.matrices_vary) continue;  // then the spread is not followed, and counts as if it were not forgotten
    of_spread = per_sample_.F * of_spread * per_sample_.F.transpose();
  }
  P = total;
}

// One channel: false where its value was known beforehand and is another.
bool LinearFilter::see(size_t channel, double y, FilterVector& mean, FilterMatrix& P, const FilterVector& prior,
                       double& log_density) {
  const Eigen::Index i = static_cast<Eigen::Index>(channel);
  const auto row = C_.row(i);
  const double predicted = row.dot(mean) + c_(i), residual = y - predicted;
  const FilterVector Ph = P * row.transpose();
  const double variance = row.dot(Ph), scale = row.cwiseAbs2().dot(prior);
  if (!(variance >
        1e-11 * scale)) {  // known beforehand, but for the rounding of float32 samples, which must not add up
    variance_[channel] = 0;
    if (row.squaredNorm() > 0) mean += row.transpose() * (residual / row.squaredNorm());
    return std::abs(residual) <= 1e-4 * std::sqrt(scale) + 1e-5 * (std::abs(y) + std::abs(predicted)) + 1e-12;
  }
  variance_[channel] = variance;
  gain_[channel] = Ph / variance;
  mean += gain_[channel] * residual;
  P -= gain_[channel] * Ph.transpose();
  log_density -= 0.5 * (std::log(2 * std::numbers::pi * variance) + residual * residual / variance);
  return true;
}

double LinearFilter::log_likelihood(std::span<const double> theta) {
  const LinearSystem& l = *linear_;
  const int64_t n = static_cast<int64_t>(z_.size() / d_);
  FilterVector x, mean(S_ + q_), prior(S_ + q_);
  FilterMatrix P, spread, full(S_ + q_, S_ + q_), last;
  start(theta, x, P, spread);
  double sum = 0;
  int64_t k = 0;
  if (l.starts_seen) {
    for (Eigen::Index i = 0; i < S_; ++i) {
      const Initial& initial = l.system.states[static_cast<size_t>(i)].initial;
      x(i) = z_[l.channel_of[static_cast<size_t>(i)]];
      sum += log_initial_density(initial, values_[initial.low], values_[initial.high], x(i));
    }
    P.setZero();
    advance(theta, 0, x, P);
    k = 1;
  }
  const bool can_settle = !l.matrices_vary;
  bool settled = false;
  for (; k < n; ++k) {
    const double* y = &z_[static_cast<size_t>(k) * d_];
    mean.head(S_) = x;
    mean.tail(q_).setZero();
    if (settled) {  // gains and variances no longer change
      for (size_t c = 0; c < d_; ++c) {
        const Eigen::Index i = static_cast<Eigen::Index>(c);
        const double residual = y[c] - C_.row(i).dot(mean) - c_(i);
        if (variance_[c] > 0) {
          mean += gain_[c] * residual;
          sum -= 0.5 * residual * residual / variance_[c];
        } else if (C_.row(i).squaredNorm() > 0) {
          mean += C_.row(i).transpose() * (residual / C_.row(i).squaredNorm());
        }
      }
    } else {
      full.setZero();
      full.topLeftCorner(S_, S_) = P;
      full.bottomRightCorner(q_, q_).setIdentity();
      prior = full.diagonal();
      for (size_t c = 0; c < d_; ++c)
        if (!see(c, y[c], mean, full, prior, sum)) return kNever;
    }
    x = mean.head(S_);
    if (k + 1 == n) break;
    if (settled && !l.offsets_vary) {
      x = per_sample_.F * x + per_sample_.c;
      continue;
    }
    if (!settled) P = full.topLeftCorner(S_, S_);
    advance(theta, k, x, P);
    if (settled || !can_settle) continue;
    settled = k > 0 && last.size() > 0 && (P - last).cwiseAbs().maxCoeff() <= 1e-14 * P.cwiseAbs().maxCoeff();
    if (settled)  // what is the same for every sample that is left
      for (const double variance : variance_)
        if (variance > 0) sum -= 0.5 * static_cast<double>(n - 1 - k) * std::log(2 * std::numbers::pi * variance);
    last = P;
  }
  return std::isnan(sum) ? kNever : sum;
}

}  // namespace penn
