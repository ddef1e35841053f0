// Observations that are noise on a function of time and parameters, without states.
#pragma once

#include "penn/likelihood/family.h"

namespace penn {

Recognised recognise_measured_noise(const System& system, int observation, std::string& why_not);

}  // namespace penn
