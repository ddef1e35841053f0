#include "penn/infer/exact_process.h"

#include <fmt/format.h>

#include <memory>

#include "penn/base/error.h"

namespace penn {

OuProcess ou_process(const System& system, int observation, NodeId tau, NodeId D) {
  const auto refuse = [&](const char* reason) {
    throw SystemError(fmt::format("{}: the exact posterior is known only for {}", system.source_name, reason),
                      "remove the section [exact]");
  };
  if (system.parameters.size() != 2 || !system.nuisance.empty()) refuse("two parameters and no nuisance parameters");
  if (system.states.size() != 1 || system.observations[static_cast<size_t>(observation)].channels.size() != 1)
    refuse("one state, observed as it is");
  const Simulation& simulation = system.simulation;
  if (!simulation.sampling.is_single() || !simulation.burn_in.is_single() || simulation.method != Method::kEulerMaruyama)
    refuse("Euler-Maruyama with one sampling interval and one burn-in");
  OuProcess process;
  for (size_t k = 0; k < 2; ++k) process.low[k] = system.parameters[k].range.low, process.high[k] = system.parameters[k].range.high;
  process.step = simulation.sampling.low / static_cast<double>(simulation.steps_per_sample);
  process.steps_per_sample = simulation.steps_per_sample;
  process.burn_in = simulation.burn_in.low;
  // The map is called some ten thousand times per trajectory: only the nodes it needs are evaluated.
  auto graph = std::make_shared<const ExpressionGraph>(system.graph);
  auto marks = std::make_shared<const std::vector<char>>(system.graph.reachable({tau, D}));
  process.map = [graph, marks, tau, D](const double theta[2], double& tau_value, double& D_value) {
    thread_local std::vector<double> values;
    graph->evaluate(values, *marks, [&](SymbolKind, int index) { return theta[index]; });
    tau_value = values[static_cast<size_t>(tau)];
    D_value = values[static_cast<size_t>(D)];
  };
  return process;
}

}  // namespace penn
