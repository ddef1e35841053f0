// Runs a StepCode operation by operation over lanes: no compiler is needed, and the bits are those of the compiled
// system. The cost of fetching an instruction is paid once for many lanes, whose values stand side by side in a row of
// the frame (a register of this machine). The result of an instruction stays in vector registers, too: most operations
// take one operand from the operation before, and then it need not go through memory.
#include "penn/simulate/lane_kernel.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "penn/base/aligned.h"
#include "penn/base/lanes.h"
#include "penn/noise/lane_group.h"
#include "penn/simulate/kernel.h"
#include "penn/simulate/step_code.h"

namespace penn {
namespace {

using namespace lanes;

constexpr int kPairs = std::min(2, kLanes / kPairWidth);  // of vectors, for one instruction
constexpr int kRow = kPairs * kPairWidth;                 // lanes of a row
static_assert(kLanes % kRow == 0);

struct Instruction {
  using Perform = void (*)(const Instruction*, float* frame, F, F, F, F);
  Perform perform;
  uint32_t result = 0, a = 0, b = 0, c = 0, d = 0, e = 0;  // rows of the frame: offsets in bytes
};

// Instructions that jump to each other, up to kChain operations of them. Nothing is carried from one chain to the next.
// Where a compiler makes calls of the jumps (sanitizers, no optimisation), the stack grows with a chain, and no
// further.
using Chain = std::vector<Instruction>;
constexpr size_t kChain = 256;

template <LaneOp op>
struct Operation;
#define PENN_OPERATION(name, operands, value)                                                          \
  template <>                                                                                          \
  struct Operation<LaneOp::k##name> {                                                                  \
    static constexpr int kOperands = operands;                                                         \
    static X apply([[maybe_unused]] X x, [[maybe_unused]] X y, [[maybe_unused]] X z) { return value; } \
  };
PENN_LANE_OPERATIONS(PENN_OPERATION)
#undef PENN_OPERATION

inline float* row(float* frame, uint32_t bytes) {
  float* start = reinterpret_cast<float*>(reinterpret_cast<char*>(frame) + bytes);
  asm("" : "+r"(start));  // one register for a row: gcc would take another one for its second half, and run out of them
  return start;
}

// The operation on the lanes of pair p. Operand `kCarried` is `carried`, the others come from their rows.
template <LaneOp op, int kCarried>
[[gnu::always_inline]] inline X value(const float* a, const float* b, const float* c, int p, X carried) {
  const auto operand = [&](int position, const float* values) {
    const bool is_row = position < Operation<op>::kOperands && position != kCarried;
    return is_row ? load_pair(values + p * kPairWidth) : carried;
  };
  return Operation<op>::apply(operand(0, a), operand(1, b), operand(2, c));
}

// p0 .. p3 are the lanes of the last result. Every instruction ends with a jump to the next one (a call in tail
// position). `kCarried` is the operand that is the last result, or -1. The result goes to the frame if `kKept`.
template <LaneOp op, int kCarried, bool kKept>
void perform(const Instruction* at, float* frame, F p0, F p1, F p2, F p3) {
  X last[2] = {{p0, p1}, {p2, p3}};
  const float *const a = row(frame, at->a), *const b = row(frame, at->b), *const c = row(frame, at->c);
  float* const result = row(frame, at->result);
  for (int p = 0; p < kPairs; ++p) {
    last[p] = value<op, kCarried>(a, b, c, p, last[p]);
    if (kKept) store(result + p * kPairWidth, last[p]);
  }
  return at[1].perform(at + 1, frame, last[0].a, last[0].b, last[1].a, last[1].b);
}

// Two operations in one instruction: the result of the first is operand `kPosition` of the second and needed nowhere
// else. d and e are the other operands of the second.
template <LaneOp first, int kCarried, LaneOp second, int kPosition, bool kKept>
void perform_two(const Instruction* at, float* frame, F p0, F p1, F p2, F p3) {
  X last[2] = {{p0, p1}, {p2, p3}};
  const float *const a = row(frame, at->a), *const b = row(frame, at->b), *const c = row(frame, at->c);
  const float *const d = row(frame, at->d), *const e = row(frame, at->e);
  float* const result = row(frame, at->result);
  for (int p = 0; p < kPairs; ++p) {
    const X inner = value<first, kCarried>(a, b, c, p, last[p]);
    last[p] = value<second, kPosition>(d, kPosition == 0 ? d : e, e, p, inner);
    if (kKept) store(result + p * kPairWidth, last[p]);
  }
  return at[1].perform(at + 1, frame, last[0].a, last[0].b, last[1].a, last[1].b);
}

void finish(const Instruction*, float*, F, F, F, F) {}

template <LaneOp op>
Instruction::Perform choose(int carried, bool kept) {
  constexpr int last = Operation<op>::kOperands - 1;  // no variants for operands that an operation does not have
  switch (carried) {
    case 0:
      return kept ? perform<op, 0, true> : perform<op, 0, false>;
    case 1:
      return kept ? perform<op, std::min(1, last), true> : perform<op, std::min(1, last), false>;
    case 2:
      return kept ? perform<op, std::min(2, last), true> : perform<op, std::min(2, last), false>;
    default:
      return kept ? perform<op, -1, true> : perform<op, -1, false>;
  }
}

Instruction::Perform choose(LaneOp op, int carried, bool kept) {
  switch (op) {
#define PENN_CASE(name, operands, value) \
  case LaneOp::k##name:                  \
    return choose<LaneOp::k##name>(carried, kept);
    PENN_LANE_OPERATIONS(PENN_CASE)
#undef PENN_CASE
    default:
      return finish;
  }
}

// perform_two for every pair of the most frequent operations; null where there is no such operand. Factors and summands
// are ordered such that the carried one is operand 0, or 2 of a fused operation.
constexpr LaneOp kPairable[] = {LaneOp::kAdd, LaneOp::kMul, LaneOp::kSquare, LaneOp::kMultiplyAdd,
                                LaneOp::kNegativeMultiplyAdd};
constexpr size_t kPairables = std::size(kPairable);
constexpr int kCarriedPositions[] = {-1, 0, 2};

template <size_t i>
constexpr Instruction::Perform two_entry() {
  constexpr bool kept = i % 2;
  constexpr int position = kCarriedPositions[1 + i / 2 % 2], carried = kCarriedPositions[i / 4 % 3];
  constexpr LaneOp second = kPairable[i / 12 % kPairables], first = kPairable[i / 12 / kPairables];
  if constexpr (carried < Operation<first>::kOperands && position < Operation<second>::kOperands)
    return perform_two<first, carried, second, position, kept>;
  else return nullptr;
}

Instruction::Perform choose_two(LaneOp first, int carried, LaneOp second, int position, bool kept) {
  static constexpr auto table = []<size_t... i>(std::index_sequence<i...>) {
    return std::array<Instruction::Perform, sizeof...(i)>{two_entry<i>()...};
  }
  (std::make_index_sequence<12 * kPairables * kPairables>());
  const auto number = [](const auto& list, auto wanted) {
    return static_cast<size_t>(std::find(std::begin(list), std::end(list), wanted) - list);
  };
  const size_t f = number(kPairable, first), s = number(kPairable, second), c = number(kCarriedPositions, carried),
               p = number(kCarriedPositions, position);
  if (f == kPairables || s == kPairables || c == 3 || p == 3 || p == 0) return nullptr;
  return table[((f * kPairables + s) * 3 + c) * 4 + (p - 1) * 2 + kept];
}

// Gives every value a row of the frame. Leaves and what is computed once have their own; the values of a step share.
class Assembler {
 public:
  explicit Assembler(const StepCode& code) : code_(code), row_(code.values.size(), -1) {
    for (size_t i = 0; i < row_.size(); ++i)
      if (code.values[i].op == LaneOp::kState) row_[i] = rows_++;
    for (const auto* list : {&code.once, &code.sample, &code.step})
      for (const int id : *list)
        for (const int operand : operands_of(id))
          if (operand >= 0 && is_leaf(code.values[static_cast<size_t>(operand)].op) && !has_row(operand))
            row_[static_cast<size_t>(operand)] = rows_++;
    for (const int id : code.once) row_[static_cast<size_t>(id)] = rows_++;
  }

