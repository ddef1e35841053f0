// penn bench infer: trajectories identified per second, beside the stock LSTM of LibTorch. Weights are random: speed does not depend on them.
#include <fmt/format.h>
#include <torch/torch.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>

#include "penn/base/atomic_file.h"
#include "penn/base/files.h"
#include "penn/base/parallel.h"
#include "penn/cli/commands.h"
#include "penn/infer/estimator.h"
#include "penn/network/blas.h"
#include "penn/network/network_file.h"
#include "penn/train/familiarity.h"
#include "penn/train/train_options.h"

namespace penn {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

torch::Tensor tensor_of(const TrajectoryBatch& b, int64_t count) {
  return torch::from_blob(const_cast<float*>(b.z.data()), {count, b.length, b.channels});
}

// A model file with random weights, opened and removed again.
Estimator random_estimator(const SystemChoice& choice, const NetworkOptions& options, const TrajectoryBatch& batch, int threads) {
  PennNetwork network(options);
  network.calibrate(tensor_of(batch, std::min<int64_t>(batch.count, 256)));
  ModelInfo info;
  info.version = version();
  info.system_text = choice.system.text;
  info.observation = choice.system.observations[static_cast<size_t>(choice.observation)].name;
  info.network = network.options();
  info.training = json::object();
  info.lengths = {batch.length, batch.length};
  info.sampling = choice.system.simulation.sampling;
  measure_values({batch}, info.value_low, info.value_high);
  info.on_lattice = find_lattices({batch});
  info.familiarity = measure_familiarity(network, {batch}, {batch});
  const fs::path file = fs::temp_directory_path() / fmt::format("penn-bench-{}.safetensors", getpid());
  save_model(file, info, network);
  ModelFile model = open_model(file);
  Estimator estimator(std::move(model), threads);
  std::error_code ignored;
  fs::remove(file, ignored);
  return estimator;
}

double per_second(int64_t count, const std::function<void()>& work) {
  work();
  double best = 1e30;
  for (int i = 0; i < 3; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return static_cast<double>(count) / best;
}

}  // namespace

int bench_infer(const std::string& what, int given_threads, const std::string& json_file) {
  constexpr int64_t kLength = 1000, kMany = 2048, kFew = 256;
  const int threads = given_threads > 0 ? given_threads : processor_count();
  const bool quiet = json_file == "-";
  const SystemChoice choice = load_system(what);
  set_network_threads(threads);
  torch::manual_seed(1);
  TrainOptions options;
  options.lengths = {kLength, kLength};
  options.preset = "paper";
  const NetworkOptions paper = network_for(options, choice.system, choice.observation);
  options.preset = "fast";
  const NetworkOptions fast = network_for(options, choice.system, choice.observation);
  const TrajectoryBatch batch = simulate_set(choice.system, choice.observation, {.seed = 1, .threads = threads, .length = kLength}, kMany).all;

  json rows = json::array();
  double first = 0;
  const auto report = [&](const char* name, double rate) {
    if (first == 0) first = rate;
    rows.push_back({{"name", name}, {"trajectories_per_second", rate}, {"ratio_to_stock", rate / first}});
    if (!quiet) fmt::print("{:<40} {:>8.0f} trajectories/s  {:>6.1f} x stock\n", name, rate, rate / first);
    std::fflush(stdout);
  };
  {
    torch::NoGradGuard no_grad;
    NetworkOptions stock = paper;
    stock.encoder_settings["lstm"] = {{"kernel", "torch"}};
    PennNetwork network(stock);
    network.calibrate(tensor_of(batch, kFew));
    set_stock_threads(threads, threads);
    report("stock LSTM of LibTorch, as it comes", per_second(kFew, [&] { network.forward(tensor_of(batch, kFew)); }));
    set_stock_threads(1, threads);
    report("stock LSTM of LibTorch, one thread", per_second(kFew, [&] { network.forward(tensor_of(batch, kFew)); }));
    set_network_threads(threads);
  }
  const auto measure = [&](const char* name, const NetworkOptions& network, int64_t count) {
    const Estimator estimator = random_estimator(choice, network, batch, threads);
    report(name, per_second(count, [&] { estimator.estimate(batch.z.data(), count, kLength, batch.sampling.data()); }));
  };
  measure("preset paper, to the mixture", paper, kFew);
  measure("preset fast, to the mixture", fast, kMany);
  const json result = {{"penn", version()}, {"bench", "infer"}, {"system", what}, {"threads", threads}, {"length", kLength}, {"rows", rows}};
  if (quiet) fmt::print("{}\n", result.dump(2));
  else if (!json_file.empty()) write_file_atomically(json_file, result.dump(2) + "\n");
  return 0;
}

}  // namespace penn
