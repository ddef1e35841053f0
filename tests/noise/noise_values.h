// Values of a noise through its driver: a lane group of consecutive trajectories.
#pragma once

#include <memory>
#include <vector>

#include "penn/noise/noise_type.h"

namespace penn {

inline constexpr uint64_t kTestSeed = 5;
inline constexpr uint32_t kTestStream = kNoiseStream + 1;

inline LaneKeys test_keys(uint64_t first_trajectory) {
  LaneKeys keys;
  keys.seed = kTestSeed;
  for (int lane = 0; lane < kLanes; ++lane)
    keys.set(lane, {kTestSeed, first_trajectory + static_cast<uint64_t>(lane), 0});
  return keys;
}

// shapes_of(lane): the shapes of a lane. A driver with a grid gets one of exactly `steps`.
template <class ShapesOf>
std::unique_ptr<Driver> started_driver(const NoiseType& type, uint64_t first_trajectory, int steps, double dt,
                                       ShapesOf shapes_of) {
  auto driver = type.make_driver(type.is_white() ? nullptr : type.make_grid(steps));
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::vector<double> shapes = shapes_of(lane);
    driver->set_lane(lane, shapes.data(), dt);
  }
  driver->start(test_keys(first_trajectory), kTestStream);
  return driver;
}

// (count, kLanes), the same shapes in all lanes.
inline std::vector<float> noise_values(const NoiseType& type, const std::vector<double>& shapes, int count,
                                       double dt = 1, uint64_t first_trajectory = 0, int first = 0) {
  const auto driver = started_driver(type, first_trajectory, first + count, dt, [&](int) { return shapes; });
  const float* values = driver->values(first, count);
  return std::vector<float>(values, values + static_cast<size_t>(count) * kLanes);
}

}  // namespace penn
