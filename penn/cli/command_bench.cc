#include "penn/cli/command_bench.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "penn/base/atomic_file.h"
#include "penn/base/error.h"
#include "penn/base/files.h"
#include "penn/base/parallel.h"
#include "penn/cli/command_bench_accuracy.h"
#include "penn/cli/command_bench_network.h"
#include "penn/cli/outputs.h"
#include "penn/simulate/simulator.h"
#include "penn/system/load_system.h"

namespace penn {
namespace {

using json = nlohmann::ordered_json;

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Timed {
  Timed(const SystemChoice& choice, int threads, KernelChoice kernel, int64_t batch_size, double least_seconds)
      : simulator(choice.system, choice.observation, {.seed = 1, .threads = threads, .kernel = kernel}),
        batch(batch_size),
        seconds(least_seconds) {}
  const Simulator simulator;
  const int64_t batch;    // trajectories of one call
  const double seconds;   // each of the three runs takes at least this long
  double per_second = 0;  // trajectories, the median of three runs
  uint64_t signature = 0;
};

// The runs alternate, so that a busy moment of the machine does not meet one of them alone.
void measure(std::vector<std::unique_ptr<Timed>>& list) {
  std::vector<std::vector<double>> rates(list.size());
  uint64_t first = 0;
  for (int run = 0; run <= 3; ++run) {
    for (size_t k = 0; k < list.size(); ++k) {
      Timed& timed = *list[k];
      std::vector<float> theta(static_cast<size_t>(timed.batch * timed.simulator.parameters()));
      std::vector<float> z(static_cast<size_t>(timed.batch * timed.simulator.length() * timed.simulator.channels()));
      const auto once = [&] {
        timed.simulator.run(first, timed.batch, theta.data(), z.data()), first += static_cast<uint64_t>(timed.batch);
      };
      if (run == 0) {  // warm up, and the signature: the bits of the first 64 trajectories
        first = 0;
        once();
        timed.signature = 0xcbf29ce484222325u;
        const size_t values = static_cast<size_t>(std::min<int64_t>(timed.batch, 64) * timed.simulator.length() *
                                                  timed.simulator.channels());
        for (size_t i = 0; i < values; ++i)
          timed.signature = (timed.signature ^ std::bit_cast<uint32_t>(z[i])) * 0x100000001b3u;
        continue;
      }
      int64_t done = 0;
      double spent = 0;
      while (spent < timed.seconds) spent += seconds_of(once), done += timed.batch;
      rates[k].push_back(static_cast<double>(done) / spent);
    }
  }
  for (size_t k = 0; k < list.size(); ++k) {
    std::sort(rates[k].begin(), rates[k].end());
    list[k]->per_second = rates[k][1];
  }
}

// Mean number of time steps of one trajectory.
double steps_per_trajectory(const System& system, int64_t length) {
  const IntRange burn_in = system.simulation.burn_in;
  return (0.5 * static_cast<double>(burn_in.low + burn_in.high) + static_cast<double>(length) - 1) *
         static_cast<double>(system.simulation.steps_per_sample);
}

int bench_simulate(const std::vector<std::string>& wanted, int threads, double seconds, const std::string& json_file) {
  json rows = json::array();
  uint64_t signature = 0;
  const bool quiet = json_file == "-";
  check_outputs({json_file}, {});
  if (!quiet)
    fmt::print("{:<11} {:>14} {:>10} {:>8} {:>12} {:>12}\n", "system", "trajectories/s", "Msteps/s", "x lanes",
               "x reference", "noise fraction");
  for (const std::string& name : wanted) {
    const SystemChoice choice = load_system(name);
    const int64_t few =
        32 * std::max(1, threads > 0 ? threads
                                     : processor_count());  // for the reference: the same steps on fewer trajectories
    std::vector<std::unique_ptr<Timed>> list;
    list.push_back(std::make_unique<Timed>(choice, threads, KernelChoice::kAutomatic, 2048, seconds));
    list.push_back(std::make_unique<Timed>(choice, threads, KernelChoice::kLanes, 2048, seconds));
    list.push_back(std::make_unique<Timed>(choice, threads, KernelChoice::kNoise, 2048, seconds / 2));
    list.push_back(std::make_unique<Timed>(choice, threads, KernelChoice::kInterpreted, few, 0.01));
    measure(list);
    const Timed &fast = *list[0], &lanes = *list[1], &noise = *list[2], &reference = *list[3];
    const double million_steps = fast.per_second * steps_per_trajectory(choice.system, fast.simulator.length()) / 1e6;
    const double to_lanes = fast.per_second / lanes.per_second, to_reference = fast.per_second / reference.per_second,
                 noise_fraction = fast.per_second / noise.per_second;
    if (!quiet)
      fmt::print("{:<11} {:>14.0f} {:>10.0f} {:>8.2f} {:>12.0f} {:>10.0f} %\n", name, fast.per_second, million_steps,
                 to_lanes, to_reference, 100 * noise_fraction);
    std::fflush(stdout);
    rows.push_back({{"system", name},
                    {"trajectories_per_second", fast.per_second},
                    {"million_steps_per_second", million_steps},
                    {"lanes_trajectories_per_second", lanes.per_second},
                    {"ratio_to_lanes", to_lanes},
                    {"lanes_give_the_same_bits", lanes.signature == fast.signature},
                    {"interpreter_trajectories_per_second", reference.per_second},
                    {"ratio_to_interpreter", to_reference},
                    {"noise_fraction", noise_fraction},
                    {"kernel", fast.simulator.kernel_description()},
                    {"length", fast.simulator.length()}});
    signature = (signature ^ fast.signature) * 0x9e3779b97f4a7c15u;
  }
  const int used = threads > 0 ? threads : processor_count();
  const json result = {{"penn", version()},
                       {"bench", "simulate"},
                       {"threads", used},
                       {"systems", rows},
                       {"signature", fmt::format("{:016x}", signature)}};
  if (quiet) fmt::print("{}\n", result.dump(2));
  else
    fmt::print(
        "{} threads; x lanes: times the speed of the lane interpreter, x reference: of the reference interpreter; "
        "noise fraction: time spent on noise,\n"
        "setup and copying; signature {:016x}\n",
        used, signature);
  if (!json_file.empty() && !quiet) write_file_atomically(json_file, result.dump(2) + "\n");
  return 0;
}

}  // namespace

void add_command_bench(Command& app, Run& run) {
  Command command = app.add_command("bench", "Measure speed and accuracy on this machine");
  command.require_command();
  struct BenchOptions {
    std::vector<std::string> systems = {"soup", "oup", "dvdp", "cfhn:x1x2", "airfoil"};
    int threads = 0;
    double seconds = 1;
    std::string json_file;
  };
  auto options = std::make_shared<BenchOptions>();
  Command simulate =
      command.add_command("simulate", "Trajectories per second of the simulator, beside its interpreters");
  simulate.add_option("SYSTEM", options->systems, "Systems to measure (default: the five shipped ones)");
  simulate.add_option("--threads", options->threads, "Number of threads (default: one per processor)").between(1, 1024);
  simulate.add_option("--seconds", options->seconds, "Time of one measurement; the median of three is reported")
      .between_numbers(0.01, 1000)
      .show_default();
  simulate.add_option("--json", options->json_file, "Write the result as JSON to a file, or to standard output with -");
  simulate.when_chosen([options, &run] {
    run = [options] {
      return bench_simulate(options->systems, options->threads, options->seconds, options->json_file);
    };
  });

  add_bench_network(command, run);
  add_bench_accuracy(command, run);
}

}  // namespace penn
