// A Gaussian mixture fitted to weighted points by expectation and maximisation: what is left where a distribution can
// be evaluated and drawn from, but is no mixture itself. Covariances are drawn towards a fraction of the points' own by
// as many pseudo-points as there are dimensions, so that none collapses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "penn/posterior/gaussian_mixture.h"

namespace penn {

// (sum w)^2 / sum w^2 of weights w = exp(log_weights): how many points of equal weight they are worth.
double effective_count(std::span<const double> log_weights);

struct FitOptions {
  std::size_t most_components = 10;  // fewer where the points are worth fewer than 20 per component and dimension
  int iterations = 25;
  std::uint64_t seed = 1;
};

// points (n * dimension); log_weights (n), up to a common constant, -inf allowed. Error without two points of finite
// weight.
GaussianMixture fit_mixture(std::span<const double> points, std::span<const double> log_weights, std::size_t dimension,
                            const FitOptions& options = {});

}  // namespace penn
