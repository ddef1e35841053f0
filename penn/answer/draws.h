// Posterior draws as a CSV file in the manner of CmdStan: '#' lines that say how it was made, then lp__ and the
// parameters. Draws are independent and cut to the box; lp__ is the log density of the posterior cut to the box. Memory
// does not grow with their number.
#pragma once

#include <cstdint>
#include <filesystem>

#include "penn/answer/inference.h"

namespace penn {

void write_draws(const std::filesystem::path& path, const Inference& inference, int64_t samples, uint64_t seed);

}  // namespace penn