  bool has_row(int id) const { return id >= 0 && row_[static_cast<size_t>(id)] >= 0; }
  uint32_t offset(int id) const {
    return has_row(id) ? static_cast<uint32_t>(row_[static_cast<size_t>(id)] * kRow) : 0;
  }
  uint32_t bytes(int id) const { return offset(id) * static_cast<uint32_t>(sizeof(float)); }
  int rows() const { return rows_; }

  // `results` must stand in the frame at the end. next[s], where given, may take the row of state s as soon as nobody
  // needs that any more.
  std::vector<Chain> assemble(const std::vector<int>& list, const std::vector<int>& results,
                              const std::vector<int>& next = {}) {
    const size_t n = list.size(), V = code_.values.size();
    std::vector<std::array<int, 3>> operands(n);
    std::vector<int> carried(n, -1);
    std::vector<size_t> last_read(V, 0);  // from its row, by the operation of this number; n: by the caller
    std::vector<char> is_read(V, 0);
    const auto read = [&](int id, size_t when) {
      is_read[static_cast<size_t>(id)] = 1, last_read[static_cast<size_t>(id)] = when;
    };
    for (size_t i = 0; i < n; ++i) {
      operands[i] = operands_of(list[i]);
      if (i > 0 && operands[i][1] == list[i - 1] && commutes(op(list[i]))) std::swap(operands[i][0], operands[i][1]);
      for (int k = 0; k < 3; ++k) {
        const int operand = operands[i][static_cast<size_t>(k)];
        if (operand < 0) continue;
        if (carried[i] < 0 && i % kChain != 0 && operand == list[i - 1]) carried[i] = k;
        else read(operand, i);
      }
    }
    for (const int id : results) read(id, n);

    std::vector<Chain> chains;
    std::vector<int> free;
    std::vector<char> is_temporary(V, 0);
    const auto release = [&](size_t i) {  // rows that are read for the last time; the result can take one of them
      for (const int operand : operands[i])
        if (operand >= 0 && is_temporary[static_cast<size_t>(operand)] &&
            last_read[static_cast<size_t>(operand)] == i) {
          free.push_back(row_[static_cast<size_t>(operand)]);
          is_temporary[static_cast<size_t>(operand)] = 0;
        }
    };
    for (size_t i = 0; i < n; ++i) {
      if (i % kChain == 0) chains.emplace_back();
      Instruction instruction{
          .perform = nullptr, .a = bytes(operands[i][0]), .b = bytes(operands[i][1]), .c = bytes(operands[i][2])};
      if (i + 1 < n && !is_read[static_cast<size_t>(list[i])])  // then the next one takes it
        instruction.perform = choose_two(op(list[i]), carried[i], op(list[i + 1]), carried[i + 1],
                                         is_read[static_cast<size_t>(list[i + 1])]);
      if (instruction.perform) {
        release(i++);
        const int position = carried[i];
        instruction.d = bytes(operands[i][position == 0 ? 1 : 0]);
        instruction.e = bytes(operands[i][position == 2 ? 1 : 2]);
      } else {
        instruction.perform = choose(op(list[i]), carried[i], is_read[static_cast<size_t>(list[i])]);
      }
      release(i);
      const size_t id = static_cast<size_t>(list[i]);
      if (is_read[id] && row_[id] < 0) {
        row_[id] = state_row(list[i], next, i, last_read, is_read);
        if (row_[id] < 0) {
          if (free.empty()) free.push_back(rows_++);
          row_[id] = free.back();
          free.pop_back();
          is_temporary[id] = 1;
        }
      }
      instruction.result = bytes(list[i]);
      chains.back().push_back(instruction);
    }
    for (Chain& chain : chains) chain.push_back({.perform = finish});
    return chains;
  }

