#include "penn/likelihood/exact_likelihood.h"

#include <fmt/core.h>

#include "penn/base/error.h"
#include "penn/likelihood/family.h"
#include "penn/likelihood/linear_gaussian.h"
#include "penn/likelihood/linear_state.h"
#include "penn/likelihood/measured_noise.h"
#include "penn/likelihood/stable_density.h"
#include "penn/likelihood/transitions.h"
#include "penn/noise/fractional.h"
#include "penn/noise/gaussian.h"
#include "penn/noise/stable.h"

namespace penn {
namespace {

bool is_used(const System& system, int observation, int noise) {
  if (!system.noises[static_cast<size_t>(noise)].is_measurement) return true;
  for (const Channel& channel : system.observations[static_cast<size_t>(observation)].channels)
    if (depends_on(system.graph, channel.value, SymbolKind::kNoise, noise)) return true;
  return false;
}

// What no family can do without.
std::string common_obstacle(const System& system, int observation) {
  if (!system.nuisance.empty())
    return fmt::format("the nuisance parameter '{}' would have to be integrated over", system.nuisance[0].name);
  if (system.simulation.method == Method::kRungeKutta4)
    for (const State& state : system.states)
      if (state.diffusion.empty())
        return fmt::format("'{}' is integrated by rk4, the formulas are those of Euler-Maruyama", state.name);
  for (size_t k = 0; k < system.noises.size(); ++k) {
    const Noise& noise = system.noises[k];
    const bool is_known =
        noise.type == &gaussian_noise() || noise.type == &fractional_noise() || noise.type == &stable_noise();
    if (!is_known && is_used(system, observation, static_cast<int>(k)))
      return fmt::format("no density is known here for the noise '{}' = {}", noise.name, noise.type->call());
    if (noise.type != &stable_noise()) continue;
    NodeValues values(system.graph, noise.shapes);
    for (const std::vector<double>& theta : box_points(system, 256)) {
      values.evaluate(theta, {}, 0);
      if (values[noise.shapes[0]] < kLeastStableAlpha)
        return fmt::format("the density of '{}' is known for alpha of at least {}", noise.name, kLeastStableAlpha);
    }
  }
  return "";
}

}  // namespace

std::optional<ExactLikelihood> ExactLikelihood::recognise(const System& system, int observation, std::string* why_not) {
  std::string reasons = common_obstacle(system, observation);
  if (reasons.empty()) {
    const struct {
      const char* name;
      Recognised (*recognise)(const System&, int, std::string&);
    } families[] = {{"measured noise", recognise_measured_noise},
                    {"linear Gaussian", recognise_linear_gaussian},
                    {"one linear state", recognise_linear_state},
                    {"transitions", recognise_transitions}};
    for (const auto& family : families) {
      std::string reason;
      if (Recognised found = family.recognise(system, observation, reason)) return ExactLikelihood(std::move(found));
      reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", family.name, reason);
    }
  }
  if (why_not) *why_not = reasons;
  return std::nullopt;
}

const std::string& ExactLikelihood::family() const {
  return family_->name;
}
const std::string& ExactLikelihood::note() const {
  return family_->note;
}

std::unique_ptr<TrajectoryLikelihood> ExactLikelihood::of(std::span<const float> z, double sampling) const {
  return family_->of(z, sampling);
}

}  // namespace penn
