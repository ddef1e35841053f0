// Channels for the learned encoders that heavy tails cannot blow up: asinh of the observation and of its increments over given lags, each in a unit of
// its own.
//   channel 0 of quantity j:  asinh((z_t - centre_j) / unit_j0),   channel k:  asinh((z_t - z_(t - lag_k)) / unit_jk),   0 for t < lag_k
#pragma once

#include <cstdint>
#include <span>

namespace penn {

// One trajectory z (n, d) -> out (n, d (1 + lags)). centre (d), unit (d, 1 + lags).
void robust_channels(const float* z, int64_t n, int64_t d, const float* centre, const float* unit, std::span<const int> lags, float* out);

}  // namespace penn
