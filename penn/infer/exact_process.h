// The exact posterior of a system that is an Ornstein-Uhlenbeck process with white noise, x' = -x/tau + sqrt(2 D/tau) B', observed
// directly: tau and D are expressions of its two parameters.
#pragma once

#include "penn/density/ou_posterior.h"
#include "penn/system/system.h"

namespace penn {

// SystemError unless the system has exactly two parameters, one state and one channel, a single sampling interval and one fixed burn-in.
OuProcess ou_process(const System& system, int observation, NodeId tau, NodeId D);

}  // namespace penn
