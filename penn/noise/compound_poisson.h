// Compound Poisson white noise: `compound_poisson(rate)`. Jumps come at random, on average `rate` per unit of time;
// each is a standard normal number, and the coefficient in the equation is its size.
#pragma once

#include "penn/noise/noise_type.h"

namespace penn {

const NoiseType& compound_poisson_noise();

}  // namespace penn
