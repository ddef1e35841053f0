// See mixture_box.h. Weights are summed relative to the largest seen, so a box far out in the tails loses no digits.
#include "penn/density/mixture_box.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "penn/density/draw_stream.h"
#include "penn/density/normal.h"

namespace penn {

namespace {

constexpr std::size_t kShifts = 8;
constexpr std::size_t kFirstPoints = 64;  // per shift
constexpr double kInside = 1e-9;          // a component with less outside counts as inside, its moments as they are
constexpr double kInfinity = std::numeric_limits<double>::infinity();

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

// Weighted sums over the points of one component. Weight = exp(log weight - reference).
class ComponentSums {
 public:
  ComponentSums(const GaussianMixture& q, std::size_t j, const Box& box, std::uint64_t seed)
      : component_(q, j, box), m_(q.dimension()), steps_(lattice_steps(m_)), first_(m_, 0.0), second_(m_, m_) {
    // Moments are taken about the point of the box next to the mean, so that they do not cancel.
    for (std::size_t k = 0; k < m_; ++k) origin_.push_back(std::clamp(q.component_mean(j)[k], box.lo[k], box.hi[k]));
    DrawStream draws(seed + 0x51ed2701u * (j + 1));
    for (auto& shift : shifts_) {
      shift.resize(m_);
      for (double& v : shift) v = draws.uniform();
    }
  }

  std::size_t points() const { return kShifts * done_; }
  double outside_bound() const { return component_.outside_bound(); }

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

  double total() const { return std::accumulate(totals_.begin(), totals_.end(), 0.0); }
  double log_mass() const { return reference_ + std::log(total() / static_cast<double>(points())); }

  // Standard error of the mass, relative to the mass, from the scatter of the shifts.
  double relative_error() const {
    if (component_.independent()) return 0.0;
    double mean = 0.0, square = 0.0;
    for (double v : totals_) mean += v / kShifts;
    for (double v : totals_) square += (v - mean) * (v - mean);
    return mean > 0.0 ? std::sqrt(square / (kShifts * (kShifts - 1))) / mean : 0.0;
  }

  std::vector<double> mean() const {
    const double sum = total();
    std::vector<double> result(m_);
    for (std::size_t k = 0; k < m_; ++k) result[k] = origin_[k] + first_[k] / sum;
    return result;
  }

  // E[(theta - about)(theta - about)^T] in the box.
  DenseMatrix second_moment(std::span<const double> about) const {
    const double sum = total();
    DenseMatrix result(m_, m_);
    for (std::size_t k = 0; k < m_; ++k)
      for (std::size_t l = 0; l < m_; ++l) {
        const double dk = origin_[k] - about[k], dl = origin_[l] - about[l];
        const double upper = k <= l ? second_(k, l) : second_(l, k);
        result(k, l) = upper / sum + dk * first_[l] / sum + dl * first_[k] / sum + dk * dl;
      }
    return result;
  }

 private:
  void add(std::size_t shift, double log_weight, std::span<const double> theta) {
    if (log_weight == -kInfinity) return;
    if (log_weight > reference_) {  // first point, or a larger weight than any before
      const double factor = std::exp(reference_ - log_weight);
      for (double& v : totals_) v *= factor;
      for (double& v : first_) v *= factor;
      for (double& v : second_.data) v *= factor;
      reference_ = log_weight;
    }
    const double w = std::exp(log_weight - reference_);
    totals_[shift] += w;
    for (std::size_t k = 0; k < m_; ++k) {
      const double dk = theta[k] - origin_[k];
      first_[k] += w * dk;
      for (std::size_t l = k; l < m_; ++l) second_(k, l) += w * dk * (theta[l] - origin_[l]);
    }
  }

  BoxComponent component_;
  std::size_t m_;
  std::vector<double> steps_;
  std::vector<double> origin_;
  std::array<std::vector<double>, kShifts> shifts_;
  std::array<double, kShifts> totals_{};
  std::vector<double> first_;
  DenseMatrix second_;  // upper triangle
  double reference_ = -kInfinity;
  std::size_t done_ = 0;
};

}  // namespace

double BoxMass::mass() const {
  return std::min(std::exp(log_mass), 1.0);
}

BoxMass box_mass(const GaussianMixture& q, const Box& box, const BoxOptions& options) {
  const std::size_t n = q.components(), m = q.dimension();
  check_box(box, m);
  const std::size_t limit = std::max<std::size_t>(options.max_points / kShifts, 1);
  BoxMass result;
  result.component_log_mass.resize(n);
  std::vector<ComponentSums> sums;
  std::vector<bool> inside(n);
  for (std::size_t j = 0; j < n; ++j) {
    sums.emplace_back(q, j, box, options.seed);
    inside[j] = sums[j].outside_bound() < kInside;
    if (!inside[j]) sums[j].extend(std::min(kFirstPoints, limit));
  }

  // Errors of the components add in squares; refine the one that contributes most until the sum is small enough.
  std::vector<double> terms(n), errors(n);
  for (;;) {
    for (std::size_t j = 0; j < n; ++j) {
      result.component_log_mass[j] = inside[j] ? std::log1p(-sums[j].outside_bound()) : sums[j].log_mass();
      terms[j] = q.log_weight(j) + result.component_log_mass[j];
    }
    result.log_mass = log_sum_exp(terms);
    if (result.log_mass == -kInfinity) return result;
    double square = 0.0, worst = 0.0;
    std::size_t next = n;
    for (std::size_t j = 0; j < n; ++j) {
      const double share = std::exp(terms[j] - result.log_mass);
      errors[j] = share * (inside[j] ? sums[j].outside_bound() : sums[j].relative_error());
      square += errors[j] * errors[j];
      if (!inside[j] && sums[j].points() < kShifts * limit && errors[j] > worst) worst = errors[next = j];
    }
    result.error = std::sqrt(square);
    if (result.error <= options.relative_error || next == n) break;
    sums[next].extend(std::min(2 * sums[next].points() / kShifts, limit));
  }

  result.mean.assign(m, 0.0);
  result.covariance = DenseMatrix(m, m);
  std::vector<std::vector<double>> means(n);
  for (std::size_t j = 0; j < n; ++j) {
    if (!(terms[j] > -kInfinity)) continue;
    means[j] = inside[j] ? std::vector<double>(q.component_mean(j).begin(), q.component_mean(j).end()) : sums[j].mean();
    for (std::size_t k = 0; k < m; ++k) result.mean[k] += std::exp(terms[j] - result.log_mass) * means[j][k];
  }
  for (std::size_t j = 0; j < n; ++j) {
    if (!(terms[j] > -kInfinity)) continue;
    DenseMatrix spread = inside[j] ? q.component_covariance(j) : sums[j].second_moment(result.mean);
    for (std::size_t k = 0; k < m; ++k)
      for (std::size_t l = 0; l < m; ++l) {
        const double between = inside[j] ? (means[j][k] - result.mean[k]) * (means[j][l] - result.mean[l]) : 0.0;
        result.covariance(k, l) += std::exp(terms[j] - result.log_mass) * (spread(k, l) + between);
      }
  }
  return result;
}

}  // namespace penn
