// What a noise is, in one place: its word in system files, its shapes and their domains, its driver and a slow
// reference. Parser, messages, domain checks, `penn info` and simulator walk this table; a noise is a row of it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "penn/base/random.h"
#include "penn/noise/driver.h"

namespace penn {

// A number that the distribution depends on, constant over a trajectory: alpha, H, a rate.
struct NoiseShape {
  enum Ends { kClosed, kOpen, kOpenLow, kOpenHigh };
  std::string name;
  double low, high;
  Ends ends;

  bool contains(double value) const;        // NaN is nowhere
  std::string domain() const;               // "(0, 2]"
  std::string outside(double value) const;  // "alpha must lie in (0, 2], got 2.5"
};

struct NoiseType {
  std::string name;  // in system files; two noises may have one name if they differ in the number of shapes
  std::vector<NoiseShape> shapes;  // its arguments
  std::string increments;          // what they are, over a time h: one sentence for people
  // A driver for one thread. The grid is that of make_grid(), null without it.
  std::unique_ptr<Driver> (*make_driver)(std::shared_ptr<const NoiseGrid> grid);
  // The first `steps` values of one trajectory: double precision, textbook formulas, the same random words. What the
  // driver is tested against.
  std::vector<double> (*reference)(const RandomKey& key, uint32_t stream, const double* shapes, double dt, int steps);

  // For noises with correlated values: their whole grid exists before the first step.
  std::shared_ptr<const NoiseGrid> (*make_grid)(int64_t steps) = nullptr;
  double grid_bytes = 0, driver_bytes = 0;  // memory per step: shared, and of every driver

  bool is_white() const { return make_grid == nullptr; }
  std::string call() const;  // "stable(alpha)"
};

std::span<const NoiseType* const> noise_types();
// "gaussian(), fractional(H), stable(alpha)"
std::string noise_calls(const std::string& separator = ", ");

}  // namespace penn
