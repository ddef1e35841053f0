// A mixture cut to a box and normalised again: q(theta) / P(box) inside, 0 outside. A prior that is uniform in a box
// allows nothing outside it, so this is the posterior a user should see when mass has leaked over the edge.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "penn/posterior/mixture_box.h"

namespace penn {

struct TruncatedDraws {
  std::vector<double> theta;    // (n * M), all inside the box
  std::size_t approximate = 0;  // how many came from resampling instead of exact rejection
};

class TruncatedMixture {
 public:
  // Throws an Error when no component has mass in the box that a double can express (even as a logarithm).
  TruncatedMixture(GaussianMixture mixture, Box box, const BoxOptions& options = {});

  const GaussianMixture& mixture() const { return mixture_; }
  const Box& box() const { return box_; }
  double mass() const { return inside_.mass(); }  // P(box) under the mixture
  double log_mass() const { return inside_.log_mass; }
  double mass_error() const { return inside_.error; }  // relative standard error; also the error of log_density

  // ln q - ln P(box) inside, -inf outside.
  double log_density(std::span<const double> theta) const;
  // Mean and covariance given the box, with errors; computed on each call.
  BoxMoments moments(const BoxOptions& options = {}) const { return box_moments(mixture_, box_, options); }

  // Bounded work: a component with at least 5 % of its mass inside is drawn by rejection (exact; at most 400 tries);
  // the others, and the unlucky, by choosing among 64 sequential proposals according to their weights, followed by
  // three Gibbs sweeps, each of which leaves the truncated distribution unchanged.
  TruncatedDraws sample(std::size_t n, DrawStream& draws) const;

 private:
  void resample(std::size_t j, DrawStream& draws, std::span<double> theta) const;
  void gibbs_sweep(std::size_t j, DrawStream& draws, std::span<double> theta) const;

  GaussianMixture mixture_;
  Box box_;
  BoxMass inside_;
  std::vector<BoxComponent> components_;
  std::vector<DenseMatrix> precisions_;
  std::vector<double> cumulative_;  // of w_j P(box | j)
};

}  // namespace penn
