// The posterior as a value: q(theta) = sum_j w_j N(theta; mu_j, (U_j^T U_j)^-1), U_j upper triangular, doubles only.
//   ln q = logsumexp_j [ ln w_j + sum_k ln u_kk - |U_j (theta - mu_j)|^2 / 2 - (M/2) ln 2 pi ]
// M = dimension (parameters), N = components. Weights are kept as logarithms, so a weight too small for a double still
// counts in the tails and in conditionals. Other topics: mixture_modes.h, mixture_box.h, mixture_product.h, ...
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "penn/posterior/draw_stream.h"
#include "penn/posterior/linear_algebra.h"
#include "penn/posterior/normal_mixture_1d.h"

namespace penn {

class GaussianMixture {
 public:
  // ---- making one ----
  // weights (N), scaled to sum 1; means (N, M); covariances N of (M, M), symmetric positive definite.
  static GaussianMixture from_covariances(const std::vector<double>& weights,
                                          const std::vector<std::vector<double>>& means,
                                          const std::vector<DenseMatrix>& covariances);

  // log_weights (N), up to a common constant; means (N * M); factors (N * M * M), each upper triangular with a positive
  // diagonal. The form in which the algebra builds its results.
  static GaussianMixture from_factors(std::vector<double> log_weights, std::vector<double> means,
                                      std::vector<double> factors);

  // ---- looking at it ----
  std::size_t dimension() const { return dimension_; }
  std::size_t components() const { return log_weights_.size(); }
  double weight(std::size_t j) const;
  double log_weight(std::size_t j) const { return log_weights_[j]; }
  std::span<const double> component_mean(std::size_t j) const { return {&means_[j * dimension_], dimension_}; }
  const double* factor(std::size_t j) const { return &factors_[j * dimension_ * dimension_]; }  // U_j (M, M)
  DenseMatrix component_covariance(std::size_t j) const;
  double log_determinant(std::size_t j) const { return log_determinants_[j]; }  // ln |U_j| = sum_k ln u_kk

  // ---- density ---- theta (M)
  double log_density(std::span<const double> theta) const;
  // ln w_j + ln N(theta; component j), into out (N).
  void component_log_densities(std::span<const double> theta, std::span<double> out) const;
  // n draws (n * M). The component is drawn first; work is N + M^2 per draw, always.
  std::vector<double> sample(std::size_t n, DrawStream& draws) const;
  // One draw from component j into out (M).
  void sample_component(std::size_t j, DrawStream& draws, std::span<double> out) const;

  // ---- moments ----
  std::vector<double> mean() const;  // sum w_j mu_j, the point estimate
  DenseMatrix covariance() const;    // sum w_j [Sigma_j + (mu_j - mean)(mu_j - mean)^T]
  DenseMatrix correlation() const;

  // ---- distributions of parts ----
  // The distribution of the named coordinates, in the order given (also a way to reorder them). Indices must be
  // distinct.
  GaussianMixture marginal(std::span<const std::size_t> indices) const;
  // The distribution of the other coordinates (in rising order), given theta[indices[i]] = values[i].
  GaussianMixture conditional(std::span<const std::size_t> indices, std::span<const double> values) const;
  NormalMixture1d marginal_1d(std::size_t index) const;
  // The distribution of direction . theta.
  NormalMixture1d projection(std::span<const double> direction) const;

  // ---- units ---- fractions of the box s in [0, 1] and raw theta = lo + (hi - lo) s, elementwise
  // The distribution of theta when this is the distribution of s: ln q_theta(theta) = ln q_s(s) - sum_k ln(hi_k -
  // lo_k).
  GaussianMixture rescaled(std::span<const double> lo, std::span<const double> hi) const;
  // The inverse: the distribution of s when this is the distribution of theta.
  GaussianMixture unscaled(std::span<const double> lo, std::span<const double> hi) const;
  // Every component's scale in coordinate k times factors[k] > 0; weights, centres and the correlations within a
  // component stay.
  GaussianMixture with_scales(std::span<const double> factors) const;
  // Every component's precision plus diag(floor), floor (M) >= 0: none is wider than 1 / sqrt(floor_k) in coordinate k.
  GaussianMixture with_precision_floor(std::span<const double> floor) const;

 private:
  GaussianMixture() = default;
  GaussianMixture affine(std::span<const double> shift, std::span<const double> scale) const;
  void finish();  // normalise the weights, fill what is derived

  std::size_t dimension_ = 0;
  std::vector<double> log_weights_;       // (N), log-sum-exp 0
  std::vector<double> means_;             // (N, M)
  std::vector<double> factors_;           // (N, M, M)
  std::vector<double> log_determinants_;  // (N)
  std::vector<double> cumulative_;        // (N) running sum of weights, for sampling
};

}  // namespace penn
