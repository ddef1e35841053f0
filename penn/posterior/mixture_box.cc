// See mixture_box.h. Weights are summed relative to the largest seen, so a box far out in the tails loses no digits.
#include "penn/posterior/mixture_box.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "penn/base/error.h"
#include "penn/posterior/draw_stream.h"
#include "penn/posterior/normal.h"

namespace penn {

namespace {

constexpr std::size_t kShifts = 16;
constexpr std::size_t kFirstPoints = 32;  // per shift
constexpr double kInside = 1e-9;          // a component with less outside counts as inside

using Shares = std::array<double, kShifts>;  // one number per shift

// Standard error of the mean of the entries.
double scatter(const Shares& values) {
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / kShifts;
  double square = 0.0;
  for (double v : values) square += (v - mean) * (v - mean);
  return std::sqrt(square / (kShifts * (kShifts - 1)));
}

// Fractional parts of square roots of primes: a lattice that can be extended point by point (Richtmyer).
std::vector<double> lattice_steps(std::size_t dimension) {
  std::vector<double> steps;
  for (std::size_t candidate = 2; steps.size() < dimension; ++candidate) {
    bool prime = true;
    for (std::size_t d = 2; d * d <= candidate; ++d) prime &= candidate % d != 0;
    const double root = std::sqrt(static_cast<double>(candidate));
    if (prime) steps.push_back(root - std::floor(root));
  }
  return steps;
}

// Weighted sums over the points of one component, per shift. Weight = exp(log weight - reference).
class ComponentSums {
 public:
  ComponentSums(const GaussianMixture& q, std::size_t j, const Box& box, std::uint64_t seed, bool moments)
      : component_(q, j, box), m_(q.dimension()), moments_(moments), steps_(lattice_steps(m_)) {
    // Moments are taken about the point of the box next to the mean, so that they do not cancel.
    for (std::size_t k = 0; k < m_; ++k) origin_.push_back(std::clamp(q.component_mean(j)[k], box.lo[k], box.hi[k]));
    DrawStream draws(seed + 0x51ed2701u * (j + 1));
    for (std::size_t s = 0; s < kShifts; ++s) {
      for (std::size_t k = 0; k < m_; ++k) shifts_[s].push_back(draws.uniform());
      first_[s].assign(m_, 0.0);
    }
    second_ = DenseMatrix(m_, m_);
  }

  bool inside() const { return component_.outside_bound() < kInside; }
  std::size_t points() const { return done_; }  // per shift

  // Extends every shifted lattice to n points.
  void extend(std::size_t n) {
    std::vector<double> u(m_), theta(m_);
    for (; done_ < n; ++done_)
      for (std::size_t s = 0; s < kShifts; ++s) {
        for (std::size_t k = 0; k < m_; ++k) {
          double x = static_cast<double>(done_ + 1) * steps_[k] + shifts_[s][k];
          x -= std::floor(x);
          u[k] = std::clamp(std::fabs(2.0 * x - 1.0), 1e-15, 1.0 - 1e-15);  // folding makes the integrand periodic
        }
        add(s, component_.propose(u, theta), theta);
      }
  }

  double log_mass() const {
    if (inside()) return std::log1p(-component_.outside_bound());
    const double total = std::accumulate(totals_.begin(), totals_.end(), 0.0);
    return reference_ + std::log(total / static_cast<double>(kShifts * done_));
  }

  // Standard error of the mass, relative to the mass.
  double relative_error() const {
    if (inside()) return component_.outside_bound();
    const double total = std::accumulate(totals_.begin(), totals_.end(), 0.0);
    return component_.independent() || total == 0.0 ? 0.0 : scatter(totals_) / (total / kShifts);
  }

  // The weight of a point as exp(reference); sums below are in units of it, per point.
  double reference() const { return reference_; }
  double total(std::size_t shift) const { return totals_[shift] / static_cast<double>(done_); }
  // Sum of w (theta_k - about).
  double first(std::size_t shift, std::size_t k, double about) const {
    return (first_[shift][k] + (origin_[k] - about) * totals_[shift]) / static_cast<double>(done_);
  }
  // Sum over shifts of w (theta_k - about_k)(theta_l - about_l), k <= l, divided by the number of shifts.
  double second(std::size_t k, std::size_t l, double about_k, double about_l) const {
    const double dk = origin_[k] - about_k, dl = origin_[l] - about_l;
    double sum = second_(k, l);
    for (std::size_t s = 0; s < kShifts; ++s) sum += dk * first_[s][l] + dl * first_[s][k] + dk * dl * totals_[s];
    return sum / static_cast<double>(kShifts * done_);
  }

 private:
  void add(std::size_t shift, double log_weight, std::span<const double> theta) {
    if (log_weight == -kInfinity) return;
    if (log_weight > reference_) {  // first point, or a larger weight than any before
      const double factor = std::exp(reference_ - log_weight);
      for (double& v : totals_) v *= factor;
      for (auto& sums : first_)
        for (double& v : sums) v *= factor;
      for (double& v : second_.data) v *= factor;
      reference_ = log_weight;
    }
    const double w = std::exp(log_weight - reference_);
    totals_[shift] += w;
    if (!moments_) return;
    for (std::size_t k = 0; k < m_; ++k) {
      const double dk = theta[k] - origin_[k];
      first_[shift][k] += w * dk;
      for (std::size_t l = k; l < m_; ++l) second_(k, l) += w * dk * (theta[l] - origin_[l]);
    }
  }

