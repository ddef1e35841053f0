// Prints a StepProgram as C++ over lanes (penn/noise/lanes.h). The text is made of our own words and of numbers only: no name or
// text of the system file gets into it.
#include <fmt/format.h>

#include <cmath>

#include "penn/noise/lane_group.h"
#include "penn/simulate/kernel.h"

extern const char penn_lanes_text[];  // lanes.h, embedded by the build

namespace penn {
namespace {

class Printer {
 public:
  explicit Printer(const StepProgram& program) : p_(program) {}

  std::string print() {
    std::vector<NodeId> step_roots = p_.drift;
    for (const StepProgram::Term& term : p_.diffusion) step_roots.push_back(term.coefficient);
    const std::vector<char> step_marks = p_.graph.reachable(step_roots);
    const std::vector<char> channel_marks = p_.graph.reachable(p_.channels);
    const bool rk4 = p_.system->simulation.method == Method::kRungeKutta4;
    const size_t S = p_.drift.size();

    out_ = fmt::format("{}\n", penn_lanes_text);
    out_ += fmt::format(
        "using namespace penn::lanes;\n"
        "struct Block {{ float* state; const float* slots; const float* dt; const float* time_start; const float* const* driving;\n"
        "  const float* const* measurement; float* out; int64_t first_step, steps, steps_per_sample; }};\n"
        "extern \"C\" int penn_kernel_width() {{ return kWidth; }}\n"
        "extern \"C\" void penn_kernel(const Block* block) {{\n"
        "  constexpr int L = {};\n"
        "  const Block b = *block;\n"
        "  for (int lane = 0; lane < L; lane += kPairWidth) {{\n"
        "    const X dt = load_pair(b.dt + lane);\n",
        kLanes);
    line(2, "[[maybe_unused]] const X t0 = load_pair(b.time_start + lane);");
    line(2, "[[maybe_unused]] const X half_dt = dt * 0.5f, sixth_dt = dt * (1.0f / 6);");
    for (size_t i = 0; i < p_.slots.size(); ++i) line(2, fmt::format("const X c{} = load_pair(b.slots + {} * L + lane);", i, i));
    for (size_t s = 0; s < S; ++s) line(2, fmt::format("X x{} = load_pair(b.state + {} * L + lane);", s, s));
    line(2, "float* out = b.out + lane;");
    line(2, "int64_t phase = b.first_step % b.steps_per_sample, recorded = 0;");
    line(2, "for (int64_t i = 0; i < b.steps; ++i) {");
    line(3, "[[maybe_unused]] const X t = fma(dt, X(static_cast<float>(b.first_step + i)), t0);");
    line(3, "if (phase == 0) {");
    print_nodes(4, channel_marks, {Rate::kStep, Rate::kStage});
    std::string check = "X(0.0f)";  // x - x is 0 for every finite x and NaN otherwise
    for (size_t s = 0; s < S; ++s) check += fmt::format(" + (x{} - x{})", s, s);
    line(4, "const X check = " + check + ";");
    for (size_t d = 0; d < p_.channels.size(); ++d)
      line(4, fmt::format("store(out + {} * L, where_finite(check, {}));", d, name(p_.channels[d])));
    line(4, fmt::format("out += {} * L;", p_.channels.size()));
    line(4, "++recorded;");
    line(3, "}");
    line(3, "if (++phase == b.steps_per_sample) phase = 0;");
    if (!rk4) {
      print_nodes(3, step_marks, {Rate::kStep, Rate::kStage});
      for (size_t s = 0; s < S; ++s) line(3, fmt::format("const X n{} = {};", s, euler_step(s)));
      for (size_t s = 0; s < S; ++s) line(3, fmt::format("x{} = n{};", s, s));
    } else {
      print_rk4(step_marks, S);
    }
    line(2, "}");
    for (size_t s = 0; s < S; ++s) line(2, fmt::format("store(b.state + {} * L + lane, x{});", s, s));
    out_ += "  }\n}\n";
    return out_;
  }

 private:
  void line(int depth, const std::string& text) { out_ += std::string(2 * static_cast<size_t>(depth), ' ') + text + "\n"; }

  // x + dt * drift + sum of coefficient * increment, in fused operations.
  std::string euler_step(size_t state) const {
    std::string value = fmt::format("fma(dt, {}, x{})", name(p_.drift[state]), state);
    for (const StepProgram::Term& term : p_.diffusion)
      if (term.state == static_cast<int>(state)) value = fmt::format("fma({}, load_pair(b.driving[{}] + i * L + lane), {})", name(term.coefficient), term.noise, value);
    return value;
  }

  static std::string number(double value) {
    const float x = static_cast<float>(value);
    if (std::isnan(x)) return "X(__builtin_nanf(\"\"))";
    if (std::isinf(x)) return x > 0 ? "X(__builtin_inff())" : "X(-__builtin_inff())";
    return fmt::format("X({:a}f)", x);
  }

