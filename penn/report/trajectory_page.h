// The page of `penn simulate --page`: simulated trajectories with their parameters, drawn by web/.
#pragma once

#include <string>

#include "penn/simulate/simulator.h"

namespace penn {

// The first `count` trajectories of the simulator's seed.
std::string trajectory_page(const Simulator& simulator, int observation, int64_t count);

// The data of that page: {"kind": "simulation", ...} of web/README.md.
std::string trajectory_page_json(const Simulator& simulator, int observation, int64_t count);

}  // namespace penn
