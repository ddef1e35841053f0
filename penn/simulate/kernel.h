// A kernel advances one lane group by some time steps and records observations. Three implementations: compiled code,
// the lane interpreter (the same operations on the same lanes, and so the same bits, without a compiler) and the
// reference (slow, double precision).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "penn/simulate/step_program.h"

namespace penn {

// One call of a kernel. L = kLanes throughout. kernel_source.cc prints the same struct into compiled code: change both
// together.
struct KernelBlock {
  float* state;                     // (states, L), read and written
  const float* slots;               // (slots, L)
  const float* dt;                  // (L) time step
  const float* time_start;          // (L) time of step 0
  const float* const* driving;      // per driving noise: (steps, L) increments
  const float* const* measurement;  // per measurement noise: (samples recorded, L) standard draws
  float* out;                       // (samples recorded, channels, L); NaN where the state is not finite
  int64_t first_step;               // since the start of the trajectory
  int64_t steps;                    // to take
  int64_t steps_per_sample;         // an observation is recorded before every step whose number is a multiple of this
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual void run(const KernelBlock& block) const = 0;
  virtual std::string description() const = 0;  // "compiled by g++, 8 lanes per vector"
};

}  // namespace penn
