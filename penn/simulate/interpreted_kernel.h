// The reference kernel: every operation by the definition, in double precision, one lane after the other.
#pragma once

#include "penn/simulate/kernel.h"

namespace penn {

std::unique_ptr<Kernel> make_interpreted_kernel(
    const StepProgram& program);  // the reference; `program` must outlive the kernel

}  // namespace penn