  std::string name(NodeId id) const {
    const GraphNode& n = p_.graph[id];
    if (n.op == Op::kNumber) return number(n.number);
    if (n.op != Op::kSymbol) return fmt::format("v{}", id);
    switch (n.kind) {
      case SymbolKind::kSlot: return fmt::format("c{}", n.index);
      case SymbolKind::kState: return fmt::format("x{}", n.index);
      case SymbolKind::kTime: return "t";
      default: return fmt::format("load_pair(b.measurement[{}] + recorded * L + lane)", n.index);
    }
  }

  // `const X v7 = v3 * c1;` for every marked node of these rates, operands first.
  void print_nodes(int depth, const std::vector<char>& marks, std::initializer_list<Rate> rates) {
    for (size_t i = 0; i < marks.size(); ++i)
      for (const Rate rate : rates)
        if (marks[i] && p_.rate[i] == rate) print_node(depth, static_cast<NodeId>(i));
  }

  // A sum with a product in it as one fused operation, or "".
  std::string fused_sum(const GraphNode& n) const {
    if (n.op != Op::kAdd && n.op != Op::kSub) return "";
    const bool minus = n.op == Op::kSub;
    const GraphNode &a = p_.graph[n.a], &b = p_.graph[n.b];
    if (b.op == Op::kMul) return fmt::format("fma({}{}, {}, {})", minus ? "-" : "", name(b.a), name(b.b), name(n.a));
    if (a.op == Op::kMul) return fmt::format("fma({}, {}, {}{})", name(a.a), name(a.b), minus ? "-" : "", name(n.b));
    return "";
  }

  void print_node(int depth, NodeId id) {
    const GraphNode& n = p_.graph[id];
    if (n.op == Op::kSymbol || n.op == Op::kNumber) return;
    std::string right;
    if (n.op == Op::kNeg) right = "-" + name(n.a);
    else if (const std::string fused = fused_sum(n); !fused.empty()) right = fused;
    else if (n.op == Op::kAdd || n.op == Op::kSub || n.op == Op::kMul || n.op == Op::kDiv) right = fmt::format("{} {} {}", name(n.a), op_name(n.op), name(n.b));
    else if (n.op == Op::kPow) right = fmt::format("pow({}, {})", name(n.a), name(n.b));
    else if (n.b >= 0) right = fmt::format("{}({}, {})", op_name(n.op), name(n.a), name(n.b));
    else right = fmt::format("{}({})", op_name(n.op), name(n.a));
    line(depth, fmt::format("const X v{} = {};", id, right));
  }

  // Runge-Kutta for the states without noise; what depends only on held states is computed once per step.
  void print_rk4(const std::vector<char>& marks, size_t S) {
    std::vector<size_t> held, free;
    for (size_t s = 0; s < S; ++s) (p_.is_held[s] ? held : free).push_back(s);
    print_nodes(3, marks, {Rate::kStep});

    // Held states: Euler-Maruyama from the values at the start of the step.
    for (const size_t s : held) line(3, fmt::format("X n{};", s));
    line(3, "{");
    print_nodes(4, marks, {Rate::kStage});  // the compiler drops what they do not need
    for (const size_t s : held) line(4, fmt::format("n{} = {};", s, euler_step(s)));
    line(3, "}");

    if (!free.empty()) {
      std::string arguments = "[[maybe_unused]] X t", results;
      for (const size_t s : free) arguments += fmt::format(", [[maybe_unused]] X x{}", s), results += fmt::format(", X& f{}", s);
      line(3, "const auto stage = [&](" + arguments + results + ") {");
      print_nodes(4, marks, {Rate::kStage});
      for (const size_t s : free) line(4, fmt::format("f{} = {};", s, name(p_.drift[s])));
      line(3, "};");
      const char* const increments[] = {"", "half_dt", "half_dt", "dt"};
      for (int k = 1; k <= 4; ++k) {
        const char* h = increments[k - 1];
        std::string in = k == 1 ? "t" : fmt::format("t + {}", h), out;
        for (const size_t s : free) {
          in += k == 1 ? fmt::format(", x{}", s) : fmt::format(", fma({}, k{}_{}, x{})", h, k - 1, s, s);
          out += fmt::format(", k{}_{}", k, s);
        }
        line(3, "X " + out.substr(2) + ";");
        line(3, "stage(" + in + out + ");");
      }
    }
    for (const size_t s : free) line(3, fmt::format("x{0} = fma(sixth_dt, fma(X(2.0f), k2_{0} + k3_{0}, k1_{0}) + k4_{0}, x{0});", s));
    for (const size_t s : held) line(3, fmt::format("x{} = n{};", s, s));
  }

  const StepProgram& p_;
  std::string out_;
};

}  // namespace

std::string kernel_source(const StepProgram& program) { return Printer(program).print(); }

}  // namespace penn
