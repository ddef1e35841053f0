// Runs lane groups: up to kLanes trajectories side by side, from their setup to the rows of z. One per thread.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "penn/base/aligned.h"
#include "penn/noise/fractional.h"
#include "penn/noise/white.h"
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

// Grids of fractional noise, long enough for one length: on the time steps, and on the samples (measurement noise).
struct FractionalGrids {
  std::shared_ptr<const FractionalGrid> driving, measurement;
};

class LaneRunner {
 public:
  LaneRunner(const StepProgram& program, const TrajectorySetup& setup, const Kernel& kernel,
             const FractionalGrids& grids);

  // At most kLanes jobs. failed[i] is set where job i left the finite numbers; its rows then hold no meaning.
  void run(std::span<const Job> jobs, const Output& output, std::span<char> failed);

 private:
  struct NoiseLanes {
    int noise;  // index into System::noises
    bool is_measurement;
    StableLanes stable;
    alignas(64) double shape[kLanes];
    alignas(64) float scale[kLanes];
    AlignedVector<float> values;  // white: one block; fractional: the whole grid
  };
  void prepare(std::span<const Job> jobs, const Output& output);
  void prepare_noise(NoiseLanes& noise, int lane, const Trajectory& trajectory, double dt);
  // Values first .. first + count - 1 of a noise; the pointer stays valid until the next call.
  const float* noise_block(NoiseLanes& noise, int64_t first, int count);
  void copy_samples(std::span<const Job> jobs, const Output& output, int64_t first_sample, int count,
                    std::span<char> failed) const;

  const StepProgram& p_;
  const TrajectorySetup& setup_;
  const Kernel& kernel_;
  const FractionalGrids& grids_;
  LaneKeys keys_;
  Trajectory trajectory_;
  FractionalGrid::Scratch scratch_;
  std::vector<std::unique_ptr<NoiseLanes>> driving_, measurement_;
  AlignedVector<float> state_, slots_, dt_, time_start_, out_;
};

}  // namespace penn
