// Where training gets its pairs from: batch number `step` is a pure function of the seed and the step, so that a
// resumed training sees exactly what an uninterrupted one would.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "penn/simulate/simulator.h"

namespace penn {

struct TrajectoryBatch {
  int64_t count = 0, length = 0, channels = 0;
  std::vector<float> theta;          // (count, M), the parameters' own units
  std::vector<float> z;              // (count, length, channels)
  std::vector<float> sampling;       // (count)
  std::vector<float> features = {};  // (count, F), standardised, where they have been computed before; else empty
};

class BatchStream {
 public:
  virtual ~BatchStream() = default;
  virtual void fill(int64_t step, TrajectoryBatch& batch) = 0;
  virtual int64_t steps_per_epoch() const { return 0; }  // 0: there are no epochs
  virtual SimulationCount count() const = 0;             // simulated so far (by this process)
};

// New trajectories for every batch, all of one length drawn log-uniformly from [shortest, longest]. Of `strata` batches
// in a row each has its own part of that range.
std::unique_ptr<BatchStream> make_fresh_stream(const System& system, int observation, const SimulatorOptions& options,
                                               int64_t batch, IntRange lengths, int64_t strata = 1);

// A fixed set: simulated once (`size` trajectories) or read from a directory of `penn simulate`; shuffled again in
// every epoch. Batches have what the set has: trajectories, features or both. Throws UsageError where the batch is
// larger than the set, DataError where the directory does not fit the system.
struct FixedSet {
  TrajectoryBatch all;
  SimulationCount count;
};
FixedSet simulate_set(const System& system, int observation, const SimulatorOptions& options, int64_t size);
std::unique_ptr<BatchStream> make_fixed_stream(std::shared_ptr<const FixedSet> set, int64_t batch, uint64_t seed);

}  // namespace penn
