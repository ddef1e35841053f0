// Gaussian white noise: the increments of Brownian motion.
#pragma once

#include <cstdint>

#include "penn/noise/noise_type.h"

namespace penn {

const NoiseType& gaussian_noise();

// Standard normal number `step` of a stream, in double precision: Box-Muller from the words the driver uses.
double gaussian_reference(const RandomKey& key, uint32_t stream, uint64_t step);

}  // namespace penn
