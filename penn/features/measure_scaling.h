// The units of every channel, from training trajectories: quantiles of values and of their differences, pooled over
// trajectories and times.
#pragma once

#include "penn/features/summary.h"

namespace penn {

// z (B, n, d). Looks at up to half a million values, spread evenly. DataError where z is too short or holds numbers
// that are not finite.
SummaryScaling measure_scaling(const float* z, int64_t B, int64_t n, int64_t d);

}  // namespace penn
