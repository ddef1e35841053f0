// One component cut to a box, by sequential conditioning (Geweke, Hajivassiliou, Keane; Genz): with Sigma = T T^T and
// T upper triangular, theta = mu + T z, so z_M, z_M-1, ..., z_1 can be drawn one after the other, each inside the
// interval that keeps its coordinate in the box. The product of the interval masses is an unbiased estimate of the
// component's mass in the box, with far less variance than counting draws, and exact for diagonal covariance.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "penn/posterior/gaussian_mixture.h"

namespace penn {

// The half-open cases lo = -inf and hi = +inf are allowed.
struct Box {
  std::vector<double> lo, hi;  // (M)
  bool contains(std::span<const double> theta) const;
};

// Throws unless lo < hi in every one of the M coordinates.
void check_box(const Box& box, std::size_t dimension);

class BoxComponent {
 public:
  BoxComponent(const GaussianMixture& q, std::size_t j, const Box& box);

  // A point of the box from u in (0, 1)^M, and the logarithm of its importance weight (at most 0).
  double propose(std::span<const double> u, std::span<double> theta) const;

  // Bound on the mass outside, by adding up the marginal tails.
  double outside_bound() const { return outside_bound_; }
  // True when the estimate has no variance: independent coordinates (a single one among them).
  bool independent() const { return independent_; }

 private:
  std::vector<std::size_t> order_;      // place in T -> coordinate; the coordinate with the least mass comes last
  std::vector<double> mean_, lo_, hi_;  // in that order
  DenseMatrix t_;
  double outside_bound_ = 0.0;
  bool independent_ = true;
};

}  // namespace penn
