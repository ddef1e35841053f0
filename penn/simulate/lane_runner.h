// Runs lane groups: up to kLanes trajectories side by side, from their setup to the rows of z. One per thread.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "penn/base/aligned.h"
#include "penn/noise/driver.h"
#include "penn/simulate/kernel.h"
#include "penn/simulate/trajectory_setup.h"

namespace penn {

struct Job {
  RandomKey key;
  int64_t row = 0;      // of theta, z and sampling
  int64_t burn_in = 0;  // jobs of one group should have similar ones
};

struct Output {
  int64_t length;   // samples per trajectory
  float* theta;     // (rows, M)
  float* z;         // (rows, length, channels)
  float* sampling;  // (rows) or null
};

// For every noise of the system its grid, long enough for one length; null where it needs none.
using NoiseGrids = std::vector<std::shared_ptr<const NoiseGrid>>;

class LaneRunner {
 public:
  LaneRunner(const StepProgram& program, const TrajectorySetup& setup, const Kernel& kernel, const NoiseGrids& grids);

  // At most kLanes jobs. failed[i] is set where job i left the finite numbers; its rows then hold no meaning.
  void run(std::span<const Job> jobs, const Output& output, std::span<char> failed);

 private:
  struct NoiseLanes {
    size_t noise;  // index into System::noises
    std::unique_ptr<Driver> driver;
  };
  void prepare(std::span<const Job> jobs, const Output& output);
  void copy_samples(std::span<const Job> jobs, const Output& output, int64_t first_sample, int count,
                    std::span<char> failed) const;

  const StepProgram& p_;
  const TrajectorySetup& setup_;
  const Kernel& kernel_;
  LaneKeys keys_;
  Trajectory trajectory_;
  std::vector<NoiseLanes> driving_, measurement_;
  AlignedVector<float> state_, slots_, dt_, time_start_, out_;
};

}  // namespace penn
