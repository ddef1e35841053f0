// The posterior as its readers meet it, in the parameters' own units: a Gaussian mixture in coordinates u, one for each
// parameter.
//   Linear: u is the parameter itself, the paper's form. The mixture leaks over the edges of the box.
//   Box (probit_coordinates.h): theta_k = lo_k + (hi_k - lo_k) Phi(u_k). Nothing lies outside, and everything stays in
//   closed form: ln q(theta) = ln q_u(u) - sum_k ln d theta_k / d u_k; quantiles, draws and conditionals through u;
//   moments by
//     E Phi(u) = Phi(a),  Cov(Phi(u), Phi(v)) = Phi_2(a, b; rho) - Phi(a) Phi(b),  Cov(Phi(u), x) = s_ux phi(a) /
//     sqrt(1 + s_uu), a = mu_u / sqrt(1 + s_uu),  rho = s_uv / sqrt((1 + s_uu)(1 + s_vv)).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "penn/posterior/box_component.h"
#include "penn/posterior/gaussian_mixture.h"
#include "penn/posterior/mixture_modes.h"
#include "penn/posterior/truncated_mixture.h"

namespace penn {

enum class Coordinate { kLinear, kProbit };
using Coordinates = std::vector<Coordinate>;  // (M)

// Cov(Phi(x), Phi(y)) = Phi_2(a, b; rho) - Phi(a) Phi(b), to 1e-7 or better for |rho| <= 0.95; no digits are lost where
// it is small.
double probit_covariance(double a, double b, double rho);

// The distribution of one parameter.
class Marginal {
 public:
  Marginal(NormalMixture1d mixture, Coordinate coordinate, double lo, double hi)
      : mixture_(std::move(mixture)), is_probit_(coordinate == Coordinate::kProbit), lo_(lo), hi_(hi) {}

  double log_density(double x) const;
  double cdf(double x) const;
  double survival(double x) const;
  double quantile(double p) const;
  double median() const { return quantile(0.5); }
  double mean() const;
  double sd() const;
  double kurtosis() const;  // fourth central moment over the squared variance; 3 for a Gaussian

 private:
  NormalMixture1d mixture_;
  bool is_probit_;
  double lo_, hi_;
};

class Posterior {
 public:
  Posterior(GaussianMixture mixture, Coordinates coordinates, Box box);
  Posterior(GaussianMixture mixture, Coordinate all, Box box);

  const GaussianMixture& mixture() const { return mixture_; }  // in its coordinates
  const Coordinates& coordinates() const { return coordinates_; }
  bool is_probit(std::size_t k) const { return coordinates_[k] == Coordinate::kProbit; }
  bool all_probit() const;  // then nothing lies outside
  const Box& box() const { return box_; }
  std::size_t dimension() const { return mixture_.dimension(); }
  std::size_t components() const { return mixture_.components(); }
  double weight(std::size_t j) const { return mixture_.weight(j); }
  std::vector<double> component_centre(std::size_t j) const { return from_coordinates(mixture_.component_mean(j)); }

  std::vector<double> to_coordinates(
      std::span<const double> theta) const;  // a theta on the edge or beyond it: just inside
  std::vector<double> from_coordinates(std::span<const double> u) const;

  double log_density(std::span<const double> theta) const;  // -inf where a parameter in probit coordinates lies outside
  double log_density_at(std::span<const double> u) const;   // the same, of theta, at the point with coordinates u
  std::vector<double> mean() const;                         // the point estimate
  DenseMatrix covariance() const;
  DenseMatrix correlation() const;
  Marginal marginal(std::size_t k) const;
  // The distribution of the other parameters, in rising order, given theta[indices[i]] = values[i].
  Posterior conditional(std::span<const std::size_t> indices, std::span<const double> values) const;
  // Local maxima of the mixture in its own coordinates, in the parameters' units.
  std::vector<Mode> modes(const ModeOptions& options = {}) const;

  std::vector<double> sample(std::size_t n, DrawStream& draws) const;  // (n * M), as the mixture is
  double outside_mass() const;                                         // of the box
  Box coordinate_box() const;  // the box in coordinates: all of the line where they are probit coordinates

 private:
  GaussianMixture mixture_;
  Coordinates coordinates_;
  Box box_;
};

// The posterior cut to its box, which is the posterior itself where all coordinates are probit coordinates.
class PosteriorInBox {
 public:
  explicit PosteriorInBox(Posterior posterior);
  double log_density(std::span<const double> theta) const;
  TruncatedDraws sample(std::size_t n, DrawStream& draws) const;

 private:
  Posterior posterior_;
  std::vector<TruncatedMixture> cut_;  // in coordinates; none where all are probit coordinates
};

std::vector<std::string> coordinate_names(const Coordinates& coordinates);  // "linear", "probit"

}  // namespace penn
