#include "penn/simulate/step_program.h"

#include <algorithm>

namespace penn {
namespace {

class Builder {
 public:
  Builder(const System& system, int observation) : system_(system), observation_(observation) {
    program_.system = &system;
    program_.trajectory_graph = system.graph;
  }

  StepProgram build() {
    const size_t S = system_.states.size();
    program_.is_held.assign(S, 0);
    std::vector<NodeId> roots;
    for (size_t s = 0; s < S; ++s) {
      roots.push_back(system_.states[s].drift);
      for (const Diffusion& d : system_.states[s].diffusion) roots.push_back(d.coefficient), program_.is_held[s] = 1;
    }
    if (system_.simulation.method == Method::kEulerMaruyama) program_.is_held.assign(S, 0);
    for (const Channel& channel : system_.observations[static_cast<size_t>(observation_)].channels)
      roots.push_back(channel.value);
    split_noises(system_.graph.reachable(roots));
    find_source_rates();
    translate(system_.graph.reachable(roots));

    for (size_t s = 0; s < S; ++s) {
      program_.drift.push_back(operand(system_.states[s].drift));
      for (const Diffusion& d : system_.states[s].diffusion) {
        const auto it = std::find(program_.driving_noises.begin(), program_.driving_noises.end(), d.noise);
        program_.diffusion.push_back(
            {static_cast<int>(s), static_cast<int>(it - program_.driving_noises.begin()), operand(d.coefficient)});
      }
    }
    for (const Channel& channel : system_.observations[static_cast<size_t>(observation_)].channels)
      program_.channels.push_back(operand(channel.value));
    finish();
    return std::move(program_);
  }

 private:
  enum class Level : uint8_t { kNumber, kTrajectory, kStep, kStage };

  void split_noises(const std::vector<char>& marks) {
    std::vector<char> used(system_.noises.size(), 0);
    for (size_t i = 0; i < marks.size(); ++i) {
      const GraphNode& n = system_.graph.nodes()[i];
      if (marks[i] && n.op == Op::kSymbol && n.kind == SymbolKind::kNoise) used[static_cast<size_t>(n.index)] = 1;
    }
    for (const State& state : system_.states)
      for (const Diffusion& d : state.diffusion) used[static_cast<size_t>(d.noise)] = 1;
    for (size_t k = 0; k < used.size(); ++k) {
      if (!used[k]) continue;
      (system_.noises[k].is_measurement ? program_.measurement_noises : program_.driving_noises)
          .push_back(static_cast<int>(k));
    }
  }

  void find_source_rates() {
    for (const GraphNode& n : system_.graph.nodes()) {
      Level level = Level::kNumber;
      if (n.op == Op::kSymbol) {
        const bool is_state = n.kind == SymbolKind::kState;
        level = n.kind == SymbolKind::kParameter || n.kind == SymbolKind::kNuisance ? Level::kTrajectory
                : is_state && program_.is_held[static_cast<size_t>(n.index)]        ? Level::kStep
                                                                                    : Level::kStage;
      } else if (n.op != Op::kNumber) {
        level = level_[static_cast<size_t>(n.a)];
        if (n.b >= 0) level = std::max(level, level_[static_cast<size_t>(n.b)]);
      }
      level_.push_back(level);
    }
  }

  NodeId slot(NodeId source) {
    for (size_t i = 0; i < program_.slots.size(); ++i)
      if (program_.slots[i] == source) return program_.graph.symbol(SymbolKind::kSlot, static_cast<int>(i));
    program_.slots.push_back(source);
    return program_.graph.symbol(SymbolKind::kSlot, static_cast<int>(program_.slots.size()) - 1);
  }

  // The node of the new graph that stands for a node of the system's.
  NodeId operand(NodeId source) {
    const size_t i = static_cast<size_t>(source);
    if (level_[i] == Level::kNumber) return program_.graph.number(system_.graph[source].number);
    return level_[i] == Level::kTrajectory ? slot(source) : map_[i];
  }

  NodeId reciprocal(NodeId source) {
    const size_t i = static_cast<size_t>(source);
    if (level_[i] == Level::kNumber) return program_.graph.number(1 / system_.graph[source].number);
    if (level_[i] == Level::kTrajectory)
      return slot(program_.trajectory_graph.binary(Op::kDiv, program_.trajectory_graph.number(1), source));
    return program_.graph.binary(Op::kDiv, program_.graph.number(1), map_[i]);
  }

  void translate(const std::vector<char>& marks) {
    const std::vector<GraphNode>& nodes = system_.graph.nodes();
    map_.assign(nodes.size(), -1);
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (!marks[i] || level_[i] <= Level::kTrajectory) continue;
      const GraphNode& n = nodes[i];
      if (n.op == Op::kSymbol) {
        int index = n.index;
        if (n.kind == SymbolKind::kNoise) {
          const std::vector<int>& list = program_.measurement_noises;
          index = static_cast<int>(std::find(list.begin(), list.end(), n.index) - list.begin());
        }
        map_[i] = program_.graph.symbol(n.kind, index);
      } else if (n.op == Op::kDiv && level_[static_cast<size_t>(n.b)] < level_[static_cast<size_t>(n.a)]) {
        // The divisor changes less often than the dividend: divide once, multiply often.
        map_[i] = program_.graph.binary(Op::kMul, operand(n.a), reciprocal(n.b));
      } else {
        map_[i] = n.b >= 0 ? program_.graph.binary(n.op, operand(n.a), operand(n.b))
                           : program_.graph.unary(n.op, operand(n.a));
      }
    }
  }

  void finish() {
    std::vector<NodeId> roots = program_.slots;
    for (const Noise& noise : system_.noises) roots.insert(roots.end(), noise.shapes.begin(), noise.shapes.end());
    for (const State& state : system_.states) roots.push_back(state.initial.low), roots.push_back(state.initial.high);
    program_.slot_marks = program_.trajectory_graph.reachable(roots);
  }

  const System& system_;
  int observation_;
  StepProgram program_;
  std::vector<Level> level_;
  std::vector<NodeId> map_;
};

}  // namespace

StepProgram make_step_program(const System& system, int observation) {
  return Builder(system, observation).build();
}

}  // namespace penn
