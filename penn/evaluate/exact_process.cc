#include "penn/evaluate/exact_process.h"

#include <fmt/core.h>

#include <memory>

#include "penn/base/error.h"
#include "penn/system/exact_check.h"

namespace penn {

OuProcess ou_process(const System& system, NodeId tau, NodeId D) {
  const std::string reason = why_not_relaxation(system, tau, D);
  if (!reason.empty())
    throw SystemError(fmt::format("{}: the exact posterior is known only for x' = -x/tau + sqrt(2 D/tau) B', but {}",
                                  system.source_name, reason),
                      "remove the section [exact]");
  const Simulation& simulation = system.simulation;
  OuProcess process;
  for (size_t k = 0; k < 2; ++k)
    process.low[k] = system.parameters[k].range.low, process.high[k] = system.parameters[k].range.high;
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
