// The exact posterior density: ln p(theta | x) = ln p(x | theta) + ln p(theta) - ln p(x), the prior uniform in the box.
// The evidence p(x) is the integral of likelihood times prior: by quadrature in the prior's probit coordinates, where
// no posterior ends at an edge, or by importance sampling from draws that are nearly the posterior already.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "penn/likelihood/exact_likelihood.h"
#include "penn/posterior/box_component.h"

namespace penn {

inline constexpr size_t kMostQuadratureParameters = 3;

struct Evidence {
  double log_value = 0;     // ln p(x)
  double error = 0;         // of it: a bound by quadrature, a standard error by sampling
  int64_t evaluations = 0;  // of the likelihood
  int modes = 0;            // separate regions of the posterior; 0 by sampling
  double effective = 0;     // number of draws, (sum w)^2 / sum w^2; 0 by quadrature
  std::string why_not;      // "" where the value can be trusted
};

struct QuadratureOptions {
  double tolerance = 1e-3;
  int64_t most_evaluations = 400'000;
  std::vector<std::vector<double>> starts = {};  // thetas from which modes are looked for, beside the search of its own
};
Evidence evidence_by_quadrature(TrajectoryLikelihood& likelihood, const Box& box,
                                const QuadratureOptions& options = {});

// draws (n, M) of a density close to the posterior, in the parameters' own units, and the logarithms of that density
// (n). Draws outside the box weigh nothing. Not to be trusted with fewer than 100 effective draws or less than 5 % of
// all.
Evidence evidence_by_sampling(TrajectoryLikelihood& likelihood, const Box& box, std::span<const double> draws,
                              std::span<const double> log_densities);

// ln p(theta | x), in the parameters' own units; -inf outside the box.
double log_posterior(TrajectoryLikelihood& likelihood, const Box& box, const Evidence& evidence,
                     std::span<const double> theta);

}  // namespace penn