  BoxComponent component_;
  std::size_t m_;
  bool moments_;
  std::vector<double> steps_, origin_;
  std::array<std::vector<double>, kShifts> shifts_, first_;
  Shares totals_{};
  DenseMatrix second_;  // upper triangle, all shifts together
  double reference_ = -kInfinity;
  std::size_t done_ = 0;
};

std::vector<ComponentSums> start(const GaussianMixture& q, const Box& box, const BoxOptions& options, bool moments) {
  check_box(box, q.dimension());
  std::vector<ComponentSums> sums;
  for (std::size_t j = 0; j < q.components(); ++j) {
    sums.emplace_back(q, j, box, options.seed, moments);
    if (!sums[j].inside()) sums[j].extend(std::clamp<std::size_t>(options.max_points / kShifts, 1, kFirstPoints));
  }
  return sums;
}

}  // namespace

double BoxMass::mass() const {
  return std::min(std::exp(log_mass), 1.0);
}

BoxMass box_mass(const GaussianMixture& q, const Box& box, const BoxOptions& options) {
  const std::size_t n = q.components(), limit = std::max<std::size_t>(options.max_points / kShifts, 1);
  std::vector<ComponentSums> sums = start(q, box, options, false);
  BoxMass result;
  result.component_log_mass.resize(n);
  std::vector<double> terms(n);
  // Errors of the components add in squares; refine the one that contributes most until the sum is small enough.
  for (;;) {
    for (std::size_t j = 0; j < n; ++j) {
      result.component_log_mass[j] = sums[j].log_mass();
      terms[j] = q.log_weight(j) + result.component_log_mass[j];
    }
    result.log_mass = log_sum_exp(terms);
    if (result.log_mass == -kInfinity) return result;
    double square = 0.0, worst = 0.0;
    std::size_t next = n;
    for (std::size_t j = 0; j < n; ++j) {
      const double error = std::exp(terms[j] - result.log_mass) * sums[j].relative_error();
      square += error * error;
      if (sums[j].inside() || sums[j].points() >= limit || error <= worst) continue;
      worst = error;
      next = j;
    }
    result.error = std::sqrt(square);
    if (result.error <= options.relative_error || next == n) return result;
    sums[next].extend(std::min(2 * sums[next].points(), limit));
  }
}

BoxMoments box_moments(const GaussianMixture& q, const Box& box, const BoxOptions& options) {
  const std::size_t n = q.components(), m = q.dimension();
  const std::size_t limit = std::max<std::size_t>(options.max_points / kShifts, 1);
  std::vector<ComponentSums> sums = start(q, box, options, true);
  for (std::size_t points = std::min(kFirstPoints, limit);; points = std::min(2 * points, limit)) {
    for (ComponentSums& s : sums)
      if (!s.inside()) s.extend(points);
    // scale[j]: weight of the component times the unit of its sums, relative to the largest.
    std::vector<double> scale(n);
    for (std::size_t j = 0; j < n; ++j) scale[j] = q.log_weight(j) + (sums[j].inside() ? 0.0 : sums[j].reference());
    const double largest = *std::max_element(scale.begin(), scale.end());
    if (largest == -kInfinity) throw Error("the box holds no mass of the mixture");
    for (double& v : scale) v = std::exp(v - largest);

    BoxMoments result{std::vector<double>(m), std::vector<double>(m), DenseMatrix(m, m)};
    Shares mass{};
    for (std::size_t s = 0; s < kShifts; ++s)
      for (std::size_t j = 0; j < n; ++j) mass[s] += scale[j] * (sums[j].inside() ? 1.0 : sums[j].total(s));
    const double total = std::accumulate(mass.begin(), mass.end(), 0.0) / kShifts;
    const std::vector<double> about = q.mean();  // any fixed point will do; refined below
    for (std::size_t k = 0; k < m; ++k) {
      Shares moment{};
      for (std::size_t s = 0; s < kShifts; ++s)
        for (std::size_t j = 0; j < n; ++j)
          moment[s] +=
              scale[j] * (sums[j].inside() ? q.component_mean(j)[k] - about[k] : sums[j].first(s, k, about[k]));
      const double shift = std::accumulate(moment.begin(), moment.end(), 0.0) / kShifts / total;
      result.mean[k] = about[k] + shift;
      for (std::size_t s = 0; s < kShifts; ++s) moment[s] = (moment[s] - shift * mass[s]) / total;  // ratio estimator
      result.mean_error[k] = scatter(moment);
    }
    for (std::size_t j = 0; j < n; ++j) {
      if (scale[j] == 0.0) continue;
      const DenseMatrix sigma = sums[j].inside() ? q.component_covariance(j) : DenseMatrix();
      const auto mu = q.component_mean(j);
      for (std::size_t k = 0; k < m; ++k)
        for (std::size_t l = k; l < m; ++l) {
          const double value = sums[j].inside() ? sigma(k, l) + (mu[k] - result.mean[k]) * (mu[l] - result.mean[l])
                                                : sums[j].second(k, l, result.mean[k], result.mean[l]);
          result.covariance(k, l) += scale[j] * value / total;
          result.covariance(l, k) = result.covariance(k, l);
        }
    }
    double worst = 0.0;
    for (std::size_t k = 0; k < m; ++k)
      worst = std::max(worst, result.mean_error[k] / std::sqrt(result.covariance(k, k)));
    if (worst <= options.relative_error || points >= limit) return result;
  }
}

}  // namespace penn
