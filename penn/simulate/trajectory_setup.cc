#include "penn/simulate/trajectory_setup.h"

#include <fmt/core.h>

#include <cmath>

#include "penn/base/error.h"

namespace penn {
namespace {
// Draws of kStartStream, by number.
enum StartDraw : uint32_t { kBurnIn = 0, kSampling = 1, kFirstState = 2 };  // two per state: value and sign
}  // namespace

int64_t TrajectorySetup::burn_in(const RandomKey& key) const {
  const IntRange range = p_.system->simulation.burn_in;
  const double count = static_cast<double>(range.high - range.low + 1);
  return range.low + static_cast<int64_t>(key.uniform(kStartStream, kBurnIn) * count);
}

void TrajectorySetup::draw(const RandomKey& key, Trajectory& out) const {
  const System& system = *p_.system;
  const size_t M = system.parameters.size(), Q = system.nuisance.size();
  out.theta.resize(M);
  out.nuisance.resize(Q);
  for (size_t i = 0; i < M + Q; ++i) {
    const Range range = i < M ? system.parameters[i].range : system.nuisance[i - M].range;
    const double u = key.uniform(kPriorStream, static_cast<uint32_t>(i));
    const double value = std::isnan(fixed_[i]) ? range.low + u * (range.high - range.low) : fixed_[i];
    if (i < M) out.theta[i] = static_cast<float>(value);
    else out.nuisance[i - M] = value;
  }
  const Range sampling = system.simulation.sampling;
  out.sampling = sampling.low + key.uniform(kStartStream, kSampling) * (sampling.high - sampling.low);

  thread_local std::vector<double> values;
  p_.trajectory_graph.evaluate(values, p_.slot_marks, [&](SymbolKind kind, int index) -> double {
    return kind == SymbolKind::kParameter ? out.theta[static_cast<size_t>(index)]
                                          : out.nuisance[static_cast<size_t>(index)];
  });
  const auto value_of = [](NodeId id) { return values[static_cast<size_t>(id)]; };

  out.initial.resize(system.states.size());
  for (size_t s = 0; s < system.states.size(); ++s) {
    const Initial& initial = system.states[s].initial;
    const uint32_t draw = kFirstState + 2 * static_cast<uint32_t>(s);
    const double low = value_of(initial.low), high = value_of(initial.high);
    out.initial[s] = low + key.uniform(kStartStream, draw) * (high - low);
    if (initial.random_sign && key.uniform(kStartStream, draw + 1) < 0.5) out.initial[s] = -out.initial[s];
  }
  out.shapes.resize(system.noises.size());
  for (size_t k = 0; k < system.noises.size(); ++k) {
    const Noise& noise = system.noises[k];
    out.shapes[k].resize(noise.shapes.size());
    for (size_t j = 0; j < noise.shapes.size(); ++j) {
      const double value = out.shapes[k][j] = value_of(noise.shapes[j]);
      if (const NoiseShape& shape = noise.type->shapes[j]; !shape.contains(value))
        throw SystemError(fmt::format("{}: noise '{}': {}", system.source_name, noise.name, shape.outside(value)),
                          "check the ranges of the parameters it is made of, and values given with --set");
    }
  }
  out.slots.resize(p_.slots.size());
  for (size_t i = 0; i < p_.slots.size(); ++i) out.slots[i] = value_of(p_.slots[i]);
}

}  // namespace penn
