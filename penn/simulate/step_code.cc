#include "penn/simulate/step_code.h"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

namespace penn {
namespace {

class Builder {
 public:
  explicit Builder(const StepProgram& program) : p_(program) {}

  StepCode build() {
    for (size_t s = 0; s < p_.drift.size(); ++s) states_.push_back(leaf(LaneOp::kState, static_cast<int>(s)));
    dt_ = leaf(LaneOp::kTimeStep);
    t_ = multiply_add(dt_, leaf(LaneOp::kStepNumber), leaf(LaneOp::kTimeStart));
    build_sample();
    if (p_.system->simulation.method == Method::kEulerMaruyama) build_euler_maruyama();
    else build_rk4();

    code_.sample = computed(code_.recorded, false);
    code_.step = computed(code_.next, false);
    std::vector<int> all = code_.recorded;
    all.insert(all.end(), code_.next.begin(), code_.next.end());
    code_.once = computed(all, true);
    return std::move(code_);
  }

 private:
  // Equal values are one: what a later stage of rk4 shares with the first one (all that depends on held states alone)
  // is computed once.
  int value(const LaneValue& v) {
    const auto key = std::make_tuple(v.op, v.a, v.b, v.c, v.index, std::bit_cast<uint32_t>(v.number));
    const auto [it, is_new] = known_.try_emplace(key, static_cast<int>(code_.values.size()));
    if (is_new) {
      code_.values.push_back(v);
      bool constant =
          v.op == LaneOp::kNumber || v.op == LaneOp::kSlot || v.op == LaneOp::kTimeStep || v.op == LaneOp::kTimeStart;
      if (!is_leaf(v.op)) constant = is_constant(v.a) && is_constant(v.b) && is_constant(v.c);
      is_constant_.push_back(constant);
    }
    return it->second;
  }
  bool is_constant(int id) const { return id < 0 || is_constant_[static_cast<size_t>(id)]; }
  int leaf(LaneOp op, int index = 0) { return value({.op = op, .index = index}); }
  int number(double x) { return value({.op = LaneOp::kNumber, .number = static_cast<float>(x)}); }
  int operation(LaneOp op, int a, int b = -1, int c = -1) { return value({.op = op, .a = a, .b = b, .c = c}); }
  int multiply_add(int a, int b, int c) { return operation(LaneOp::kMultiplyAdd, a, b, c); }

  // The value of every marked node at these states and this time.
  std::vector<int> evaluate(const std::vector<char>& marks, const std::vector<int>& states, int t) {
    std::vector<int> ids(marks.size(), -1);
    for (size_t i = 0; i < marks.size(); ++i)
      if (marks[i]) ids[i] = node_value(p_.graph.nodes()[i], ids, states, t);
    return ids;
  }

  int node_value(const GraphNode& n, const std::vector<int>& ids, const std::vector<int>& states, int t) {
    if (n.op == Op::kNumber) return number(n.number);
    if (n.op == Op::kSymbol) {
      switch (n.kind) {
        case SymbolKind::kSlot:
          return leaf(LaneOp::kSlot, n.index);
        case SymbolKind::kState:
          return states[static_cast<size_t>(n.index)];
        case SymbolKind::kTime:
          return t;
        default:
          return leaf(LaneOp::kMeasurement, n.index);
      }
    }
    const auto id = [&](NodeId node) { return node < 0 ? -1 : ids[static_cast<size_t>(node)]; };
    if (n.op == Op::kAdd || n.op == Op::kSub) {  // a sum with a product in it is one fused operation
      const bool minus = n.op == Op::kSub;
      const GraphNode &a = p_.graph[n.a], &b = p_.graph[n.b];
      if (b.op == Op::kMul)
        return operation(minus ? LaneOp::kNegativeMultiplyAdd : LaneOp::kMultiplyAdd, id(b.a), id(b.b), id(n.a));
      if (a.op == Op::kMul)
        return operation(minus ? LaneOp::kMultiplySubtract : LaneOp::kMultiplyAdd, id(a.a), id(a.b), id(n.b));
    }
    if (n.op == Op::kMul && n.a == n.b) return operation(LaneOp::kSquare, id(n.a));
    static_assert(static_cast<int>(LaneOp::kSign) - static_cast<int>(LaneOp::kAdd) ==
                  static_cast<int>(Op::kSign) - static_cast<int>(Op::kAdd));
    const int op = static_cast<int>(n.op) - static_cast<int>(Op::kAdd) + static_cast<int>(LaneOp::kAdd);
    return operation(static_cast<LaneOp>(op), id(n.a), id(n.b));
  }

