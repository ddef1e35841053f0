// A lane group: kLanes trajectories that are advanced together, and the keys of their random numbers.
#pragma once

#include <cstdint>

#include "penn/base/random.h"

namespace penn {

inline constexpr int kLanes = 32;

struct LaneKeys {
  uint64_t seed = 0;
  alignas(64) uint32_t trajectory_low[kLanes] = {};
  alignas(64) uint32_t trajectory_high[kLanes] = {};
  alignas(64) uint32_t attempt[kLanes] = {};

  void set(int lane, const RandomKey& key) {
    trajectory_low[lane] = static_cast<uint32_t>(key.trajectory);
    trajectory_high[lane] = static_cast<uint32_t>(key.trajectory >> 32);
    attempt[lane] = key.attempt;
  }
  RandomKey at(int lane) const {
    return {seed, uint64_t{trajectory_high[lane]} << 32 | trajectory_low[lane], attempt[lane]};
  }
};

}  // namespace penn
