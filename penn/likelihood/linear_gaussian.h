// Linear systems with Gaussian noises, hidden states and measurement noise: a Kalman filter over the scheme itself.
#pragma once

#include "penn/likelihood/family.h"

namespace penn {

Recognised recognise_linear_gaussian(const System& system, int observation, std::string& why_not);

}  // namespace penn
