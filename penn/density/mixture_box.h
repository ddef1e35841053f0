// Mass of a mixture inside a box, per component and in all, with its standard error.
// One dimension and diagonal covariances: exact. Otherwise sequential conditioning (box_component.h) at the points of a
// randomly shifted lattice, eight shifts; their scatter gives the error. Points double until the error is small enough.
// For the mass of one parameter's interval use marginal_1d(k).mass(lo, hi), which is always exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "penn/density/box_component.h"
#include "penn/density/gaussian_mixture.h"

namespace penn {

struct BoxOptions {
  double relative_error = 1e-3;   // wanted standard error of the total mass, relative to it
  std::size_t max_points = 8192;  // per component: bounds the work at N * max_points * M interval evaluations
  std::uint64_t seed = 1;
};

struct BoxMass {
  double log_mass = 0.0;                   // ln P(theta in box); finite also where the mass itself underflows
  double error = 0.0;                      // standard error of the mass, relative to the mass
  std::vector<double> component_log_mass;  // (N), ln P(box | component j)
  std::vector<double> mean;                // (M) of theta given the box
  DenseMatrix covariance;                  // (M, M) of theta given the box
  double mass() const;
};

BoxMass box_mass(const GaussianMixture& q, const Box& box, const BoxOptions& options = {});

}  // namespace penn
