#include "penn/posterior/posterior.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "penn/base/error.h"
#include "penn/posterior/mixture_box.h"
#include "penn/posterior/normal.h"
#include "penn/posterior/probit_coordinates.h"

namespace penn {
namespace {

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
        const double next = ((2.0 * static_cast<double>(k) - 1) * x * p - (static_cast<double>(k) - 1) * before) /
                            static_cast<double>(k);
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

// By the trapezoidal rule on every component, which for smooth functions of a normal variable converges faster than any
// power of the step.
template <class Function>
double expectation(const NormalMixture1d& q, bool is_probit, Function f) {
  constexpr double kReach = 7;  // in standard deviations; beyond is 3e-12 of the mass
  constexpr double kWidest = 50;
  double sum = 0;
  for (std::size_t j = 0; j < q.components(); ++j) {
    // Phi(u) changes over distances of 1, phi over the component's own; where that is beyond kWidest, Phi is a step to
    // the component, and a coarse one will do.
    const double step = 0.5 / (is_probit ? std::clamp(q.component_sd(j), 1.0, kWidest) : 1.0);
    for (double z = -kReach; z <= kReach; z += step)
      sum += q.weight(j) * step * normal_density(z) * f(q.component_mean(j) + z * q.component_sd(j));
  }
  return sum;
}

// True values and data come as float32, which may round an edge of the box outwards.
bool is_inside(double x, double lo, double hi) {
  const double slack = 1e-6 * (hi - lo) + 2e-7 * std::max(std::abs(lo), std::abs(hi));
  return x >= lo - slack && x <= hi + slack;
}

}  // namespace

// Plackett: d Phi_2 / d rho is the bivariate density, so the covariance is its integral from 0 to rho; with rho = sin t
// the integrand is smooth.
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

double Marginal::log_density(double x) const {
  if (!is_probit_) return mixture_.log_density(x);
  if (!is_inside(x, lo_, hi_)) return -kInfinity;
  const double u = probit_coordinate(x, lo_, hi_);
  return mixture_.log_density(u) - log_probit_slope(u, lo_, hi_);
}

double Marginal::cdf(double x) const {
  if (!is_probit_) return mixture_.cdf(x);
  return x <= lo_ ? 0 : x >= hi_ ? 1 : mixture_.cdf(normal_quantile((x - lo_) / (hi_ - lo_)));
}

double Marginal::survival(double x) const {
  if (!is_probit_) return mixture_.survival(x);
  return x <= lo_ ? 1 : x >= hi_ ? 0 : mixture_.survival(normal_quantile((x - lo_) / (hi_ - lo_)));
}

double Marginal::quantile(double p) const {
  const double u = mixture_.quantile(p);
  return is_probit_ ? from_probit_coordinate(u, lo_, hi_) : u;
}

double Marginal::mean() const {
  if (!is_probit_) return mixture_.mean();
  double fraction = 0;
  for (std::size_t j = 0; j < mixture_.components(); ++j)
    fraction += mixture_.weight(j) * normal_cdf(mixture_.component_mean(j) / std::hypot(1.0, mixture_.component_sd(j)));
  return lo_ + (hi_ - lo_) * fraction;
}

double Marginal::sd() const {
  if (!is_probit_) return mixture_.sd();
  const double centre = (mean() - lo_) / (hi_ - lo_);
  double variance = 0;
  for (std::size_t j = 0; j < mixture_.components(); ++j) {
    const double s2 = mixture_.component_sd(j) * mixture_.component_sd(j),
                 a = mixture_.component_mean(j) / std::sqrt(1 + s2), offset = normal_cdf(a) - centre;
    variance += mixture_.weight(j) * (probit_covariance(a, a, s2 / (1 + s2)) + offset * offset);
  }
  return (hi_ - lo_) * std::sqrt(variance);
}

double Marginal::kurtosis() const {
  const double centre = mean(), scale = sd();
  return expectation(mixture_, is_probit_, [&](double u) {
    const double d = ((is_probit_ ? from_probit_coordinate(u, lo_, hi_) : u) - centre) / scale;
    return d * d * d * d;
  });
}

Posterior::Posterior(GaussianMixture mixture, Coordinates coordinates, Box box)
    : mixture_(std::move(mixture)), coordinates_(std::move(coordinates)), box_(std::move(box)) {
  check_box(box_, mixture_.dimension());
  if (coordinates_.size() != mixture_.dimension()) throw Error("a posterior needs a coordinate for every parameter");
}

Posterior::Posterior(GaussianMixture mixture, Coordinate all, Box box)
    : Posterior(std::move(mixture), Coordinates(box.lo.size(), all), box) {}

bool Posterior::all_probit() const {
  return std::all_of(coordinates_.begin(), coordinates_.end(), [](Coordinate c) { return c == Coordinate::kProbit; });
}

Box Posterior::coordinate_box() const {
  Box box = box_;
  for (std::size_t k = 0; k < dimension(); ++k)
    if (is_probit(k)) box.lo[k] = -kInfinity, box.hi[k] = kInfinity;
  return box;
}

std::vector<double> Posterior::to_coordinates(std::span<const double> theta) const {
  std::vector<double> u(theta.begin(), theta.end());
  for (std::size_t k = 0; k < u.size(); ++k)
    if (is_probit(k)) u[k] = probit_coordinate(u[k], box_.lo[k], box_.hi[k]);
  return u;
}

std::vector<double> Posterior::from_coordinates(std::span<const double> u) const {
  std::vector<double> theta(u.begin(), u.end());
  for (std::size_t k = 0; k < theta.size(); ++k)
    if (is_probit(k)) theta[k] = from_probit_coordinate(theta[k], box_.lo[k], box_.hi[k]);
  return theta;
}

double Posterior::log_density(std::span<const double> theta) const {
  for (std::size_t k = 0; k < theta.size(); ++k)
    if (is_probit(k) && !is_inside(theta[k], box_.lo[k], box_.hi[k])) return -kInfinity;
  return log_density_at(to_coordinates(theta));
}

double Posterior::log_density_at(std::span<const double> u) const {
  double log_slopes = 0;
  for (std::size_t k = 0; k < u.size(); ++k)
    if (is_probit(k)) log_slopes += log_probit_slope(u[k], box_.lo[k], box_.hi[k]);
  return mixture_.log_density(u) - log_slopes;
}

std::vector<double> Posterior::mean() const {
  std::vector<double> mean = mixture_.mean();
  for (std::size_t k = 0; k < dimension(); ++k)
    if (is_probit(k)) mean[k] = marginal(k).mean();
  return mean;
}

DenseMatrix Posterior::covariance() const {
  const std::size_t M = dimension();
  DenseMatrix total(M, M);
  std::vector<std::vector<double>>
      centres;  // of the components, in units of the box where it is one of probit coordinates
  std::vector<double> mean(M, 0.0);
  for (std::size_t j = 0; j < components(); ++j) {
    const DenseMatrix s = mixture_.component_covariance(j);
    std::vector<double> centre(mixture_.component_mean(j).begin(), mixture_.component_mean(j).end()), a(M), root(M);
    for (std::size_t k = 0; k < M; ++k) {
      root[k] = std::sqrt(1 + s(k, k));
      a[k] = centre[k] / root[k];
      if (is_probit(k)) centre[k] = normal_cdf(a[k]);
      mean[k] += weight(j) * centre[k];
    }
    for (std::size_t k = 0; k < M; ++k)
      for (std::size_t l = k; l < M; ++l) {
        double c = s(k, l);
        if (is_probit(k) && is_probit(l)) c = probit_covariance(a[k], a[l], c / (root[k] * root[l]));
        else if (is_probit(k)) c *= normal_density(a[k]) / root[k];
        else if (is_probit(l)) c *= normal_density(a[l]) / root[l];
        total(k, l) += weight(j) * c;
      }
    centres.push_back(std::move(centre));
  }
  const auto width = [&](std::size_t k) { return is_probit(k) ? box_.hi[k] - box_.lo[k] : 1.0; };
  for (std::size_t k = 0; k < M; ++k)
    for (std::size_t l = k; l < M; ++l) {
      for (std::size_t j = 0; j < components(); ++j)
        total(k, l) += weight(j) * (centres[j][k] - mean[k]) * (centres[j][l] - mean[l]);
      total(k, l) *= width(k) * width(l);
      total(l, k) = total(k, l);
    }
  return total;
}

DenseMatrix Posterior::correlation() const {
  return correlation_of(covariance());
}

Marginal Posterior::marginal(std::size_t k) const {
  return {mixture_.marginal_1d(k), coordinates_[k], box_.lo[k], box_.hi[k]};
}

Posterior Posterior::conditional(std::span<const std::size_t> indices, std::span<const double> values) const {
  std::vector<double> at(values.begin(), values.end());
  for (std::size_t i = 0; i < at.size(); ++i)
    if (is_probit(indices[i])) at[i] = probit_coordinate(at[i], box_.lo[indices[i]], box_.hi[indices[i]]);
  Box rest;
  Coordinates coordinates;
  for (std::size_t k = 0; k < dimension(); ++k)
    if (std::find(indices.begin(), indices.end(), k) == indices.end())
      rest.lo.push_back(box_.lo[k]), rest.hi.push_back(box_.hi[k]), coordinates.push_back(coordinates_[k]);
  return {mixture_.conditional(indices, at), std::move(coordinates), std::move(rest)};
}

std::vector<Mode> Posterior::modes(const ModeOptions& options) const {
  std::vector<Mode> modes = find_modes(mixture_, options);
  for (Mode& mode : modes) {
    mode.log_density = log_density_at(mode.theta);
    mode.theta = from_coordinates(mode.theta);
  }
  return modes;
}

std::vector<double> Posterior::sample(std::size_t n, DrawStream& draws) const {
  std::vector<double> theta = mixture_.sample(n, draws);
  const std::size_t M = dimension();
  for (std::size_t i = 0; i < theta.size(); ++i)
    if (is_probit(i % M)) theta[i] = from_probit_coordinate(theta[i], box_.lo[i % M], box_.hi[i % M]);
  return theta;
}

double Posterior::outside_mass() const {
  if (all_probit()) return 0;
  return std::clamp(1 - box_mass(mixture_, coordinate_box(), {.relative_error = 2e-3, .max_points = 2048}).mass(), 0.0,
                    1.0);
}

PosteriorInBox::PosteriorInBox(Posterior posterior) : posterior_(std::move(posterior)) {
  if (!posterior_.all_probit()) cut_.emplace_back(posterior_.mixture(), posterior_.coordinate_box());
}

double PosteriorInBox::log_density(std::span<const double> theta) const {
  if (!posterior_.box().contains(theta)) return -kInfinity;
  return posterior_.log_density(theta) - (cut_.empty() ? 0.0 : cut_[0].log_mass());
}

TruncatedDraws PosteriorInBox::sample(std::size_t n, DrawStream& draws) const {
  if (cut_.empty()) return {posterior_.sample(n, draws), 0};
  TruncatedDraws result = cut_[0].sample(n, draws);
  const std::size_t M = posterior_.dimension();
  for (std::size_t i = 0; i < n; ++i) {
    const std::vector<double> theta = posterior_.from_coordinates(std::span(&result.theta[i * M], M));
    std::copy(theta.begin(), theta.end(), result.theta.begin() + static_cast<std::ptrdiff_t>(i * M));
  }
  return result;
}

std::vector<std::string> coordinate_names(const Coordinates& coordinates) {
  std::vector<std::string> names;
  for (const Coordinate c : coordinates) names.push_back(c == Coordinate::kProbit ? "probit" : "linear");
  return names;
}

}  // namespace penn
