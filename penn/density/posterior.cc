#include "penn/density/posterior.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "penn/base/error.h"
#include "penn/density/box_coordinates.h"
#include "penn/density/mixture_box.h"

namespace penn {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct QuadraturePoint {
  double x, weight;
};

// Nodes and weights of Gauss and Legendre on [-1, 1]: roots of P_n by Newton's method.
template <std::size_t n>
std::array<QuadraturePoint, n> gauss_legendre() {
  std::array<QuadraturePoint, n> points;
  for (std::size_t i = 0; i < n; ++i) {
    double x = std::cos(M_PI * (static_cast<double>(i) + 0.75) / (static_cast<double>(n) + 0.5)), slope = 1;
    for (int step = 0; step < 100; ++step) {
      double p = 1, before = 0;
      for (std::size_t k = 1; k <= n; ++k) {
        const double next = ((2.0 * static_cast<double>(k) - 1) * x * p - (static_cast<double>(k) - 1) * before) / static_cast<double>(k);
        before = p, p = next;
      }
      slope = static_cast<double>(n) * (x * p - before) / (x * x - 1);
      x -= p / slope;
      if (std::abs(p / slope) < 1e-15) break;
    }
    points[i] = {x, 2 / ((1 - x * x) * slope * slope)};
  }
  return points;
}

// By the trapezoidal rule on every component, which for smooth functions of a normal variable converges faster than any power of the step.
template <class Function>
double expectation(const NormalMixture1d& q, Function f) {
  constexpr double kReach = 7;  // in standard deviations; beyond is 3e-12 of the mass
  double sum = 0;
  for (std::size_t j = 0; j < q.components(); ++j) {
    const double step = 0.5 / std::max(1.0, q.component_sd(j));  // Phi(u) changes over distances of 1, phi over the component's own
    for (double z = -kReach; z <= kReach; z += step) sum += q.weight(j) * step * normal_density(z) * f(q.component_mean(j) + z * q.component_sd(j));
  }
  return sum;
}

// True values and data come as float32, which may round an edge of the box outwards.
bool is_inside(double x, double lo, double hi) {
  const double slack = 1e-6 * (hi - lo) + 2e-7 * std::max(std::abs(lo), std::abs(hi));
  return x >= lo - slack && x <= hi + slack;
}

DenseMatrix correlation_of(DenseMatrix c) {
  std::vector<double> sd;
  for (std::size_t k = 0; k < c.rows; ++k) sd.push_back(std::sqrt(c(k, k)));
  for (std::size_t k = 0; k < c.rows; ++k)
    for (std::size_t l = 0; l < c.rows; ++l) c(k, l) = k == l ? 1 : c(k, l) / (sd[k] * sd[l]);
  return c;
}

}  // namespace

// Plackett: d Phi_2 / d rho is the bivariate density, so the covariance is its integral from 0 to rho; with rho = sin t the integrand is smooth.
double probit_covariance(double a, double b, double rho) {
  static const auto few = gauss_legendre<8>();
  static const auto some = gauss_legendre<14>();
  static const auto many = gauss_legendre<32>();
  const double end = std::asin(std::clamp(rho, -1.0, 1.0)), half = 0.5 * end;
  const auto integrate = [&](const auto& points) {
    double sum = 0;
    for (const QuadraturePoint& p : points) {
      const double s = std::sin(half * (1 + p.x)), c2 = 1 - s * s;
      sum += p.weight * std::exp(-(a * a + b * b - 2 * a * b * s) / (2 * c2));
    }
    return sum * half / (2 * M_PI);
  };
  return std::abs(rho) < 0.2 ? integrate(few) : std::abs(rho) < 0.6 ? integrate(some) : integrate(many);
}

double MarginalLaw::log_density(double x) const {
  if (!in_box_) return mixture_.log_density(x);
  if (!is_inside(x, lo_, hi_)) return -kInfinity;
  const double u = box_coordinate(x, lo_, hi_);
  return mixture_.log_density(u) - log_box_slope(u, lo_, hi_);
}

