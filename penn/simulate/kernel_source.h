// The C++ of a step program, which compiled_kernel.h compiles.
#pragma once

#include "penn/simulate/kernel.h"

namespace penn {

std::string kernel_source(const StepProgram& program);  // the C++ that make_compiled_kernel compiles

}  // namespace penn
