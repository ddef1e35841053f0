#include "penn/cli/command_bench_network.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "penn/base/atomic_file.h"
#include "penn/base/files.h"
#include "penn/base/parallel.h"
#include "penn/cli/outputs.h"
#include "penn/model/estimator.h"
#include "penn/model/measure_typicality.h"
#include "penn/network/lane_tile.h"
#include "penn/system/load_system.h"
#include "penn/train/gradients.h"
#include "penn/train/network_coordinates.h"
#include "penn/train/optimiser.h"

namespace penn {
namespace {

using json = nlohmann::ordered_json;

struct BenchNetworkOptions {
  std::vector<std::string> systems = {"oup"}, presets = {"paper", "fast"};
  std::string json_file;
  int threads = 0;
  int64_t length = 1000, batch = 384;
};

double median_seconds(int repeats, const std::function<void()>& work) {
  work();  // first use: memory, the first basis
  std::vector<double> seconds;
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + repeats / 2, seconds.end());
  return seconds[static_cast<size_t>(repeats / 2)];
}

// Fused multiply-adds in registers on all threads: the machine's peak, to divide by.
double measure_peak_gflops(int threads) {
  constexpr int kSums = 12;  // enough to hide the latency of two units, few enough for 16 registers
  constexpr int kSteps = 2'000'000;
  const double seconds = median_seconds(5, [&] {
    parallel_for(threads, threads, [&](int64_t, int) {
      std::array<lanes::F, kSums> sum;
      for (int i = 0; i < kSums; ++i)
        sum[i] = lanes::splat(0.1f * static_cast<float>(i));  // different, or the compiler keeps only one
      lanes::F factor = lanes::splat(0.999f), term = lanes::splat(1e-3f);
      for (int step = 0; step < kSteps; ++step) {
        asm volatile("" : "+x"(factor), "+x"(term));  // so that the loop is neither shortened nor removed
#pragma GCC unroll 16
        for (int i = 0; i < kSums; ++i) sum[i] = lanes::fma(sum[i], factor, term);
      }
      for (int i = 0; i < kSums; ++i) asm volatile("" : : "x"(sum[i]));
    });
  });
  return 2.0 * kVector * kSums * kSteps * threads / seconds * 1e-9;
}

// Multiplications and additions of the matrix products of one trajectory, forward.
double flops_forward(const Network& network, int64_t length) {
  double sum = network.lstm() ? network.lstm()->shape().flops_forward() * static_cast<double>(length) : 0;
  for (const WeightBlock& block : network.blocks())
    if (block.shape.size() == 2 && block.name.starts_with("decoder.")) sum += 2.0 * static_cast<double>(block.size());
  return sum;
}

struct Preset {
  std::string name;
  NetworkOptions network;
  OptimiserOptions optimiser;
  int repeats;
};

std::vector<Preset> find_presets(const std::vector<std::string>& names, const SystemChoice& choice, int64_t length) {
  std::vector<Preset> list;
  for (const std::string& name : names) {
    TrainOptions options = preset_options(name, choice.system);
    options.lengths = {length, length};
    list.push_back({name, network_for(options, choice.system, choice.observation), optimiser_for(options),
                    name == "paper" ? 3 : 41});
  }
  return list;
}

json train_row(const SystemChoice& choice, const BenchNetworkOptions& o, const Preset& preset,
               const TrajectoryBatch& batch, double simulating, double peak) {
  const int threads = o.threads;
  Network network(preset.network);
  network.set_random_weights(1);
  network.fit_input_scaling(batch.z.data(), batch.count, batch.length, threads);
  Optimiser optimiser(network.blocks(), network.weights(), preset.optimiser);
  Gradients gradients;
  const std::vector<float> theta = NetworkCoordinates(choice.system, preset.network).of({&batch, 1});
  const double seconds = median_seconds(preset.repeats, [&] {
    gradients.compute(network, {&batch, 1}, theta, {.load_balancing = 0.3, .auxiliary = 0.5}, threads);
    optimiser.step(network.weights(), gradients.gradient(), 2e-4, threads);
  });
  const double count = static_cast<double>(batch.count),
               flops = 3 * count * flops_forward(network, batch.length) + optimiser.flops_per_step();
  return {{"preset", preset.name},
          {"trajectories_per_second", count / seconds},
          {"with_simulating_per_second", count / (seconds + simulating)},
          {"simulating_fraction", simulating / (seconds + simulating)},
          {"gflops", flops / seconds * 1e-9},
          {"fraction_of_peak", flops / seconds * 1e-9 / peak}};
}

// An estimator that has learned nothing.
Estimator random_estimator(const SystemChoice& choice, const NetworkOptions& options, const TrajectoryBatch& batch,
                           int threads) {
  Model model{"random", {}, choice.system, choice.observation, Network(options)};
  model.network.set_random_weights(1);
  model.network.fit_input_scaling(batch.z.data(), batch.count, batch.length, threads);
  model.info.network = options;
  model.info.lengths = {batch.length, batch.length};
  model.info.sampling = choice.system.simulation.sampling;
  model.info.typicality = measure_typicality(model.network, {batch}, {batch}, threads);
  return Estimator(std::move(model), threads);
}

json infer_row(const SystemChoice& choice, const BenchNetworkOptions& o, const Preset& preset,
               const TrajectoryBatch& batch, double peak) {
  const Estimator estimator = random_estimator(choice, preset.network, batch, o.threads);
  const double seconds =
      median_seconds(5, [&] { estimator.estimate(batch.z.data(), batch.count, batch.length, batch.sampling.data()); });
  const double count = static_cast<double>(batch.count),
               flops = count * flops_forward(Network(preset.network), batch.length);
  return {{"preset", preset.name},
          {"trajectories_per_second", count / seconds},
          {"gflops", flops / seconds * 1e-9},
          {"fraction_of_peak", flops / seconds * 1e-9 / peak}};
}

int bench(BenchNetworkOptions o, bool is_training) {
  check_outputs({o.json_file}, {});
  if (o.threads < 1) o.threads = processor_count();
  const bool quiet = o.json_file == "-";
  const double peak = measure_peak_gflops(o.threads);
  if (!quiet)
    fmt::print("{} threads, {} lanes, peak {:.0f} GFLOP/s; length {}, {} trajectories at a time\n", o.threads, kVector,
               peak, o.length, o.batch);
  json rows = json::array();
  for (const std::string& name : o.systems) {
    const SystemChoice choice = load_system(name);
    const auto stream = make_fresh_stream(choice.system, choice.observation, {.seed = 1, .threads = o.threads}, o.batch,
                                          {o.length, o.length});
    TrajectoryBatch batch;
    int64_t number = 0;
    const double simulating = median_seconds(5, [&] { stream->fill(number++, batch); });
    for (const Preset& preset : find_presets(o.presets, choice, o.length)) {
      json row = is_training ? train_row(choice, o, preset, batch, simulating, peak)
                             : infer_row(choice, o, preset, batch, peak);
      row["system"] = name;
      rows.push_back(row);
      if (quiet) continue;
      fmt::print("{:<10} {:<6} {:>7.0f} trajectories/s  {:>5.0f} GFLOP/s in matrix products, {:>2.0f} % of peak", name,
                 preset.name, row["trajectories_per_second"].get<double>(), row["gflops"].get<double>(),
                 100 * row["fraction_of_peak"].get<double>());
      if (is_training)
        fmt::print("  {:>6.0f}/s with simulating ({:.0f} % of the time)",
                   row["with_simulating_per_second"].get<double>(), 100 * row["simulating_fraction"].get<double>());
      fmt::print("\n");
      std::fflush(stdout);
    }
  }
  const json result = {{"penn", version()},    {"bench", is_training ? "train" : "infer"},
                       {"threads", o.threads}, {"length", o.length},
                       {"batch", o.batch},     {"peak_gflops", peak},
                       {"rows", rows}};
  if (quiet) fmt::print("{}\n", result.dump(2));
  else if (!o.json_file.empty()) write_file_atomically(o.json_file, result.dump(2) + "\n");
  return 0;
}

}  // namespace

void add_bench_network(Command& command, Run& run) {
  const auto add = [&](const char* name, const char* description, bool is_training) {
    auto o = std::make_shared<BenchNetworkOptions>();
    if (!is_training) o->batch = 2048;
    Command sub = command.add_command(name, description);
    sub.add_option("SYSTEM", o->systems, "Systems whose trajectories are used").show_default();
    sub.add_option("--preset", o->presets, "paper, fast, or both (default)").one_of({"paper", "fast"});
    sub.add_option("--length", o->length, "Samples per trajectory").between(8, 1000000).show_default();
    sub.add_option("--batch", o->batch, "Trajectories at a time").between(2, 1000000).show_default();
    sub.add_option("--threads", o->threads, "Number of threads (default: one per processor)").between(1, 1024);
    sub.add_option("--json", o->json_file, "Write the result as JSON to a file, or to standard output with -");
    sub.when_chosen([o, is_training, &run] { run = [o, is_training] { return bench(*o, is_training); }; });
  };
  add("train", "Trajectories per second of training", true);
  add("infer", "Trajectories identified per second", false);
}

}  // namespace penn