double MarginalLaw::cdf(double x) const {
  if (!in_box_) return mixture_.cdf(x);
  return x <= lo_ ? 0 : x >= hi_ ? 1 : mixture_.cdf(normal_quantile((x - lo_) / (hi_ - lo_)));
}

double MarginalLaw::survival(double x) const {
  if (!in_box_) return mixture_.survival(x);
  return x <= lo_ ? 1 : x >= hi_ ? 0 : mixture_.survival(normal_quantile((x - lo_) / (hi_ - lo_)));
}

double MarginalLaw::quantile(double p) const {
  const double u = mixture_.quantile(p);
  return in_box_ ? from_box_coordinate(u, lo_, hi_) : u;
}

double MarginalLaw::mean() const {
  if (!in_box_) return mixture_.mean();
  double share = 0;
  for (std::size_t j = 0; j < mixture_.components(); ++j) share += mixture_.weight(j) * normal_cdf(mixture_.component_mean(j) / std::hypot(1.0, mixture_.component_sd(j)));
  return lo_ + (hi_ - lo_) * share;
}

double MarginalLaw::sd() const {
  if (!in_box_) return mixture_.sd();
  const double centre = (mean() - lo_) / (hi_ - lo_);
  double variance = 0;
  for (std::size_t j = 0; j < mixture_.components(); ++j) {
    const double s2 = mixture_.component_sd(j) * mixture_.component_sd(j), a = mixture_.component_mean(j) / std::sqrt(1 + s2), offset = normal_cdf(a) - centre;
    variance += mixture_.weight(j) * (probit_covariance(a, a, s2 / (1 + s2)) + offset * offset);
  }
  return (hi_ - lo_) * std::sqrt(variance);
}

double MarginalLaw::kurtosis() const {
  const double centre = mean(), scale = sd();
  return expectation(mixture_, [&](double u) {
    const double d = ((in_box_ ? from_box_coordinate(u, lo_, hi_) : u) - centre) / scale;
    return d * d * d * d;
  });
}

Posterior::Posterior(GaussianMixture mixture, Coordinates coordinates, Box box) : mixture_(std::move(mixture)), coordinates_(coordinates), box_(std::move(box)) {
  check_box(box_, mixture_.dimension());
}

std::vector<double> Posterior::to_coordinates(std::span<const double> theta) const {
  std::vector<double> u(theta.begin(), theta.end());
  if (in_box())
    for (std::size_t k = 0; k < u.size(); ++k) u[k] = box_coordinate(u[k], box_.lo[k], box_.hi[k]);
  return u;
}

std::vector<double> Posterior::from_coordinates(std::span<const double> u) const {
  std::vector<double> theta(u.begin(), u.end());
  if (in_box())
    for (std::size_t k = 0; k < theta.size(); ++k) theta[k] = from_box_coordinate(theta[k], box_.lo[k], box_.hi[k]);
  return theta;
}

double Posterior::log_density(std::span<const double> theta) const {
  if (!in_box()) return mixture_.log_density(theta);
  for (std::size_t k = 0; k < theta.size(); ++k)
    if (!is_inside(theta[k], box_.lo[k], box_.hi[k])) return -kInfinity;
  return log_density_at(to_coordinates(theta));
}

double Posterior::log_density_at(std::span<const double> u) const {
  double log_slopes = 0;
  if (in_box())
    for (std::size_t k = 0; k < u.size(); ++k) log_slopes += log_box_slope(u[k], box_.lo[k], box_.hi[k]);
  return mixture_.log_density(u) - log_slopes;
}

std::vector<double> Posterior::mean() const {
  if (!in_box()) return mixture_.mean();
  std::vector<double> mean;
  for (std::size_t k = 0; k < dimension(); ++k) mean.push_back(marginal(k).mean());
  return mean;
}

