// Recognises linear systems with white Gaussian noises; linear_filter.h computes their likelihood.
#include "penn/likelihood/linear_gaussian.h"

#include <fmt/core.h>

#include <cmath>

#include "penn/likelihood/linear_filter.h"
#include "penn/noise/gaussian.h"

namespace penn {
namespace {

constexpr double kMostSpread =
    0.05;  // fraction of the variance at the first sample that the initial values' spread may have

class LinearGaussian final : public LikelihoodFamily {
 public:
  LinearGaussian(std::shared_ptr<const LinearSystem> linear, std::string note)
      : LikelihoodFamily("linear Gaussian (Kalman filter)", std::move(note)), linear_(std::move(linear)) {}
  std::unique_ptr<TrajectoryLikelihood> of(std::span<const float> z, double sampling) const override {
    return std::make_unique<LinearFilter>(linear_, z, sampling);
  }

 private:
  std::shared_ptr<const LinearSystem> linear_;
};

std::string find_coefficients(LinearSystem& l, int observation) {
  ExpressionGraph& graph = l.system.graph;
  std::vector<NodeId> states, all;
  std::vector<int> measurement;
  for (size_t i = 0; i < l.system.states.size(); ++i)
    states.push_back(graph.symbol(SymbolKind::kState, static_cast<int>(i)));
  const Observation& seen = l.system.observations[static_cast<size_t>(observation)];
  for (size_t k = 0; k < l.system.noises.size(); ++k) {
    const Noise& noise = l.system.noises[k];
    const int index = static_cast<int>(k);
    bool is_used = !noise.is_measurement;
    for (const Channel& channel : seen.channels)
      is_used = is_used || depends_on(graph, channel.value, SymbolKind::kNoise, index);
    if (!is_used) continue;
    if (noise.type != &gaussian_noise()) return fmt::format("the noise '{}' is not gaussian()", noise.name);
    (noise.is_measurement ? measurement : l.driving).push_back(index);
  }
  all = states;
  for (const int noise : measurement) all.push_back(graph.symbol(SymbolKind::kNoise, noise));
  if (all.size() > static_cast<size_t>(kMostFilterStates) ||
      seen.channels.size() > static_cast<size_t>(kMostFilterStates) ||
      l.driving.size() > static_cast<size_t>(kMostFilterStates))
    return fmt::format("more than {} states and noises", kMostFilterStates);
  const auto varies = [&](NodeId node) { return depends_on(graph, node, SymbolKind::kTime); };
  for (const State& state : l.system.states) {
    const auto row = slopes(graph, state.drift, states);
    if (!row) return fmt::format("the drift of '{}' is not linear in the states", state.name);
    l.A.push_back(*row);
    l.offsets_vary = l.offsets_vary || varies(state.drift);
    for (const Diffusion& diffusion : state.diffusion) {
      if (depends_on(graph, diffusion.coefficient, SymbolKind::kState))
        return fmt::format("the noise in '{}' depends on the state", state.name);
      l.matrices_vary = l.matrices_vary || varies(diffusion.coefficient);
    }
  }
  for (const Channel& channel : seen.channels) {
    const auto row = slopes(graph, channel.value, all);
    if (!row) return fmt::format("the channel '{}' is not linear in states and noises", channel.name);
    l.C.push_back(*row);
    l.channels.push_back(channel.value);
    l.offsets_vary = l.offsets_vary || varies(channel.value);
  }
  for (const auto* rows : {&l.A, &l.C})
    for (const std::vector<NodeId>& row : *rows)
      for (const NodeId node : row) l.matrices_vary = l.matrices_vary || varies(node);
  return "";
}

// Is what is left of uniform initial values small against the noise collected since? Its moments are right then, and
// its shape nearly so.
std::string check_spread(const std::shared_ptr<const LinearSystem>& linear) {
  FilterVector mean;
  FilterMatrix P, spread;
  for (const std::vector<double>& theta : box_points(linear->system, 64)) {
    const double sampling = linear->system.simulation.sampling.low;
    LinearFilter(linear, {}, sampling).start(theta, mean, P, spread);
    const Eigen::Index S = P.rows();
    if (!P.allFinite() || !spread.allFinite()) return "the initial values are drawn, and the system is unstable";
    const FilterMatrix padded = P + 1e-13 * P.trace() * FilterMatrix::Identity(S, S);
    if (Eigen::LLT<FilterMatrix>(kMostSpread * padded - spread).info() !=
        Eigen::Success)  // in some direction it is larger
      return "the initial values are drawn, and the burn-in does not forget them";
  }
  return "";
}

// A sample that is known beforehand, given the parameters, would fix them. Found out on a short trajectory of the
// system: every theta must allow it.
std::string check_determinacy(const std::shared_ptr<const LinearSystem>& linear) {
  const LinearSystem& l = *linear;
  const size_t S = l.system.states.size(), d = l.channels.size(), q = l.C[0].size() - S;
  const int64_t n = static_cast<int64_t>(S) + 4, m = l.system.simulation.steps_per_sample,
                burn_in = l.system.simulation.burn_in.low;
  const double sampling = l.system.simulation.sampling.low, dt = sampling / static_cast<double>(m);
  const std::vector<std::vector<double>> thetas = box_points(l.system, 6);
  std::vector<NodeId> roots = l.channels;
  for (const std::vector<NodeId>& row : l.C) roots.insert(roots.end(), row.begin(), row.end());
  for (const State& state : l.system.states) {
    roots.insert(roots.end(), {state.drift, state.initial.low, state.initial.high});
    for (const Diffusion& diffusion : state.diffusion) roots.push_back(diffusion.coefficient);
  }
  NodeValues values(l.system.graph, roots);
  const RandomKey key{11, 0, 0};
  std::vector<double> x(S);
  std::vector<float> z;
  values.evaluate(thetas[0], {}, 0);
  for (size_t i = 0; i < S; ++i) x[i] = values[l.system.states[i].initial.low];
  uint64_t step = 0;
  for (int64_t k = -std::min<int64_t>(burn_in, 3); k < n; ++k) {
    values.evaluate(thetas[0], x, static_cast<double>(k) * sampling);
    if (k >= 0)
      for (size_t c = 0; c < d; ++c) {
        double y = values[l.channels[c]];
        for (size_t e = 0; e < q; ++e)
          y +=
              values[l.C[c][S + e]] * gaussian_reference(key, 100 + static_cast<uint32_t>(e), static_cast<uint64_t>(k));
        z.push_back(static_cast<float>(y));
      }
    for (int64_t i = 0; i < m; ++i, ++step) {
      values.evaluate(thetas[0], x, static_cast<double>(k) * sampling + static_cast<double>(i) * dt);
      for (size_t s = 0; s < S; ++s) {
        const State& state = l.system.states[s];
        x[s] += dt * values[state.drift];
        for (const Diffusion& diffusion : state.diffusion)
          x[s] += std::sqrt(dt) * values[diffusion.coefficient] *
                  gaussian_reference(key, static_cast<uint32_t>(diffusion.noise), step);
      }
    }
  }
  LinearFilter filter(linear, z, sampling);
  for (const std::vector<double>& theta : thetas)
    if (std::isinf(filter.log_likelihood(theta)))
      return "a sample is fixed by the parameters and the samples before it";
  return "";
}

}  // namespace

Recognised recognise_linear_gaussian(const System& system, int observation, std::string& why_not) {
  if (system.states.empty()) return why_not = "there are no states", nullptr;
  auto linear = std::make_shared<LinearSystem>();
  linear->system = system;
  why_not = find_coefficients(*linear, observation);
  if (!why_not.empty()) return nullptr;
  const IntRange burn_in = system.simulation.burn_in;
  bool is_drawn = false;
  for (const State& state : system.states)
    is_drawn = is_drawn || state.initial.low != state.initial.high || state.initial.random_sign;
  if (const auto channel_of = channels_of_states(system, observation); channel_of && burn_in.high == 0 && is_drawn) {
    for (const State& state : system.states)
      if (state.initial.low == state.initial.high &&
          depends_on(system.graph, state.initial.low, SymbolKind::kParameter))
        return why_not = "the first sample is fixed by the parameters", nullptr;
    linear->starts_seen = true;
    linear->channel_of = *channel_of;
  } else if (is_drawn) {
    why_not = check_spread(linear);
  }
  if (why_not.empty()) why_not = check_determinacy(linear);
  if (!why_not.empty()) return nullptr;
  return std::make_shared<LinearGaussian>(linear,
                                          burn_in.is_single() ? "" : "the start is taken after the shortest burn-in");
}

}  // namespace penn
