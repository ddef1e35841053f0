// One linear state driven by stable noise, or by fractional and white noise, with any number of steps per sample.
#pragma once

#include "penn/likelihood/family.h"

namespace penn {

Recognised recognise_linear_state(const System& system, int observation, std::string& why_not);

}  // namespace penn