  // Values that are computed for samples and for steps have another row in each.
  void forget(const std::vector<int>& list) {
    for (const int id : list) row_[static_cast<size_t>(id)] = -1;
  }

 private:
  LaneOp op(int id) const { return code_.values[static_cast<size_t>(id)].op; }
  static bool commutes(LaneOp op) {  // in its first two operands
    return op == LaneOp::kAdd || op == LaneOp::kMul || op == LaneOp::kMultiplyAdd ||
           op == LaneOp::kNegativeMultiplyAdd || op == LaneOp::kMultiplySubtract;
  }
  std::array<int, 3> operands_of(int id) const {
    const LaneValue& v = code_.values[static_cast<size_t>(id)];
    return {v.a, v.b, v.c};
  }

  int state_row(int id, const std::vector<int>& next, size_t now, const std::vector<size_t>& last_read,
                const std::vector<char>& is_read) const {
    const auto it = std::find(next.begin(), next.end(), id);
    if (it == next.end()) return -1;
    for (size_t leaf = 0; leaf < code_.values.size(); ++leaf)
      if (code_.values[leaf].op == LaneOp::kState && code_.values[leaf].index == it - next.begin())
        return is_read[leaf] && last_read[leaf] > now ? -1 : row_[leaf];
    return -1;
  }

