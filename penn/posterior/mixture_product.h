// Several trajectories of one system, one posterior: with the prior uniform in a box of volume V,
//   p(theta | Z_1, ..., Z_k)  ~  prod_i q_i(theta) / prior^(k-1)  =  V^(k-1) prod_i q_i(theta)   inside the box,
// so the prior counts once. A product of Gaussian mixtures is a Gaussian mixture, but with N^k components: it is built
// pair by pair and reduced after each step. Before any reduction the result is exact. For coordinates in which the
// prior is standard normal (probit_coordinates.h) it is phi(u) prod_i q_i(u) / phi(u), where q_i / phi is the
// likelihood of trajectory i. Beyond kFarthest, the last 0.13 % of the box, the tail of a mixture is no more than
// extrapolation, and k of them multiplied can outweigh all data: there the likelihood is taken to be what it is at
// kFarthest. This is no mixture any more; where the algebra is not close to it, a mixture is fitted to draws.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "penn/posterior/box_component.h"
#include "penn/posterior/gaussian_mixture.h"

namespace penn {

inline constexpr double kFarthest = 3;

// The product, not normalised: ln [prod_i q_i / prior^(k-1)], -inf outside the box.
class ProductDensity {
 public:
  // Prior uniform in the box, which is finite; but standard normal in the coordinates of which `normal` (M, or empty:
  // none) says so.
  ProductDensity(std::vector<GaussianMixture> factors, Box box, std::vector<bool> normal = {});
  double log_density(std::span<const double> theta) const;
  // Of the factors first to first + count - 1 alone, also outside the box.
  double log_part(std::size_t first, std::size_t count, std::span<const double> theta) const;
  const std::vector<GaussianMixture>& factors() const { return factors_; }
  const Box& box() const { return box_; }
  bool is_normal(std::size_t k) const { return !normal_.empty() && normal_[k]; }
  bool has_normal() const { return std::find(normal_.begin(), normal_.end(), true) != normal_.end(); }
  double log_volume() const { return log_volume_; }  // of the box in the other coordinates

 private:
  std::vector<GaussianMixture> factors_;
  Box box_;
  std::vector<bool> normal_;
  double log_volume_ = 0.0;
};

struct ProductOptions {
  std::size_t max_components = 40;  // after each step; 40 x 10 products at most in between for N = 10
  double drop_below = 1e-9;
  std::size_t check_draws = 3000;  // for ProductResult::divergence, and for fits; 0 skips both
  std::uint64_t seed = 1;
};

struct ProductResult {
  GaussianMixture
      mixture;  // proportional to prod_i q_i / prior^(k-1), approximately; not cut to the box (see truncated_mixture.h)
  // ln of the integral of prod_i q_i / prior^(k-1) over all theta: the log Bayes factor of "one theta made all
  // trajectories" against "each its own". Strongly negative: they do not belong together, and the product means little.
  double log_agreement = 0.0;
  double dropped_weight = 0.0;  // summed over the steps
  // Of the reductions, summed over the steps, as in ReducedMixture; a bound for k = 2, a guide beyond (later factors
  // reweight the error).
  double divergence_bound = 0.0;
  std::size_t merges = 0;
  std::size_t fits = 0;
  // KL(product || mixture), both cut to the box, in nats: 0 when they agree. Beyond about 0.3 use draws with weights
  // from ProductDensity instead. Estimated from draws; NaN without check_draws, infinite when none fell into the box.
  double divergence = 0.0;
};

// Errors of the single posteriors multiply too: a bias much smaller than one width shows once k is in the dozens.
ProductResult multiply_posteriors(const ProductDensity& product, const ProductOptions& options = {});

// The exact product of two mixtures, N_a N_b components, and the logarithm of its integral.
GaussianMixture multiply_mixtures(const GaussianMixture& a, const GaussianMixture& b, double* log_integral);

// q / phi, phi the standard normal distribution of the coordinates in which the product's prior is one, and the
// logarithm of its integral: q being the product of two posteriors, the posterior given both. Exact where that is no
// wider than phi in any direction. In others it is as wide as phi (as the box, along other coordinates) and near its
// centre, since a component wider than the prior says nothing: the quotient need not even have a finite integral there.
GaussianMixture divide_by_normal_prior(const GaussianMixture& q, const ProductDensity& product, double* log_integral);

}  // namespace penn
