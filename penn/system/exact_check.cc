#include "penn/system/exact_check.h"

#include <cmath>

#include "penn/base/random.h"
#include "penn/noise/gaussian.h"

namespace penn {

std::string why_not_relaxation(const System& system, NodeId tau_node, NodeId D_node) {
  if (system.parameters.size() != 2 || !system.nuisance.empty())
    return "the system does not have exactly two parameters";
  if (system.states.size() != 1 || system.states[0].diffusion.size() != 1 || system.noises.size() != 1 ||
      system.noises[0].type != &gaussian_noise())
    return "the system is not one equation with one Gaussian noise";
  if (system.observations.size() != 1 || system.observations[0].channels.size() != 1) return "more than x is observed";
  const Simulation& simulation = system.simulation;
  if (simulation.method != Method::kEulerMaruyama || !simulation.sampling.is_single() ||
      !simulation.burn_in.is_single() || simulation.burn_in.low < 1)
    return "it needs Euler-Maruyama, one sampling interval and one burn-in of at least one sample";
  const State& state = system.states[0];
  const NodeId observed = system.observations[0].channels[0].value, coefficient = state.diffusion[0].coefficient;
  if (state.initial.low != state.initial.high || state.initial.random_sign) return "x does not start at 0";
  const std::vector<char> marks =
      system.graph.reachable({state.drift, coefficient, observed, state.initial.low, tau_node, D_node});
  const RandomKey key{2, 0, 0};
  std::vector<double> values;
  for (uint32_t point = 0; point < 64; ++point) {
    const double x = 4 * key.uniform(0, 3 * point) - 2;
    system.graph.evaluate(values, marks, [&](SymbolKind kind, int index) {
      if (kind == SymbolKind::kState) return x;
      if (kind != SymbolKind::kParameter) return 100 + x;  // time: whatever depends on it does not fit
      const Range range = system.parameters[static_cast<size_t>(index)].range;
      return range.low + key.uniform(0, 3 * point + 1 + static_cast<uint32_t>(index)) * (range.high - range.low);
    });
    const auto value = [&](NodeId node) { return values[static_cast<size_t>(node)]; };
    const auto differ = [](double a, double b) {
      return !(std::abs(a - b) <= 1e-9 * (std::abs(a) + std::abs(b)) + 1e-12);
    };
    const double tau = value(tau_node), D = value(D_node);
    if (!(tau > 0 && D > 0)) return "tau or D is not positive everywhere";
    if (differ(value(state.drift), -x / tau)) return "the drift is another";
    if (differ(value(coefficient), std::sqrt(2 * D / tau))) return "the noise has another strength";
    if (differ(value(observed), x)) return "something else is observed";
    if (value(state.initial.low) != 0) return "x does not start at 0";
  }
  return "";
}

}  // namespace penn
