// Mass, mean and covariance of a mixture inside a box, with standard errors.
// One dimension and diagonal covariances: the mass is exact. Otherwise sequential conditioning (box_component.h) at the
// points of randomly shifted lattices; the scatter over the shifts gives the error. Points double until it is small.
// For the mass of one parameter's interval use marginal_1d(k).mass(lo, hi), which is always exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "penn/posterior/box_component.h"
#include "penn/posterior/gaussian_mixture.h"

namespace penn {

struct BoxOptions {
  double relative_error = 1e-3;   // wanted standard error: of the mass relative to itself, of a mean relative to its SD
  std::size_t max_points = 8192;  // per component: bounds the work at N * max_points * M interval evaluations
  std::uint64_t seed = 1;
};

struct BoxMass {
  double log_mass = 0.0;                   // ln P(theta in box); finite also where the mass itself underflows
  double error = 0.0;                      // standard error of the mass, relative to the mass
  std::vector<double> component_log_mass;  // (N), ln P(box | component j)
  double mass() const;
};

BoxMass box_mass(const GaussianMixture& q, const Box& box, const BoxOptions& options = {});

struct BoxMoments {
  std::vector<double> mean;        // (M) of theta given the box
  std::vector<double> mean_error;  // (M) standard errors
  DenseMatrix covariance;          // (M, M) of theta given the box; a few times less accurate, relative to the SDs
};

// Components wholly inside (to 1e-9) enter with their exact moments. Throws an Error when the box holds no mass.
BoxMoments box_moments(const GaussianMixture& q, const Box& box, const BoxOptions& options = {});

}  // namespace penn
