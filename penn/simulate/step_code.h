// A StepProgram as a flat list of lane operations: what is computed, in which order and with which fused operations.
// The meaning of a step is written here and nowhere else: kernel_source.cc prints the list as C++, lane_kernel.cc runs
// it, and both give the same bits.
#pragma once

#include <cstdint>
#include <vector>

#include "penn/simulate/step_program.h"

namespace penn {

// M(name, number of operands, value): the operations, over the lanes x, y and z (penn/base/lanes.h). The compiler sees
// these words in the interpreter, and as text in the source of a compiled system. From Add to Sign in the order of Op.
// clang-format off
#define PENN_LANE_OPERATIONS(M)             \
  M(Add, 2, x + y)                          \
  M(Sub, 2, x - y)                          \
  M(Mul, 2, x * y)                          \
  M(Div, 2, x / y)                          \
  M(Pow, 2, pow(x, y))                      \
  M(Min, 2, min(x, y))                      \
  M(Max, 2, max(x, y))                      \
  M(Neg, 1, -x)                             \
  M(Sqrt, 1, sqrt(x))                       \
  M(Exp, 1, exp(x))                         \
  M(Log, 1, log(x))                         \
  M(Log10, 1, log10(x))                     \
  M(Sin, 1, sin(x))                         \
  M(Cos, 1, cos(x))                         \
  M(Tan, 1, tan(x))                         \
  M(Tanh, 1, tanh(x))                       \
  M(Abs, 1, abs(x))                         \
  M(Sign, 1, sign(x))                       \
  M(Square, 1, x * x)                       \
  M(MultiplyAdd, 3, fma(x, y, z))           \
  M(NegativeMultiplyAdd, 3, fma(-x, y, z))  \
  M(MultiplySubtract, 3, fma(x, y, -z))     \
  M(CheckFinite, 2, x + (y - y)) /* x, or NaN where y is not finite */ \
  M(WhereFinite, 2, where_finite(x, y))

enum class LaneOp : uint8_t {
  kNumber, kSlot, kState, kDriving, kMeasurement, kTimeStep, kTimeStart, kStepNumber,  // leaves
#define PENN_ENUMERATOR(name, operands, value) k##name,
  PENN_LANE_OPERATIONS(PENN_ENUMERATOR)
#undef PENN_ENUMERATOR
};
// clang-format on
inline bool is_leaf(LaneOp op) {
  return op <= LaneOp::kStepNumber;
}

struct LaneValue {
  LaneOp op;
  int a = -1, b = -1, c = -1;  // operands: earlier values
  int index = 0;               // of a slot, state or noise
  float number = 0;            // kNumber
};

struct StepCode {
  std::vector<LaneValue> values;  // no two are equal
  // The values to compute, operands first: before the first step, for a sample, for a step. Leaves are not listed.
  std::vector<int> once, sample, step;
  std::vector<int> recorded;  // of `sample`: one per channel
  std::vector<int> next;      // of `step`: one per state, its value after the step
};

StepCode make_step_code(const StepProgram& program);

}  // namespace penn
