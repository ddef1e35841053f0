// Several trajectories of one system, one posterior: with the prior uniform in a box of volume V,
//   p(theta | Z_1, ..., Z_k)  ~  prod_i q_i(theta) / prior^(k-1)  =  V^(k-1) prod_i q_i(theta)   inside the box,
// so the prior counts once. For coordinates in which the prior is standard normal (box_coordinates.h) the same with phi for 1 / width. A product of Gaussian mixtures is a Gaussian mixture, but with N^k components: it is built
// pair by pair and reduced after each step. Before any reduction the result is exact.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "penn/density/box_component.h"
#include "penn/density/gaussian_mixture.h"

namespace penn {

// The exact product, not normalised: ln [prod_i q_i / prior^(k-1)], -inf outside the box.
class ProductDensity {
 public:
  // Prior uniform in the box, which is finite; but standard normal in the coordinates of which `normal` (M, or empty: none) says so.
  ProductDensity(std::vector<GaussianMixture> factors, Box box, std::vector<bool> normal = {});
  double log_density(std::span<const double> theta) const;
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
  std::size_t check_draws = 2000;  // for ProductResult::efficiency; 0 skips the check
  std::uint64_t seed = 1;
};

struct ProductResult {
  GaussianMixture mixture;  // proportional to prod_i q_i / prior^(k-1), approximately; not cut to the box (see truncated_mixture.h)
  // ln of the integral of prod_i q_i / prior^(k-1) over all theta: the log Bayes factor of "one theta made all trajectories"
  // against "each its own". Strongly negative: they do not belong together, and the product means little.
  double log_agreement = 0.0;
  double dropped_weight = 0.0;  // summed over the steps
  // Summed over the steps, as in ReducedMixture; a bound for k = 2, a guide beyond (later factors reweight the error).
  double divergence_bound = 0.0;
  std::size_t merges = 0;
  // Effective share of draws when the mixture, cut to the box, is reweighted to the exact product: 1 when they agree,
  // below about 0.5 use the draws with weights from ProductDensity instead. NaN without check_draws, 0 when no draw
  // fell into the box.
  double efficiency = 0.0;
};

// Errors of the single posteriors multiply too: a bias much smaller than one width shows once k is in the dozens.
ProductResult multiply_posteriors(const ProductDensity& product, const ProductOptions& options = {});

// The exact product of two mixtures, N_a N_b components, and the logarithm of its integral.
GaussianMixture multiply_mixtures(const GaussianMixture& a, const GaussianMixture& b, double* log_integral);

// q / phi, phi the standard normal law of the coordinates in which the product's prior is one, and the logarithm of its integral. Exact where every component is
// narrower than phi in every direction; in others a precision of 0.1 (of 1 / width^2 along other coordinates) is left, an approximation: the quotient need not even
// have a finite integral there.
GaussianMixture divide_by_normal_prior(const GaussianMixture& q, const ProductDensity& product, double* log_integral);

}  // namespace penn
