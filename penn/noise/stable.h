// Symmetric alpha-stable white noise: the increments of Levy flights.
#pragma once

#include "penn/noise/noise_type.h"

namespace penn {

const NoiseType& stable_noise();

}  // namespace penn
