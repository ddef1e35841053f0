#include "penn/simulate/simulator.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "penn/base/denormals.h"
#include "penn/base/error.h"
#include "penn/base/parallel.h"
#include "penn/simulate/compiled_kernel.h"
#include "penn/simulate/interpreted_kernel.h"
#include "penn/simulate/lane_kernel.h"
#include "penn/simulate/lane_runner.h"

namespace penn {
namespace {

// Given up after this many redraws of one trajectory, or where this many draws in at least ten attempts brought no
// success.
constexpr uint32_t kMostAttempts = 1000, kHopelessAttempts = 10;
constexpr int64_t kHopelessDraws = 200;  // one trajectory alone, of which 19 in 20 diverge, still passes

std::vector<double> fixed_values(const System& system, const std::map<std::string, double>& fixed) {
  const size_t M = system.parameters.size();
  std::vector<double> values(M + system.nuisance.size(), std::nan(""));
  for (const auto& [name, value] : fixed) {
    size_t i = 0;
    while (i < values.size() && (i < M ? system.parameters[i] : system.nuisance[i - M]).name != name) ++i;
    if (i == values.size()) {
      std::vector<std::string> names;
      std::string list;
      for (const auto* parameters : {&system.parameters, &system.nuisance})
        for (const Parameter& p : *parameters) names.push_back(p.name), list += (list.empty() ? "" : ", ") + p.name;
      const std::string close = closest_name(name, names);
      throw UsageError(fmt::format("'{}' is not a parameter of {}", name, system.name),
                       (close.empty() ? "" : fmt::format("did you mean '{}'? ", close)) + "parameters: " + list);
    }
    if (!std::isfinite(static_cast<float>(value)))
      throw UsageError(fmt::format("the value of '{}' must be finite, in float32 too (at most 3.4e38)", name));
    values[i] = value;
  }
  return values;
}

class NoKernel final : public Kernel {
 public:
  void run(const KernelBlock&) const override {}
  std::string description() const override { return "none"; }
};

}  // namespace

struct Simulator::Body {
  Body(const System& given, int observation, const SimulatorOptions& given_options)
      : system(given),
        options(given_options),
        program(make_step_program(system, observation)),
        setup(program, fixed_values(system, options.fixed)) {
    switch (options.kernel) {
      case KernelChoice::kCompiled:
        kernel = make_compiled_kernel(program);
        break;
      case KernelChoice::kLanes:
        kernel = make_lane_kernel(program);
        break;
      case KernelChoice::kInterpreted:
        kernel = make_interpreted_kernel(program);
        break;
      case KernelChoice::kNoise:
        kernel = std::make_unique<NoKernel>();
        break;
      case KernelChoice::kAutomatic:
        try {
          if (has_compiler()) kernel = make_compiled_kernel(program);
        } catch (const Error& error) {
          warning = fmt::format("the lane interpreter is used: {}", error.full_text());
        }
        if (!kernel) kernel = make_lane_kernel(program);
    }
  }

  void set_length(int64_t samples) {
    if (samples < 2) throw UsageError(fmt::format("a trajectory needs at least 2 samples, got {}", samples));
    const int64_t most = system.simulation.burn_in.high + samples;
    NoiseGrids needed(system.noises.size());
    double bytes = 0;
    const auto add = [&](const std::vector<int>& noises, int64_t steps) {
      for (const int k : noises)
        needed[static_cast<size_t>(k)] = grid_for(*system.noises[static_cast<size_t>(k)].type, steps, bytes);
    };
    add(program.driving_noises, (most - 1) * system.simulation.steps_per_sample + 1);
    add(program.measurement_noises, most);
    if (needed != grids) idle_runners.clear();
    grids = std::move(needed);
    length = samples;
  }

  // Runners are kept from one run to the next: with fractional noise each holds megabytes, and training runs every few
  // milliseconds.
  std::unique_ptr<LaneRunner> take_runner() {
    {
      const std::lock_guard lock(runners_mutex);
      if (!idle_runners.empty()) {
        std::unique_ptr<LaneRunner> runner = std::move(idle_runners.back());
        idle_runners.pop_back();
        return runner;
      }
    }
    return std::make_unique<LaneRunner>(program, setup, *kernel, grids);
  }
  void give_back(std::vector<std::unique_ptr<LaneRunner>>& runners) {
    const std::lock_guard lock(runners_mutex);
    for (auto& runner : runners)
      if (runner) idle_runners.push_back(std::move(runner));
  }

