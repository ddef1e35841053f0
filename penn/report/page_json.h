// What several pages carry in the same form: parameters with their boxes, and a trajectory thinned to what a screen can
// show.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "penn/system/system.h"

namespace penn {

// [{name, label, low, high}]
nlohmann::ordered_json parameters_json(const System& system);

// {t0, sampling, channels, values: d lists} of z (n, d). Of a long trajectory the smallest and the largest sample of
// each stretch are kept, in their order: a jump of one sample must show. "thinned" then says so.
nlohmann::ordered_json trajectory_json(const float* z, int64_t n, double sampling, const Observation& observation);

}  // namespace penn
