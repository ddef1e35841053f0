// See mixture_measures.h. Components are visited in proportion to their weights (one uniform shift, not n choices),
// which takes the noise of the component choice out of every number.
#include "penn/posterior/mixture_measures.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "penn/base/error.h"

namespace penn {

namespace {

// Calls visit(theta) for n draws.
template <typename Visit>
void for_each_draw(const GaussianMixture& q, std::size_t n, std::uint64_t seed, Visit visit) {
  if (n == 0) throw Error("a sampled number needs at least one draw");
  DrawStream draws(seed);
  const double shift = draws.uniform();
  std::vector<double> theta(q.dimension());
  std::size_t j = 0;
  double cumulative = q.weight(0);
  for (std::size_t i = 0; i < n; ++i) {
    const double position = (static_cast<double>(i) + shift) / static_cast<double>(n);
    while (position >= cumulative && j + 1 < q.components()) cumulative += q.weight(++j);
    q.sample_component(j, draws, theta);
    visit(std::span<const double>(theta));
  }
}

}  // namespace

std::vector<HighestDensityLevel> highest_density_levels(const GaussianMixture& q, std::span<const double> probabilities,
                                                        std::size_t n, std::uint64_t seed) {
  std::vector<double> values;
  values.reserve(n);
  for_each_draw(q, n, seed, [&](std::span<const double> theta) { values.push_back(q.log_density(theta)); });
  std::sort(values.begin(), values.end());
  // The level at a fraction of draws below it, between order statistics.
  const auto level = [&](double below_it) {
    const double position = std::clamp(below_it, 0.0, 1.0) * static_cast<double>(n) - 0.5;
    const double clipped = std::clamp(position, 0.0, static_cast<double>(n - 1));
    const std::size_t below = static_cast<std::size_t>(clipped), above = std::min(below + 1, n - 1);
    const double fraction = clipped - static_cast<double>(below);
    return (1.0 - fraction) * values[below] + fraction * values[above];
  };
  std::vector<HighestDensityLevel> result;
  for (double p : probabilities) {
    if (!(p > 0.0 && p < 1.0)) throw Error(fmt::format("a highest-density region of probability {}", p));
    const double wobble = std::sqrt(p * (1.0 - p) / static_cast<double>(n));
    result.push_back({p, level(1.0 - p), 0.5 * (level(1.0 - p + wobble) - level(1.0 - p - wobble))});
  }
  return result;
}

double highest_density_rank(const GaussianMixture& q, std::span<const double> theta, std::size_t n,
                            std::uint64_t seed) {
  const double here = q.log_density(theta);
  std::size_t above = 0;
  for_each_draw(q, n, seed, [&](std::span<const double> draw) { above += q.log_density(draw) > here ? 1 : 0; });
  return static_cast<double>(above) / static_cast<double>(n);
}

SampledNumber kl_divergence(const GaussianMixture& p, const std::function<double(std::span<const double>)>& log_q,
                            std::size_t n, std::uint64_t seed) {
  double mean = 0.0, square = 0.0, count = 0.0;
  for_each_draw(p, n, seed, [&](std::span<const double> theta) {
    const double value = p.log_density(theta) - log_q(theta);
    count += 1.0;
    const double step = value - mean;  // Welford
    mean += step / count;
    square += step * (value - mean);
  });
  if (std::isnan(mean)) mean = std::numeric_limits<double>::infinity();  // inf - inf after the first infinite term
  const double error = n > 1 && std::isfinite(mean) ? std::sqrt(square / (count - 1.0) / count) : 0.0;
  return {mean, error};
}

SampledNumber kl_divergence(const GaussianMixture& p, const GaussianMixture& q, std::size_t n, std::uint64_t seed) {
  if (p.dimension() != q.dimension())
    throw Error(fmt::format("mixtures in {} and {} dimensions cannot be compared", p.dimension(), q.dimension()));
  return kl_divergence(
      p, [&](std::span<const double> theta) { return q.log_density(theta); }, n, seed);
}

}  // namespace penn
