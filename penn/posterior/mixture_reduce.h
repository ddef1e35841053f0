// Fewer components, nearly the same distribution: light components are dropped, then pairs are replaced by the one
// Gaussian with their mean and covariance, cheapest pair first by Runnalls' bound on the Kullback-Leibler divergence it
// adds,
//   B(i, j) = [(w_i + w_j) ln|S_ij| - w_i ln|S_i| - w_j ln|S_j|] / 2.
// Merging keeps the mean and the covariance of the whole mixture exactly; dropping changes them by the dropped weight.
#pragma once

#include <cstddef>

#include "penn/posterior/gaussian_mixture.h"

namespace penn {

struct ReducedMixture {
  GaussianMixture mixture;
  double dropped_weight = 0.0;    // before renormalisation
  double divergence_bound = 0.0;  // sum of B over the merges: KL(unreduced || reduced) of the merging is at most this
  std::size_t merges = 0;
};

// Components lighter than drop_below (relative to 1) go; then merging down to max_components >= 1. Merging n
// components costs about n^2 Cholesky factorisations of (M, M).
ReducedMixture reduce_mixture(const GaussianMixture& q, std::size_t max_components, double drop_below = 1e-9);

}  // namespace penn
