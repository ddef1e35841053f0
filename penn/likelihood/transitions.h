// Every state observed and one step per sample: a product of transition densities.
#pragma once

#include "penn/likelihood/family.h"

namespace penn {

Recognised recognise_transitions(const System& system, int observation, std::string& why_not);

}  // namespace penn
