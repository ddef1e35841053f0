// The modes of a mixture: "how many explanations fit?". Ascent from every component mean, duplicates merged.
// Ascent step: Newton where the density is locally concave and the step climbs, else the fixed point
//   theta <- (sum_j r_j Lambda_j)^-1 sum_j r_j Lambda_j mu_j   (r_j = responsibility, Lambda_j = precision),
// which never descends. A start that ends on a saddle is pushed off along the rising direction and climbs on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "penn/posterior/gaussian_mixture.h"

namespace penn {

struct Mode {
  std::vector<double> theta;  // (M)
  double log_density = 0.0;
  // Sum of the weights of the components whose means climb here; over all modes these sum to 1. A quick, deterministic
  // measure, coarse when one wide component covers several modes.
  double weight = 0.0;
  // Fraction of draws that climb here (the mass of the basin of attraction) and its standard error; NaN unless
  // ModeOptions::basin_draws > 0.
  double mass = std::numeric_limits<double>::quiet_NaN();
  double mass_error = std::numeric_limits<double>::quiet_NaN();
};

struct ModeOptions {
  // Two modes are one explanation when the density on the straight line between them never falls more than this many
  // nats below the lower one. 0 keeps every strict local maximum; 0.1 to 0.5 suits a verdict in words, because learned
  // mixtures show shallow ripples. (The line, seen at 63 points, is one path of many, so two modes may stay apart that
  // a curved ridge joins.)
  double merge_dip = 0.0;
  std::size_t basin_draws = 0;  // draws that climb too: they give Mode::mass and may find modes with no mean in them
  std::uint64_t seed = 1;
  int max_steps = 1000;  // per ascent
};

// Sorted by falling weight (by mass when basin_draws > 0). Never empty. Modes that no start climbs to are not found: a
// mixture can have them in two and more dimensions, but rarely does.
std::vector<Mode> find_modes(const GaussianMixture& q, const ModeOptions& options = {});

// Gradient of ln q (M), and its Hessian (M, M).
std::vector<double> log_density_gradient(const GaussianMixture& q, std::span<const double> theta);
DenseMatrix log_density_hessian(const GaussianMixture& q, std::span<const double> theta);

}  // namespace penn
