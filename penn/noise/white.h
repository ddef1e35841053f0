// White noises on a lane group: Gaussian and symmetric alpha-stable increments, each lane with its own scale and alpha.
// Element (i, lane) of the output depends only on (seed, trajectory, attempt, stream, first + i).
#pragma once

#include <cstdint>

#include "penn/noise/lane_group.h"

namespace penn {

// out (count, kLanes) = scale * N(0, 1).
void fill_gaussian(const LaneKeys& keys, uint32_t stream, uint64_t first, int count, const float* scale, float* out);

// Per-lane constants of the Chambers-Mallows-Stuck formula; see white.cc.
struct StableLanes {
  alignas(64) float alpha[kLanes], offset_sine[kLanes], slope_cosine[kLanes], offset_cosine[kLanes];
  alignas(64) float power[kLanes], scale[kLanes];
  void set(int lane, double alpha, double scale);  // alpha in (0, 2]
};

// out (count, kLanes) = scale * S with characteristic function E exp(ikS) = exp(-|k|^alpha); alpha = 2 is N(0, 2).
void fill_stable(const LaneKeys& keys, uint32_t stream, uint64_t first, int count, const StableLanes& law, float* out);

}  // namespace penn
