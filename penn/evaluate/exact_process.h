// The exact posterior of a system that is an Ornstein-Uhlenbeck process with white noise, x' = -x/tau + sqrt(2 D/tau)
// B', observed directly: tau and D are expressions of its two parameters.
#pragma once

#include "penn/posterior/ou_posterior.h"
#include "penn/system/system.h"

namespace penn {

// SystemError unless the system is that process (penn/system/exact_check.h).
OuProcess ou_process(const System& system, NodeId tau, NodeId D);

}  // namespace penn
