// The one interface of all noises to the simulator: a driver makes the values of one noise for one lane group after the
// other, on one thread. Values are increments of the driving process over a time dt. A measurement noise is the same
// with dt = 1: one draw per sample.
#pragma once

#include <cstdint>

#include "penn/noise/lane_group.h"

namespace penn {

class Driver {
 public:
  virtual ~Driver() = default;

  // Shapes (each in its domain) and time step of a lane. How increments scale with dt is the noise's own affair.
  virtual void set_lane(int lane, const double* shapes, double dt) = 0;
  // Begins a group, when all lanes are set.
  virtual void start(const LaneKeys& keys, uint32_t stream) = 0;
  // (count, kLanes): values first .. first + count - 1 of every lane, valid until the next call. Value i of a lane
  // depends on its key, the stream, its shapes, dt and i alone: on neither neighbours nor how the range is cut.
  virtual const float* values(int64_t first, int count) = 0;
};

// What a noise with correlated values needs to know about a number of steps; made once, shared by threads.
class NoiseGrid {
 public:
  virtual ~NoiseGrid() = default;
  virtual int64_t steps() const = 0;
};

}  // namespace penn
