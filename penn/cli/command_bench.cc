// penn bench: speed as ratios against a named alternative, measured in the same run.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "penn/base/atomic_file.h"
#include "penn/base/error.h"
#include "penn/base/files.h"
#include "penn/base/parallel.h"
#include "penn/cli/commands.h"
#include "penn/cli/outputs.h"
#include "penn/simulate/simulator.h"

namespace penn {
namespace {

using json = nlohmann::ordered_json;

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Timed {
  double per_second = 0;  // trajectories, the median of three runs
  uint64_t signature = 0;
};

// Trajectories per second; each of the three runs takes at least `seconds`.
Timed measure(const Simulator& simulator, int64_t batch, double seconds) {
  std::vector<float> theta(static_cast<size_t>(batch * simulator.parameters()));
  std::vector<float> z(static_cast<size_t>(batch * simulator.length() * simulator.channels()));
  uint64_t first = 0;
  const auto once = [&] { simulator.run(first, batch, theta.data(), z.data()), first += static_cast<uint64_t>(batch); };
  once();  // warm up, and the signature: the bits of the first 64 trajectories
  Timed result{0, 0xcbf29ce484222325u};
  const size_t values = static_cast<size_t>(std::min<int64_t>(batch, 64) * simulator.length() * simulator.channels());
  for (size_t i = 0; i < values; ++i) {
    uint32_t bits;
    std::memcpy(&bits, &z[i], sizeof bits);
    result.signature = (result.signature ^ bits) * 0x100000001b3u;
  }
  std::vector<double> rates;
  for (int run = 0; run < 3; ++run) {
    int64_t done = 0;
    double spent = 0;
    while (spent < seconds) spent += seconds_of(once), done += batch;
    rates.push_back(static_cast<double>(done) / spent);
  }
  std::sort(rates.begin(), rates.end());
  result.per_second = rates[1];
  return result;
}

// Mean number of time steps of one trajectory.
double steps_per_trajectory(const System& system, int64_t length) {
  const IntRange burn_in = system.simulation.burn_in;
  return (0.5 * static_cast<double>(burn_in.low + burn_in.high) + static_cast<double>(length) - 1) * static_cast<double>(system.simulation.steps_per_sample);
}

int bench_simulate(const std::vector<std::string>& wanted, int threads, double seconds, const std::string& json_file) {
  json rows = json::array();
  uint64_t signature = 0;
  const bool quiet = json_file == "-";
  check_outputs({json_file}, {});
  if (!quiet) fmt::print("{:<11} {:>14} {:>14} {:>15} {:>12}\n", "system", "trajectories/s", "Msteps/s", "x interpreter", "noise share");
  for (const std::string& name : wanted) {
    const SystemChoice choice = load_system(name);
    SimulatorOptions options{.seed = 1, .threads = threads};
    const Simulator simulator(choice.system, choice.observation, options);
    const Timed fast = measure(simulator, 2048, seconds);
    options.kernel = KernelChoice::kNoise;
    const Timed noise = measure(Simulator(choice.system, choice.observation, options), 2048, seconds / 2);
    // The interpreter takes the same steps on fewer trajectories.
    options.kernel = KernelChoice::kInterpreted;
    const Timed slow = measure(Simulator(choice.system, choice.observation, options), 32 * std::max(1, threads > 0 ? threads : processor_count()), 0.01);
    const double million_steps = fast.per_second * steps_per_trajectory(choice.system, simulator.length()) / 1e6;
    const double ratio = fast.per_second / slow.per_second, noise_share = fast.per_second / noise.per_second;
    if (!quiet) fmt::print("{:<11} {:>14.0f} {:>14.0f} {:>15.0f} {:>10.0f} %\n", name, fast.per_second, million_steps, ratio, 100 * noise_share);
    std::fflush(stdout);
    rows.push_back({{"system", name}, {"trajectories_per_second", fast.per_second}, {"million_steps_per_second", million_steps},
                    {"interpreter_trajectories_per_second", slow.per_second}, {"ratio_to_interpreter", ratio}, {"noise_share", noise_share},
                    {"kernel", simulator.kernel_description()}, {"length", simulator.length()}});
    signature = (signature ^ fast.signature) * 0x9e3779b97f4a7c15u;
  }
  const int used = threads > 0 ? threads : processor_count();
  const json result = {{"penn", version()}, {"bench", "simulate"}, {"threads", used}, {"systems", rows}, {"signature", fmt::format("{:016x}", signature)}};
  if (quiet) fmt::print("{}\n", result.dump(2));
  else fmt::print("{} threads; noise share: time spent on noise, setup and copying; signature {:016x}\n", used, signature);
  if (!json_file.empty() && !quiet) write_file_atomically(json_file, result.dump(2) + "\n");
  return 0;
}

}  // namespace

void add_command_bench(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("bench", "Measure speed on this machine");
  command->require_subcommand(1);
  struct Options {
    std::vector<std::string> systems = {"soup", "oup", "dvdp", "cfhn:x1x2", "airfoil"};
    int threads = 0;
    double seconds = 1;
    std::string json_file;
  };
  auto options = std::make_shared<Options>();
  CLI::App* simulate = command->add_subcommand("simulate", "Trajectories per second of the simulator, beside its interpreter");
  simulate->add_option("SYSTEM", options->systems, "Systems to measure (default: the five shipped ones)");
  simulate->add_option("--threads", options->threads, "Number of threads (default: one per processor)")->check(CLI::Range(1, 1024));
  simulate->add_option("--seconds", options->seconds, "Time of one measurement; the median of three is reported")->check(CLI::Range(0.01, 1000.0))->capture_default_str();
  simulate->add_option("--json", options->json_file, "Write the result as JSON to a file, or to standard output with -");
  simulate->callback([options, &run] { run = [options] { return bench_simulate(options->systems, options->threads, options->seconds, options->json_file); }; });

#ifdef PENN_HAVE_TORCH
  struct NetworkBench {
    std::string system = "oup", json_file;
    int threads = 0;
  };
  const auto add = [&](const char* name, const char* description, auto bench) {
    auto chosen = std::make_shared<NetworkBench>();
    CLI::App* sub = command->add_subcommand(name, description);
    sub->add_option("SYSTEM", chosen->system, "System whose trajectories are used")->capture_default_str();
    sub->add_option("--threads", chosen->threads, "Number of threads (default: one per processor)")->check(CLI::Range(1, 1024));
    sub->add_option("--json", chosen->json_file, "Write the result as JSON to a file, or to standard output with -");
    sub->callback([chosen, bench, &run] {
      run = [chosen, bench] {
        check_outputs({chosen->json_file}, {});
        return bench(chosen->system, chosen->threads, chosen->json_file);
      };
    });
  };
  add("train", "Trajectories per second of training, beside the stock LSTM of LibTorch", bench_train);
  add("infer", "Trajectories identified per second, beside the stock LSTM of LibTorch", bench_infer);
#else
  command->add_subcommand("train", "Trajectories per second of training, beside the stock LSTM of LibTorch");
  command->add_subcommand("infer", "Trajectories identified per second, beside the stock LSTM of LibTorch");
#endif
}

}  // namespace penn
