// Prints a StepCode as C++ over lanes (penn/base/lanes.h). The text is made of our own words and of numbers only: no
// name or text of the system file gets into it.
#include "penn/simulate/kernel_source.h"

#include <fmt/core.h>

#include <cmath>

#include "penn/noise/lane_group.h"
#include "penn/simulate/kernel.h"
#include "penn/simulate/step_code.h"

extern const char penn_lanes_text[];  // lanes.h, embedded by the build

namespace penn {
namespace {

struct OperationText {
  const char* name;
  int operands;
  const char* value;
};
constexpr OperationText kOperations[] = {
#define PENN_TEXT(name, operands, value) {#name, operands, #value},
    PENN_LANE_OPERATIONS(PENN_TEXT)
#undef PENN_TEXT
};

class Printer {
 public:
  explicit Printer(const StepProgram& program) : p_(program), code_(make_step_code(program)) {}

  std::string print() {
    const size_t S = p_.drift.size();
    out_ = fmt::format("{}\nusing namespace penn::lanes;\n", penn_lanes_text);
    for (const OperationText& o : kOperations)
      out_ += fmt::format("inline X {}({}) {{ return {}; }}\n", o.name,
                          o.operands == 1   ? "X x"
                          : o.operands == 2 ? "X x, X y"
                                            : "X x, X y, X z",
                          o.value);
    out_ += fmt::format(
        "struct Block {{ float* state; const float* slots; const float* dt; const float* time_start; const float* "
        "const* driving;\n"
        "  const float* const* measurement; float* out; int64_t first_step, steps, steps_per_sample; }};\n"
        "extern \"C\" int penn_kernel_width() {{ return kWidth; }}\n"
        "extern \"C\" void penn_kernel(const Block* block) {{\n"
        "  constexpr int L = {};\n"
        "  const Block b = *block;\n"
        "  for (int lane = 0; lane < L; lane += kPairWidth) {{\n",
        kLanes);
    line(2, "[[maybe_unused]] const X dt = load_pair(b.dt + lane), t0 = load_pair(b.time_start + lane);");
    for (size_t i = 0; i < p_.slots.size(); ++i)
      line(2, fmt::format("const X c{} = load_pair(b.slots + {} * L + lane);", i, i));
    for (size_t s = 0; s < S; ++s) line(2, fmt::format("X x{} = load_pair(b.state + {} * L + lane);", s, s));
    print_values(2, code_.once);
    line(2, "float* out = b.out + lane;");
    line(2, "int64_t phase = b.first_step % b.steps_per_sample, recorded = 0;");
    line(2, "for (int64_t i = 0; i < b.steps; ++i) {");
    line(3, "if (phase == 0) {");
    print_values(4, code_.sample);
    for (size_t d = 0; d < code_.recorded.size(); ++d)
      line(4, fmt::format("store(out + {} * L, {});", d, name(code_.recorded[d])));
    line(4, fmt::format("out += {} * L;", code_.recorded.size()));
    line(4, "++recorded;");
    line(3, "}");
    line(3, "if (++phase == b.steps_per_sample) phase = 0;");
    print_values(3, code_.step);
    for (size_t s = 0; s < S; ++s) line(3, fmt::format("x{} = {};", s, name(code_.next[s])));
    line(2, "}");
    for (size_t s = 0; s < S; ++s) line(2, fmt::format("store(b.state + {} * L + lane, x{});", s, s));
    out_ += "  }\n}\n";
    return out_;
  }

 private:
  void line(int depth, const std::string& text) {
    out_ += std::string(2 * static_cast<size_t>(depth), ' ') + text + "\n";
  }

  static std::string number(float x) {
    if (std::isnan(x)) return "X(__builtin_nanf(\"\"))";
    if (std::isinf(x)) return x > 0 ? "X(__builtin_inff())" : "X(-__builtin_inff())";
    return fmt::format("X({:a}f)", x);
  }

  std::string name(int id) const {
    const LaneValue& v = code_.values[static_cast<size_t>(id)];
    switch (v.op) {
      case LaneOp::kNumber:
        return number(v.number);
      case LaneOp::kSlot:
        return fmt::format("c{}", v.index);
      case LaneOp::kState:
        return fmt::format("x{}", v.index);
      case LaneOp::kDriving:
        return fmt::format("load_pair(b.driving[{}] + i * L + lane)", v.index);
      case LaneOp::kMeasurement:
        return fmt::format("load_pair(b.measurement[{}] + recorded * L + lane)", v.index);
      case LaneOp::kTimeStep:
        return "dt";
      case LaneOp::kTimeStart:
        return "t0";
      case LaneOp::kStepNumber:
        return "X(static_cast<float>(b.first_step + i))";
      default:
        return fmt::format("v{}", id);
    }
  }

  // `const X v7 = Mul(v3, c1);` for every value of the list.
  void print_values(int depth, const std::vector<int>& list) {
    for (const int id : list) {
      const LaneValue& v = code_.values[static_cast<size_t>(id)];
      std::string operands = name(v.a);
      for (const int operand : {v.b, v.c})
        if (operand >= 0) operands += ", " + name(operand);
      const OperationText& operation = kOperations[static_cast<int>(v.op) - static_cast<int>(LaneOp::kAdd)];
      line(depth, fmt::format("const X v{} = {}({});", id, operation.name, operands));
    }
  }

  const StepProgram& p_;
  const StepCode code_;
  std::string out_;
};

}  // namespace

std::string kernel_source(const StepProgram& program) {
  return Printer(program).print();
}

}  // namespace penn
