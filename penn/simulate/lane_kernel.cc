// Runs a StepCode operation by operation over lanes: no compiler is needed, and the bits are those of the compiled
// system. The cost of fetching an instruction is paid once for many lanes, whose values stand side by side in a row of
// the frame (a register of this machine). The result of an instruction stays in vector registers, too: most operations
// take one operand from the operation before, and then it need not go through memory.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "penn/base/aligned.h"
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
  uint32_t result, a, b, c;  // rows: offsets into the frame
};

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

// p0 .. p3 are the lanes of the last result. Every instruction ends with a jump to the next one (a call in tail
// position). `kCarried` is the operand that is the last result, or -1; the others come from the frame. The result goes
// there if `kKept`.
template <LaneOp op, int kCarried, bool kKept>
void perform(const Instruction* at, float* frame, F p0, F p1, F p2, F p3) {
  X last[2] = {{p0, p1}, {p2, p3}};
  for (int p = 0; p < kPairs; ++p) {
    const auto operand = [&](int position, uint32_t row) {
      if (position >= Operation<op>::kOperands) return last[p];  // not used
      return position == kCarried ? last[p] : load_pair(frame + row + p * kPairWidth);
    };
    last[p] = Operation<op>::apply(operand(0, at->a), operand(1, at->b), operand(2, at->c));
    if (kKept) store(frame + at->result + p * kPairWidth, last[p]);
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
  int rows() const { return rows_; }

  // `results` must stand in the frame at the end. next[s], where given, may take the row of state s as soon as nobody
  // needs that any more.
  std::vector<Instruction> assemble(const std::vector<int>& list, const std::vector<int>& results,
                                    const std::vector<int>& next = {}) {
    const size_t n = list.size(), V = code_.values.size();
    std::vector<int> carried(n, -1);
    std::vector<size_t> last_read(V, 0);  // from its row, by the instruction of this number; n: by the caller
    std::vector<char> is_read(V, 0);
    const auto read = [&](int id, size_t when) {
      is_read[static_cast<size_t>(id)] = 1, last_read[static_cast<size_t>(id)] = when;
    };
    for (size_t i = 0; i < n; ++i) {
      const std::array<int, 3> operands = operands_of(list[i]);
      for (int k = 0; k < 3; ++k) {
        if (operands[static_cast<size_t>(k)] < 0) continue;
        if (carried[i] < 0 && i > 0 && operands[static_cast<size_t>(k)] == list[i - 1]) carried[i] = k;
        else read(operands[static_cast<size_t>(k)], i);
      }
    }
    for (const int id : results) read(id, n);

    std::vector<Instruction> instructions;
    std::vector<int> free;
    std::vector<char> is_temporary(V, 0);
    for (size_t i = 0; i < n; ++i) {
      const size_t id = static_cast<size_t>(list[i]);
      const std::array<int, 3> operands = operands_of(list[i]);
      Instruction instruction{choose(code_.values[id].op, carried[i], is_read[id]), 0, offset(operands[0]),
                              offset(operands[1]), offset(operands[2])};
      for (const int operand : operands)  // the row of an operand that is read for the last time can take the result
        if (operand >= 0 && is_temporary[static_cast<size_t>(operand)] &&
            last_read[static_cast<size_t>(operand)] == i) {
          free.push_back(row_[static_cast<size_t>(operand)]);
          is_temporary[static_cast<size_t>(operand)] = 0;
        }
      if (is_read[id] && row_[id] < 0) {
        row_[id] = state_row(list[i], next, i, last_read, is_read);
        if (row_[id] < 0) {
          if (free.empty()) free.push_back(rows_++);
          row_[id] = free.back();
          free.pop_back();
          is_temporary[id] = 1;
        }
      }
      instruction.result = offset(list[i]);
      instructions.push_back(instruction);
    }
    instructions.push_back({finish, 0, 0, 0, 0});
    return instructions;
  }

  // Values that are computed for samples and for steps have another row in each.
  void forget(const std::vector<int>& list) {
    for (const int id : list) row_[static_cast<size_t>(id)] = -1;
  }

 private:
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
  static void perform_all(const std::vector<Instruction>& list, float* frame) {
    list[0].perform(list.data(), frame, F{}, F{}, F{}, F{});
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

  std::vector<Instruction> once_, sample_, step_;
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
