// A self-contained HTML page with simulated trajectories, drawn as inline SVG; opens from disk, in light and dark.
#pragma once

#include <string>

#include "penn/simulate/simulator.h"

namespace penn {

// The first `count` trajectories of the simulator's seed.
std::string trajectory_page(const Simulator& simulator, int observation, int64_t count);

}  // namespace penn