DenseMatrix Posterior::covariance() const {
  if (!in_box()) return mixture_.covariance();
  const std::size_t M = dimension();
  DenseMatrix total(M, M);
  std::vector<std::vector<double>> centres;
  std::vector<double> mean(M, 0.0);
  for (std::size_t j = 0; j < components(); ++j) {
    const DenseMatrix s = mixture_.component_covariance(j);
    std::vector<double> a(M), centre(M);
    for (std::size_t k = 0; k < M; ++k) {
      a[k] = mixture_.component_mean(j)[k] / std::sqrt(1 + s(k, k));
      centre[k] = normal_cdf(a[k]);
      mean[k] += weight(j) * centre[k];
    }
    for (std::size_t k = 0; k < M; ++k)
      for (std::size_t l = k; l < M; ++l) total(k, l) += weight(j) * probit_covariance(a[k], a[l], s(k, l) / std::sqrt((1 + s(k, k)) * (1 + s(l, l))));
    centres.push_back(std::move(centre));
  }
  for (std::size_t k = 0; k < M; ++k)
    for (std::size_t l = k; l < M; ++l) {
      for (std::size_t j = 0; j < components(); ++j) total(k, l) += weight(j) * (centres[j][k] - mean[k]) * (centres[j][l] - mean[l]);
      total(k, l) *= (box_.hi[k] - box_.lo[k]) * (box_.hi[l] - box_.lo[l]);
      total(l, k) = total(k, l);
    }
  return total;
}

DenseMatrix Posterior::correlation() const { return correlation_of(covariance()); }

MarginalLaw Posterior::marginal(std::size_t k) const { return {mixture_.marginal_1d(k), coordinates_, box_.lo[k], box_.hi[k]}; }

Posterior Posterior::conditional(std::span<const std::size_t> indices, std::span<const double> values) const {
  std::vector<double> at(values.begin(), values.end());
  if (in_box())
    for (std::size_t i = 0; i < at.size(); ++i) at[i] = box_coordinate(at[i], box_.lo[indices[i]], box_.hi[indices[i]]);
  Box rest;
  for (std::size_t k = 0; k < dimension(); ++k)
    if (std::find(indices.begin(), indices.end(), k) == indices.end()) rest.lo.push_back(box_.lo[k]), rest.hi.push_back(box_.hi[k]);
  return {mixture_.conditional(indices, at), coordinates_, std::move(rest)};
}

std::vector<Mode> Posterior::modes(const ModeOptions& options) const {
  std::vector<Mode> modes = find_modes(mixture_, options);
  if (in_box())
    for (Mode& mode : modes) {
      mode.theta = from_coordinates(mode.theta);
      mode.log_density = log_density(mode.theta);
    }
  return modes;
}

std::vector<double> Posterior::sample(std::size_t n, DrawStream& draws) const {
  std::vector<double> theta = mixture_.sample(n, draws);
  const std::size_t M = dimension();
  if (in_box())
    for (std::size_t i = 0; i < theta.size(); ++i) theta[i] = from_box_coordinate(theta[i], box_.lo[i % M], box_.hi[i % M]);
  return theta;
}

double Posterior::outside_mass() const {
  if (in_box()) return 0;
  return std::clamp(1 - box_mass(mixture_, box_, {.relative_error = 2e-3, .max_points = 2048}).mass(), 0.0, 1.0);
}

PosteriorInBox::PosteriorInBox(Posterior posterior) : posterior_(std::move(posterior)) {
  if (!posterior_.in_box()) cut_.emplace_back(posterior_.mixture(), posterior_.box());
}

double PosteriorInBox::log_density(std::span<const double> theta) const { return cut_.empty() ? posterior_.log_density(theta) : cut_[0].log_density(theta); }

TruncatedDraws PosteriorInBox::sample(std::size_t n, DrawStream& draws) const {
  if (cut_.empty()) return {posterior_.sample(n, draws), 0};
  return cut_[0].sample(n, draws);
}

const char* coordinates_name(Coordinates coordinates) { return coordinates == Coordinates::kBox ? "box" : "linear"; }

}  // namespace penn
