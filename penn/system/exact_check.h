// The one place that knows when the exact posterior of a system is known: x' = -x/tau + sqrt(2 D/tau) B' with white
// noise B, started at 0, observed as it is, by Euler-Maruyama with one sampling interval and one burn-in.
#pragma once

#include <string>

#include "penn/system/system.h"

namespace penn {

// "" where the system is that process with these tau and D (expressions of its two parameters); else what is different,
// as the end of a sentence. Expressions are compared at 64 points of the box: a wrong claim would make every comparison
// with the exact posterior wrong.
std::string why_not_relaxation(const System& system, NodeId tau, NodeId D);

}  // namespace penn
