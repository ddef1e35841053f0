// `penn info SYSTEM`: what was parsed, in words and formulas.
#include "penn/system/describe_system.h"

#include <fmt/core.h>

#include <algorithm>

#include "penn/system/system.h"

namespace penn {
namespace {

int precedence(Op op) {
  switch (op) {
    case Op::kAdd:
    case Op::kSub:
      return 1;
    case Op::kMul:
    case Op::kDiv:
      return 2;
    case Op::kNeg:
      return 3;
    case Op::kPow:
      return 4;
    default:
      return 5;
  }
}

std::string number_text(double value) {
  return value < 0 ? fmt::format("({:.6g})", value) : fmt::format("{:.6g}", value);
}

std::string range_text(const Range& r) {
  return r.is_single() ? fmt::format("{:g}", r.low) : fmt::format("{:g} to {:g}", r.low, r.high);
}
std::string range_text(const IntRange& r) {
  return r.is_single() ? fmt::format("{}", r.low) : fmt::format("{} to {}", r.low, r.high);
}

std::string symbol_text(const GraphNode& n, const System& system) {
  const size_t i = static_cast<size_t>(n.index);
  switch (n.kind) {
    case SymbolKind::kParameter:
      return system.parameters[i].name;
    case SymbolKind::kNuisance:
      return system.nuisance[i].name;
    case SymbolKind::kState:
      return system.states[i].name;
    case SymbolKind::kNoise:
      return system.noises[i].name;
    case SymbolKind::kTime:
      return "t";
    case SymbolKind::kSlot:
      return fmt::format("c{}", n.index);
  }
  return "";
}

}  // namespace

std::string to_text(const ExpressionGraph& graph, NodeId root, const System& system) {
  const std::vector<char> marks = graph.reachable({root});
  std::vector<std::string> text(graph.nodes().size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (!marks[i]) continue;
    const GraphNode& n = graph.nodes()[i];
    constexpr size_t kLongest = 2000;  // shared parts are written out at every use and may grow without bound
    const auto part = [&](NodeId id, int at_least) {
      const std::string& inner = text[static_cast<size_t>(id)];
      return precedence(graph[id].op) < at_least ? "(" + inner + ")" : inner;
    };
    const int p = precedence(n.op);
    if (n.op == Op::kNumber) text[i] = number_text(n.number);
    else if (n.op == Op::kSymbol) text[i] = symbol_text(n, system);
    else if (n.op == Op::kNeg) text[i] = "-" + part(n.a, p);
    else if (n.op == Op::kAdd) text[i] = part(n.a, p) + " + " + part(n.b, p);
    else if (n.op == Op::kSub) text[i] = part(n.a, p) + " - " + part(n.b, p + 1);
    else if (n.op == Op::kMul)
      text[i] = n.a == n.b && precedence(graph[n.a].op) == 5 ? part(n.a, 5) + "^2" : part(n.a, p) + "*" + part(n.b, p);
    else if (n.op == Op::kDiv) text[i] = part(n.a, p) + "/" + part(n.b, p + 1);
    else if (n.op == Op::kPow) text[i] = part(n.a, p + 1) + "^" + part(n.b, p);
    else if (n.b >= 0)
      text[i] =
          fmt::format("{}({}, {})", op_name(n.op), text[static_cast<size_t>(n.a)], text[static_cast<size_t>(n.b)]);
    else text[i] = fmt::format("{}({})", op_name(n.op), text[static_cast<size_t>(n.a)]);
    if (text[i].size() > kLongest) text[i] = "...";
  }
  return text[static_cast<size_t>(root)];
}

std::string describe_system(const System& system) {
  std::string out = fmt::format("{}: {}\n", system.name, system.title.empty() ? "(no title)" : system.title);
  size_t width = 4;
  for (const auto* list : {&system.parameters, &system.nuisance})
    for (const Parameter& p : *list) width = std::max(width, p.name.size());
  const auto parameters = [&](const char* heading, const std::vector<Parameter>& list) {
    if (list.empty()) return;
    out += fmt::format("\n{}\n", heading);
    for (const Parameter& p : list)
      out += fmt::format("  {:{}}  {} to {}{}\n", p.name, width, p.range.low, p.range.high,
                         p.label == p.name ? "" : fmt::format("   ({})", p.label));
  };
  parameters("Parameters, estimated, uniform in", system.parameters);
  parameters("Nuisance, drawn but not estimated, uniform in", system.nuisance);
  const auto lines = [&](const char* heading, const std::vector<std::pair<std::string, std::string>>& list) {
    if (list.empty()) return;
    out += fmt::format("\n{}\n", heading);
    for (const auto& [name, text] : list) out += fmt::format("  {} = {}\n", name, text);
  };
  lines("Constants", system.constants);
  lines("Definitions", system.definitions);

  if (!system.states.empty()) out += "\nEquations\n";
  for (const State& state : system.states) out += fmt::format("  {}' = {}\n", state.name, state.text);
  if (!system.noises.empty()) out += "\nNoises and their coefficients\n";
  for (size_t k = 0; k < system.noises.size(); ++k) {
    const Noise& noise = system.noises[k];
    out += fmt::format("  {} = {}", noise.name, noise.text);
    if (noise.is_measurement) out += "   (measurement noise: one standard draw per sample)";
    for (const State& state : system.states)
      for (const Diffusion& d : state.diffusion)
        if (d.noise == static_cast<int>(k))
          out += fmt::format("   in {}': {}", state.name, to_text(system.graph, d.coefficient, system));
    out += fmt::format("\n      increments over a time h{}: {}\n", noise.is_measurement ? " = 1" : "",
                       noise.type->increments);
  }
  if (!system.states.empty()) out += "\nInitial values\n";
  for (const State& state : system.states) {
    const std::string low = to_text(system.graph, state.initial.low, system),
                      high = to_text(system.graph, state.initial.high, system);
    const std::string value =
        state.initial.low == state.initial.high ? low : fmt::format("uniform in {} to {}", low, high);
    out += fmt::format("  {} = {}{}\n", state.name, value, state.initial.random_sign ? ", random sign" : "");
  }
  out += "\nObserved\n";
  for (const Observation& observation : system.observations) {
    out += observation.name.empty() ? " " : fmt::format("  {}:{}  ", system.name, observation.name);
    for (const Channel& channel : observation.channels)
      out +=
          fmt::format(" {} = {}{}", channel.name, channel.text, &channel == &observation.channels.back() ? "\n" : ",");
  }
  const Simulation& s = system.simulation;
  out += fmt::format(
      "\nSimulation\n  {}, {} step{} of {:g} between samples, sampling {}, burn-in {} samples, length {} samples\n",
      s.method == Method::kRungeKutta4 ? "Runge-Kutta 4 (noise by Euler-Maruyama)" : "Euler-Maruyama",
      s.steps_per_sample, s.steps_per_sample == 1 ? "" : "s", s.sampling.high / static_cast<double>(s.steps_per_sample),
      range_text(s.sampling), range_text(s.burn_in), range_text(s.length));
  return out;
}

}  // namespace penn
