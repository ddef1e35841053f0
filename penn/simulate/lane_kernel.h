// The lane interpreter: the compiled kernel's operations on the same lanes, and so the same bits, without a compiler.
#pragma once

#include "penn/simulate/kernel.h"

namespace penn {

std::unique_ptr<Kernel> make_lane_kernel(const StepProgram& program);

}  // namespace penn