  // A grid of at least `steps` for a noise that needs one. Training changes the length with every batch; sizes are
  // rounded up to eight per octave, so that few grids are made, and kept. `bytes` counts the memory of all noises.
  std::shared_ptr<const NoiseGrid> grid_for(const NoiseType& type, int64_t steps, double& bytes) {
    if (type.is_white()) return nullptr;
    constexpr int64_t kMostSteps = 100'000'000;
    bytes += static_cast<double>(steps) * (type.grid_bytes + threads() * type.driver_bytes);
    const double memory = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
    if (steps > kMostSteps || bytes > 0.8 * memory)
      throw UsageError(fmt::format("{} steps of {} noise are too many: they need about {:.1f} GB of memory", steps,
                                   type.name, bytes / 1e9),
                       "use a shorter length, a shorter burn-in, a larger step or fewer threads");
    const int64_t size =
        static_cast<int64_t>(std::ceil(std::exp2(std::ceil(8 * std::log2(static_cast<double>(steps))) / 8)));
    std::shared_ptr<const NoiseGrid>& grid = made_grids[{&type, size}];
    if (!grid) grid = type.make_grid(size);
    return grid;
  }

  int threads() const { return options.threads > 0 ? options.threads : processor_count(); }

  const System system;
  const SimulatorOptions options;
  const StepProgram program;
  const TrajectorySetup setup;
  std::unique_ptr<Kernel> kernel;
  std::string warning;
  NoiseGrids grids;
  std::map<std::pair<const NoiseType*, int64_t>, std::shared_ptr<const NoiseGrid>> made_grids;
  std::mutex runners_mutex;
  std::vector<std::unique_ptr<LaneRunner>> idle_runners;
  int64_t length = 0;
};

Simulator::Simulator(const System& system, int observation, const SimulatorOptions& options)
    : body_(std::make_unique<Body>(system, observation, options)) {
  set_length(options.length > 0 ? options.length : system.simulation.length.high);
}

Simulator::~Simulator() = default;

int64_t Simulator::parameters() const {
  return static_cast<int64_t>(body_->system.parameters.size());
}
int64_t Simulator::channels() const {
  return static_cast<int64_t>(body_->program.channels.size());
}
int64_t Simulator::length() const {
  return body_->length;
}
const System& Simulator::system() const {
  return body_->system;
}
std::string Simulator::kernel_description() const {
  return body_->kernel->description();
}
const std::string& Simulator::kernel_warning() const {
  return body_->warning;
}
void Simulator::set_length(int64_t samples) {
  body_->set_length(samples);
}

SimulationCount Simulator::run(uint64_t first, int64_t count, float* theta, float* z, float* sampling) const {
  const Output output{body_->length, theta, z, sampling};
  const int threads = body_->threads();
  std::vector<Job> jobs(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    jobs[static_cast<size_t>(i)] = {{body_->options.seed, first + static_cast<uint64_t>(i), 0}, i, 0};

  std::vector<std::unique_ptr<LaneRunner>> runners(static_cast<size_t>(threads));
  SimulationCount result;
  for (uint32_t attempt = 0; !jobs.empty(); ++attempt) {
    for (Job& job : jobs) job.burn_in = body_->setup.burn_in(job.key);
    // Lanes of a group run until the last of them is done, so trajectories of like length go together.
    std::stable_sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) { return a.burn_in < b.burn_in; });
    std::vector<char> failed(jobs.size());
    const int64_t groups = (static_cast<int64_t>(jobs.size()) + kLanes - 1) / kLanes;
    parallel_for(groups, threads, [&](int64_t group, int thread) {
      const FlushDenormals flush;
      auto& runner = runners[static_cast<size_t>(thread)];
      if (!runner) runner = body_->take_runner();
      const size_t begin = static_cast<size_t>(group) * kLanes, size = std::min<size_t>(kLanes, jobs.size() - begin);
      runner->run(std::span(jobs).subspan(begin, size), output, std::span(failed).subspan(begin, size));
    });
    std::vector<Job> again;
    for (size_t i = 0; i < jobs.size(); ++i) {
      if (!failed[i]) continue;
      again.push_back(jobs[i]);
      ++again.back().key.attempt;
    }
    result.discarded += static_cast<int64_t>(again.size());
    result.kept += static_cast<int64_t>(jobs.size() - again.size());
    jobs = std::move(again);
    if (jobs.empty()) body_->give_back(runners);
    const bool is_hopeless =
        !jobs.empty() && (attempt + 1 >= kMostAttempts ||
                          (attempt + 1 >= kHopelessAttempts && result.kept == 0 && result.discarded >= kHopelessDraws));
    if (is_hopeless)
      throw SystemError(
          fmt::format("{}: trajectory {} left the finite numbers {} times in a row ({:.1f} % of all draws did)",
                      body_->system.source_name, jobs[0].key.trajectory, attempt + 1,
                      100 * result.discarded_fraction()),
          "use a smaller step or narrower ranges, and check the signs of the equations");
  }
  return result;
}

}  // namespace penn