  // The channels, or NaN where a state is not finite.
  void build_sample() {
    const std::vector<int> ids = evaluate(p_.graph.reachable(p_.channels), states_, t_);
    int check = number(0);
    for (const int x : states_) check = operation(LaneOp::kCheckFinite, check, x);
    for (const NodeId channel : p_.channels)
      code_.recorded.push_back(operation(LaneOp::kWhereFinite, check, ids[static_cast<size_t>(channel)]));
  }

  // x + dt * drift + sum of coefficient * increment.
  int euler_step(size_t state, const std::vector<int>& ids) {
    int result = multiply_add(dt_, ids[static_cast<size_t>(p_.drift[state])], states_[state]);
    for (const StepProgram::Term& term : p_.diffusion)
      if (term.state == static_cast<int>(state))
        result = multiply_add(ids[static_cast<size_t>(term.coefficient)], leaf(LaneOp::kDriving, term.noise), result);
    return result;
  }

  std::vector<char> step_marks() const {
    std::vector<NodeId> roots = p_.drift;
    for (const StepProgram::Term& term : p_.diffusion) roots.push_back(term.coefficient);
    return p_.graph.reachable(roots);
  }

  void build_euler_maruyama() {
    const std::vector<int> ids = evaluate(step_marks(), states_, t_);
    for (size_t s = 0; s < states_.size(); ++s) code_.next.push_back(euler_step(s, ids));
  }

  // Runge-Kutta for the states without noise; the others are held during the stages and take a step of Euler-Maruyama.
  void build_rk4() {
    const std::vector<char> marks = step_marks();
    const int half_dt = operation(LaneOp::kMul, dt_, number(0.5f)),
              sixth_dt = operation(LaneOp::kMul, dt_, number(1.0f / 6));
    const auto drift = [&](const std::vector<int>& ids, size_t s) { return ids[static_cast<size_t>(p_.drift[s])]; };
    const auto stage = [&](const std::vector<int>& before, int h) {
      std::vector<int> states = states_;
      for (size_t s = 0; s < states.size(); ++s)
        if (!p_.is_held[s]) states[s] = multiply_add(h, drift(before, s), states_[s]);
      return evaluate(marks, states, operation(LaneOp::kAdd, t_, h));
    };
    const std::vector<int> k1 = evaluate(marks, states_, t_), k2 = stage(k1, half_dt), k3 = stage(k2, half_dt),
                           k4 = stage(k3, dt_);
    for (size_t s = 0; s < states_.size(); ++s) {
      if (p_.is_held[s]) {
        code_.next.push_back(euler_step(s, k1));
        continue;
      }
      const int twice = multiply_add(number(2), operation(LaneOp::kAdd, drift(k2, s), drift(k3, s)), drift(k1, s));
      code_.next.push_back(multiply_add(sixth_dt, operation(LaneOp::kAdd, twice, drift(k4, s)), states_[s]));
    }
  }

  // The operations that the roots need, in order: those that never change (`once`), or the others.
  std::vector<int> computed(const std::vector<int>& roots, bool once) const {
    std::vector<char> needed(code_.values.size(), 0);
    for (const int root : roots) needed[static_cast<size_t>(root)] = 1;
    std::vector<int> list;
    for (int i = static_cast<int>(needed.size()) - 1; i >= 0; --i) {
      if (!needed[static_cast<size_t>(i)]) continue;
      const LaneValue& v = code_.values[static_cast<size_t>(i)];
      for (const int operand : {v.a, v.b, v.c})
        if (operand >= 0) needed[static_cast<size_t>(operand)] = 1;
      if (!is_leaf(v.op) && is_constant(i) == once) list.push_back(i);
    }
    std::reverse(list.begin(), list.end());
    return list;
  }

  const StepProgram& p_;
  StepCode code_;
  std::vector<char> is_constant_;  // over a trajectory
  std::map<std::tuple<LaneOp, int, int, int, int, uint32_t>, int> known_;
  std::vector<int> states_;
  int dt_ = -1, t_ = -1;
};

}  // namespace

StepCode make_step_code(const StepProgram& program) {
  return Builder(program).build();
}

}  // namespace penn