  const StepCode& code_;
  std::vector<int> row_;
  int rows_ = 0;
};

class LaneKernel final : public Kernel {
 public:
  explicit LaneKernel(const StepCode& code) {
    Assembler assembler(code);
    once_ = assembler.assemble(code.once, code.once);
    sample_ = assembler.assemble(code.sample, code.recorded);
    for (const int id : code.recorded) recorded_.push_back(assembler.offset(id));
    assembler.forget(code.sample);
    step_ = assembler.assemble(code.step, code.next, code.next);
    for (size_t i = 0; i < code.values.size(); ++i) {
      const LaneValue& v = code.values[i];
      if (!is_leaf(v.op) || !assembler.has_row(static_cast<int>(i))) continue;
      const Leaf leaf{v.op, v.index, v.number, assembler.offset(static_cast<int>(i))};
      if (v.op == LaneOp::kDriving || v.op == LaneOp::kStepNumber) step_leaves_.push_back(leaf);
      else if (v.op == LaneOp::kMeasurement) sample_leaves_.push_back(leaf);
      else once_leaves_.push_back(leaf);
      if (v.op != LaneOp::kState) continue;
      states_.push_back(leaf);
      const uint32_t next = assembler.offset(code.next[static_cast<size_t>(v.index)]);
      if (next != leaf.row) moves_.push_back({leaf.row, next});
    }
    frame_size_ = static_cast<size_t>(assembler.rows()) * kRow;
  }

  std::string description() const override { return fmt::format("lane interpreter, {} lanes per vector", kWidth); }

  void run(const KernelBlock& b) const override {
    thread_local AlignedVector<float> memory;
    if (memory.size() < frame_size_) memory.resize(frame_size_);
    float* const frame = memory.data();
    for (int lane = 0; lane < kLanes; lane += kRow) run_lanes(b, lane, frame);
  }

 private:
  struct Leaf {
    LaneOp op;
    int index;
    float number;
    uint32_t row;
  };
  struct Move {
    uint32_t to, from;
  };

  static void copy(float* to, const float* from) {
    for (int p = 0; p < kPairs; ++p) store(to + p * kPairWidth, load_pair(from + p * kPairWidth));
  }
  static void fill(float* to, float number) {
    for (int p = 0; p < kPairs; ++p) store(to + p * kPairWidth, X(number));
  }
  static void perform_all(const std::vector<Chain>& chains, float* frame) {
    for (const Chain& chain : chains) chain[0].perform(chain.data(), frame, F{}, F{}, F{}, F{});
  }

  void run_lanes(const KernelBlock& b, int lane, float* frame) const {
    for (const Leaf& leaf : once_leaves_) {
      float* const row = frame + leaf.row;
      if (leaf.op == LaneOp::kNumber) fill(row, leaf.number);
      else
        copy(row, lane + (leaf.op == LaneOp::kSlot       ? b.slots + leaf.index * kLanes
                          : leaf.op == LaneOp::kState    ? b.state + leaf.index * kLanes
                          : leaf.op == LaneOp::kTimeStep ? b.dt
                                                         : b.time_start));
    }
    perform_all(once_, frame);
    float* out = b.out + lane;
    int64_t phase = b.first_step % b.steps_per_sample, recorded = 0;
    for (int64_t i = 0; i < b.steps; ++i) {
      for (const Leaf& leaf : step_leaves_) {
        if (leaf.op == LaneOp::kDriving) copy(frame + leaf.row, b.driving[leaf.index] + i * kLanes + lane);
        else fill(frame + leaf.row, static_cast<float>(b.first_step + i));
      }
      if (phase == 0) {
        for (const Leaf& leaf : sample_leaves_)
          copy(frame + leaf.row, b.measurement[leaf.index] + recorded * kLanes + lane);
        perform_all(sample_, frame);
        for (const uint32_t row : recorded_) copy(out, frame + row), out += kLanes;
        ++recorded;
      }
      if (++phase == b.steps_per_sample) phase = 0;
      perform_all(step_, frame);
      for (const Move& move : moves_) copy(frame + move.to, frame + move.from);
    }
    for (const Leaf& leaf : states_) copy(b.state + leaf.index * kLanes + lane, frame + leaf.row);
  }

  std::vector<Chain> once_, sample_, step_;
  std::vector<Leaf> once_leaves_, step_leaves_, sample_leaves_, states_;
  std::vector<uint32_t> recorded_;
  std::vector<Move> moves_;  // of next states that could not be computed in place
  size_t frame_size_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> make_lane_kernel(const StepProgram& program) {
  return std::make_unique<LaneKernel>(make_step_code(program));
}

}  // namespace penn
