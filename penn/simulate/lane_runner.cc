#include "penn/simulate/lane_runner.h"

#include <algorithm>

namespace penn {
namespace {
constexpr int kBlockSteps = 64;  // the noise of one block stays in the first-level cache
}

LaneRunner::LaneRunner(const StepProgram& program, const TrajectorySetup& setup, const Kernel& kernel,
                       const NoiseGrids& grids)
    : p_(program), setup_(setup), kernel_(kernel) {
  const auto make = [&](int noise) {
    const size_t k = static_cast<size_t>(noise);
    return NoiseLanes{k, p_.system->noises[k].type->make_driver(grids[k])};
  };
  for (const int noise : p_.driving_noises) driving_.push_back(make(noise));
  for (const int noise : p_.measurement_noises) measurement_.push_back(make(noise));
  state_.resize(p_.drift.size() * kLanes);
  slots_.resize(p_.slots.size() * kLanes);
  dt_.resize(kLanes);
  time_start_.resize(kLanes);
  out_.resize(kBlockSteps * p_.channels.size() * kLanes);
}

void LaneRunner::prepare(std::span<const Job> jobs, const Output& output) {
  const Simulation& simulation = p_.system->simulation;
  keys_.seed = jobs[0].key.seed;
  for (int lane = 0; lane < kLanes; ++lane) {
    const bool is_spare = lane >= static_cast<int>(jobs.size());  // spare lanes repeat the last job
    const Job& job = is_spare ? jobs.back() : jobs[static_cast<size_t>(lane)];
    keys_.set(lane, job.key);
    setup_.draw(job.key, trajectory_);
    const double dt = trajectory_.sampling / static_cast<double>(simulation.steps_per_sample);
    dt_[lane] = static_cast<float>(dt);
    time_start_[lane] = static_cast<float>(-static_cast<double>(job.burn_in) * trajectory_.sampling);
    for (size_t s = 0; s < trajectory_.initial.size(); ++s)
      state_[s * kLanes + lane] = static_cast<float>(trajectory_.initial[s]);
    for (size_t i = 0; i < trajectory_.slots.size(); ++i)
      slots_[i * kLanes + lane] = static_cast<float>(trajectory_.slots[i]);
    for (NoiseLanes& n : driving_) n.driver->set_lane(lane, trajectory_.shapes[n.noise].data(), dt);
    for (NoiseLanes& n : measurement_) n.driver->set_lane(lane, trajectory_.shapes[n.noise].data(), 1);
    if (is_spare) continue;
    std::copy(trajectory_.theta.begin(), trajectory_.theta.end(),
              output.theta + job.row * static_cast<int64_t>(trajectory_.theta.size()));
    if (output.sampling) output.sampling[job.row] = static_cast<float>(trajectory_.sampling);
  }
  for (auto* list : {&driving_, &measurement_})
    for (NoiseLanes& n : *list) n.driver->start(keys_, kNoiseStream + static_cast<uint32_t>(n.noise));
}

void LaneRunner::copy_samples(std::span<const Job> jobs, const Output& output, int64_t first_sample, int count,
                              std::span<char> failed) const {
  const int64_t d = static_cast<int64_t>(p_.channels.size());
  for (size_t lane = 0; lane < jobs.size(); ++lane) {
    const Job& job = jobs[lane];
    const int64_t begin = std::max(first_sample, job.burn_in),
                  end = std::min(first_sample + count, job.burn_in + output.length);
    if (begin >= end) continue;
    float* row = output.z + (job.row * output.length + begin - job.burn_in) * d;
    const float* column = out_.data() + (begin - first_sample) * d * kLanes + static_cast<int64_t>(lane);
    float check = 0;  // becomes NaN with the first value that is not finite
    for (int64_t i = 0; i < (end - begin) * d; ++i) {
      row[i] = column[i * kLanes];
      check += row[i] - row[i];
    }
    if (check != 0) failed[lane] = 1;
  }
}

void LaneRunner::run(std::span<const Job> jobs, const Output& output, std::span<char> failed) {
  prepare(jobs, output);
  std::fill(failed.begin(), failed.end(), 0);
  int64_t longest = 0;
  for (const Job& job : jobs) longest = std::max(longest, job.burn_in);
  const int64_t m = p_.system->simulation.steps_per_sample;
  // A sample is recorded before the step of its number times m; the step behind the last sample is taken for nothing.
  const int64_t total = (longest + output.length - 1) * m + 1;

  std::vector<const float*> driving(driving_.size()), measurement(measurement_.size());
  for (int64_t step = 0; step < total; step += kBlockSteps) {
    const int count = static_cast<int>(std::min<int64_t>(kBlockSteps, total - step));
    const int64_t first_sample = (step + m - 1) / m;
    const int samples = static_cast<int>((step + count + m - 1) / m - first_sample);
    for (size_t k = 0; k < driving_.size(); ++k) driving[k] = driving_[k].driver->values(step, count);
    for (size_t k = 0; k < measurement_.size(); ++k)
      measurement[k] = measurement_[k].driver->values(first_sample, samples);
    kernel_.run({.state = state_.data(),
                 .slots = slots_.data(),
                 .dt = dt_.data(),
                 .time_start = time_start_.data(),
                 .driving = driving.data(),
                 .measurement = measurement.data(),
                 .out = out_.data(),
                 .first_step = step,
                 .steps = count,
                 .steps_per_sample = m});
    copy_samples(jobs, output, first_sample, samples, failed);
  }
}

}  // namespace penn
