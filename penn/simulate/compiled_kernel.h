// The kernel as machine code, made once by the compiler of the machine and kept in a cache.
#pragma once

#include "penn/simulate/kernel.h"

namespace penn {

bool has_compiler();  // c++, g++, clang++ or what PENN_CXX names
// Throws Error where there is no working compiler.
std::unique_ptr<Kernel> make_compiled_kernel(const StepProgram& program);

}  // namespace penn
