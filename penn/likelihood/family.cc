#include "penn/likelihood/family.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "penn/base/random.h"
#include "penn/system/derivative.h"

namespace penn {

bool depends_on(const ExpressionGraph& graph, NodeId node, SymbolKind kind, int index) {
  const std::vector<char> marks = graph.reachable({node});
  for (size_t i = 0; i < marks.size(); ++i)
    if (const GraphNode& n = graph.nodes()[i];
        marks[i] && n.op == Op::kSymbol && n.kind == kind && (index < 0 || n.index == index))
      return true;
  return false;
}

std::optional<std::vector<NodeId>> slopes(ExpressionGraph& graph, NodeId node, const std::vector<NodeId>& symbols) {
  std::vector<NodeId> result;
  for (const NodeId symbol : symbols) result.push_back(derivative(graph, node, symbol));
  std::vector<char> varies(graph.nodes().size(), 0);
  for (const NodeId symbol : symbols) varies[static_cast<size_t>(symbol)] = 1;
  const std::vector<char> needed = graph.reachable({node});
  for (size_t i = 0; i < varies.size(); ++i) {
    const GraphNode& n = graph.nodes()[i];
    if ((n.a >= 0 && varies[static_cast<size_t>(n.a)]) || (n.b >= 0 && varies[static_cast<size_t>(n.b)])) varies[i] = 1;
    const bool has_kink = n.op == Op::kAbs || n.op == Op::kSign || n.op == Op::kMin || n.op == Op::kMax;
    if (has_kink && varies[i] && needed[i]) return std::nullopt;
  }
  for (const NodeId slope : result)
    if (varies[static_cast<size_t>(slope)]) return std::nullopt;
  return result;
}

std::optional<std::vector<size_t>> channels_of_states(const System& system, int observation) {
  const std::vector<Channel>& channels = system.observations[static_cast<size_t>(observation)].channels;
  const size_t none = channels.size();
  if (channels.size() != system.states.size()) return std::nullopt;
  std::vector<size_t> channel_of(system.states.size(), none);
  for (size_t c = 0; c < channels.size(); ++c) {
    const GraphNode& n = system.graph[channels[c].value];
    if (n.op != Op::kSymbol || n.kind != SymbolKind::kState) return std::nullopt;
    channel_of[static_cast<size_t>(n.index)] = c;
  }
  if (std::count(channel_of.begin(), channel_of.end(), none) > 0) return std::nullopt;
  return channel_of;
}

std::vector<std::vector<double>> box_points(const System& system, int count) {
  std::vector<std::vector<double>> points(static_cast<size_t>(count));
  for (size_t i = 0; i < points.size(); ++i)
    for (size_t k = 0; k < system.parameters.size(); ++k) {
      const Range range = system.parameters[k].range;
      const double u = RandomKey{7, i, 0}.uniform(0, static_cast<uint32_t>(k));
      points[i].push_back(range.low + u * (range.high - range.low));
    }
  return points;
}

void NodeValues::evaluate(std::span<const double> theta, std::span<const double> states, double time) {
  graph_.evaluate(values_, marks_, [&](SymbolKind kind, int index) -> double {
    if (kind == SymbolKind::kParameter) return theta[static_cast<size_t>(index)];
    if (kind == SymbolKind::kState) return states.empty() ? 0 : states[static_cast<size_t>(index)];
    return kind == SymbolKind::kTime ? time : 0;
  });
}

double log_initial_density(const Initial& initial, double low, double high, double x) {
  if (initial.low == initial.high) return 0;
  constexpr double kRounding = 1e-6;  // samples are float32
  const double slack = kRounding * std::max(std::abs(low), std::abs(high));
  const auto inside = [&](double y) { return y >= low - slack && y <= high + slack; };
  const double sides = initial.random_sign ? 0.5 * (inside(x) + inside(-x)) : inside(x);
  return sides > 0 ? std::log(sides / (high - low)) : -std::numeric_limits<double>::infinity();
}

}  // namespace penn
