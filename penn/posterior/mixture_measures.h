// Numbers about a mixture that have no closed form, by sampling with a fixed seed and a stated standard error:
// highest-density levels, the rank of a point among them, and the Kullback-Leibler divergence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "penn/posterior/gaussian_mixture.h"

namespace penn {

struct HighestDensityLevel {
  double probability = 0.0;
  double log_level = 0.0;  // {theta: ln q(theta) >= log_level} holds the probability; the smallest such set
  double error = 0.0;      // standard error of log_level
};

// One level per probability in (0, 1), from the order statistics of ln q at n draws. To draw contours of a 2-D
// marginal, ask the marginal. Cost n N M^2 / 2.
std::vector<HighestDensityLevel> highest_density_levels(const GaussianMixture& q, std::span<const double> probabilities,
                                                        std::size_t n = 20000, std::uint64_t seed = 1);

// P(ln q(theta') > ln q(theta)), theta' from q: 0 at the highest mode, near 1 far out. Uniform in [0, 1] for true
// parameters when q is calibrated. Standard error at most 0.5 / sqrt(n).
double highest_density_rank(const GaussianMixture& q, std::span<const double> theta, std::size_t n = 20000,
                            std::uint64_t seed = 1);

struct SampledNumber {
  double value = 0.0;
  double error = 0.0;  // standard error
};

// KL(p || q) = E_p[ln p - ln q]. Not clipped at 0: within a few errors of 0 it means "no difference seen".
SampledNumber kl_divergence(const GaussianMixture& p, const GaussianMixture& q, std::size_t n = 20000,
                            std::uint64_t seed = 1);

// The same against any log density (normalised), for example a truncated mixture or an exact posterior. +inf when the
// other density vanishes where p has draws.
SampledNumber kl_divergence(const GaussianMixture& p, const std::function<double(std::span<const double>)>& log_q,
                            std::size_t n = 20000, std::uint64_t seed = 1);

}  // namespace penn
