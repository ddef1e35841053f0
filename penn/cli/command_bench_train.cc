// penn bench train: trajectories per second of training, beside the stock LSTM of LibTorch.
#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>

#include "penn/base/atomic_file.h"
#include "penn/base/files.h"
#include "penn/base/parallel.h"
#include "penn/cli/commands.h"
#include "penn/dataset/batch_stream.h"
#include "penn/network/blas.h"
#include "penn/kernel/lstm_shape.h"
#include "penn/network/penn_network.h"
#include "penn/train/learn.h"
#include "penn/train/optimiser.h"
#include "penn/train/train_options.h"

namespace penn {
namespace {

using json = nlohmann::ordered_json;

double median_seconds(int repeats, const std::function<void()>& work) {
  work();  // first use: memory, primitives
  std::vector<double> seconds;
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + repeats / 2, seconds.end());
  return seconds[static_cast<size_t>(repeats / 2)];
}

// One training step on a simulated batch: forward, backward, optimiser.
double step_seconds(const NetworkOptions& options, const OptimiserOptions& with, const TrajectoryBatch& batch, int repeats) {
  torch::manual_seed(1);
  PennNetwork network(options);
  const torch::Tensor z = torch::from_blob(const_cast<float*>(batch.z.data()), {batch.count, batch.length, batch.channels});
  const torch::Tensor theta = torch::rand({batch.count, options.mixture.parameters}) * 2 - 1;
  network.calibrate(z);
  Optimiser optimiser(network.parameters(), with);
  return median_seconds(repeats, [&] {
    learn(network, network.embedding(z), theta);
    optimiser.step(2e-4);
  });
}

}  // namespace

int bench_train(const std::string& what, int given_threads, const std::string& json_file) {
  constexpr int64_t kBatch = 256, kLength = 1000;
  const int threads = given_threads > 0 ? given_threads : processor_count();
  const SystemChoice choice = load_system(what);
  const bool quiet = json_file == "-";
  set_network_threads(threads);
  const double peak = measure_peak_gflops(), dense = measure_gemm_gflops();
  if (!quiet) fmt::print("{}\npeak {:.0f} GFLOP/s; dense layer (256 x 512) x (512 x 512) {:.0f} GFLOP/s, {:.0f} % of it\n\n", blas_report(), peak, dense, 100 * dense / peak);

  const auto stream = make_fresh_stream(choice.system, choice.observation, {.seed = 1, .threads = threads}, kBatch, {kLength, kLength});
  TrajectoryBatch batch;
  int64_t number = 0;
  const double simulating = median_seconds(5, [&] { stream->fill(number++, batch); });

  TrainOptions options;
  options.lengths = {kLength, kLength};
  options.preset = "paper";
  const NetworkOptions paper = network_for(options, choice.system, choice.observation);
  const TrainOptions fast_options = preset_options("fast", choice.system);
  options.preset = "fast";
  const NetworkOptions fast = network_for(options, choice.system, choice.observation);
  NetworkOptions stock = paper;
  stock.encoder_settings["lstm"] = {{"kernel", "torch"}};
  const double lstm_flops = 3 * lstm_flops_forward({static_cast<int>(kBatch), static_cast<int>(kLength), static_cast<int>(batch.channels), 50, 4});

  json rows = json::array();
  double stock_rate = 0, best_stock_rate = 0;
  const auto measure = [&](const char* name, const NetworkOptions& network, const OptimiserOptions& optimiser, int repeats, double flops) {
    const double seconds = step_seconds(network, optimiser, batch, repeats), rate = kBatch / seconds, whole = kBatch / (seconds + simulating);
    if (stock_rate == 0) stock_rate = rate;
    if (network == stock) best_stock_rate = std::max(best_stock_rate, rate);
    json row = {{"name", name}, {"trajectories_per_second", rate}, {"ratio_to_stock", rate / stock_rate}, {"ratio_to_best_stock", rate / best_stock_rate},
                {"with_simulating_per_second", whole},
                {"simulating_share", simulating / (seconds + simulating)}};
    if (flops > 0) row["gflops"] = flops / seconds * 1e-9, row["share_of_peak"] = flops / seconds * 1e-9 / peak;
    rows.push_back(row);
    if (quiet) return;
    fmt::print("{:<34} {:>7.0f} trajectories/s  {:>6.1f} x stock  {:>6.1f} x best stock  {:>6.0f}/s with simulating ({:.0f} % of the time)", name, rate, rate / stock_rate,
               rate / best_stock_rate, whole, 100 * simulating / (seconds + simulating));
    if (flops > 0) fmt::print("  {:.0f} GFLOP/s, {:.0f} % of peak", flops / seconds * 1e-9, 100 * flops / seconds * 1e-9 / peak);
    fmt::print("\n");
    std::fflush(stdout);
  };
  // As it comes, LibTorch's threads and OpenBLAS's wait for each other in busy loops; a user who knows gives LibTorch one.
  set_stock_threads(threads, threads);
  measure("stock LSTM of LibTorch, as it comes", stock, {}, 1, lstm_flops);
  set_stock_threads(1, threads);
  measure("stock LSTM of LibTorch, one thread", stock, {}, 1, lstm_flops);
  set_network_threads(threads);
  measure("preset paper", paper, {}, 3, lstm_flops);
  measure("preset fast", fast, optimiser_for(fast_options), 15, 0);
  const json result = {{"penn", version()}, {"bench", "train"}, {"system", what}, {"threads", threads}, {"length", kLength}, {"batch", kBatch},
                       {"peak_gflops", peak}, {"dense_gflops", dense}, {"blas", blas_report()}, {"rows", rows}};
  if (quiet) fmt::print("{}\n", result.dump(2));
  else if (!json_file.empty()) write_file_atomically(json_file, result.dump(2) + "\n");
  return 0;
}

}  // namespace penn
