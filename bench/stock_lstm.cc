// Our presets beside LibTorch's own LSTM, in training and inference, in one run on the same trajectories: stock_lstm
// [SYSTEM [THREADS]]. The stock network is the paper's: an LSTM of 4 layers of 50, mean over time, 6 residual blocks of
// width 100, Adam. Its loss is a mean square, which costs nothing; ours is the whole mixture.
//
// LibTorch is measured twice: as it comes, and with at::set_num_threads(1): its own threads and OpenBLAS's wait for
// each other in busy loops, so that one thread of LibTorch (OpenBLAS keeps all of its own) is often the faster.
// Debian's OpenBLAS may choose old code for a processor it does not know (it says Prescott); to be fair set
//   OPENBLAS_CORETYPE=SkylakeX (AVX-512) or Haswell (AVX2)
// in the environment. The first line says which code it uses.
#include <dlfcn.h>
#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "penn/base/parallel.h"
#include "penn/model/estimator.h"
#include "penn/model/measure_typicality.h"
#include "penn/system/load_system.h"
#include "penn/train/gradients.h"
#include "penn/train/network_coordinates.h"
#include "penn/train/optimiser.h"

namespace penn {
namespace {

constexpr int64_t kLength = 1000, kBatch = 256, kMany = 2048;

double median_seconds(int repeats, const std::function<void()>& work) {
  work();  // first use: memory, plans, the first basis
  std::vector<double> seconds;
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + repeats / 2, seconds.end());
  return seconds[static_cast<size_t>(repeats / 2)];
}

struct StockNetwork : torch::nn::Module {
  torch::nn::LSTM lstm{nullptr};
  std::vector<torch::nn::Linear> layers;  // three of each block
  torch::nn::Linear skip{nullptr}, last{nullptr};
  StockNetwork(int64_t channels, int64_t outputs) {
    lstm =
        register_module("lstm", torch::nn::LSTM(torch::nn::LSTMOptions(channels, 50).num_layers(4).batch_first(true)));
    for (int i = 0; i < 18; ++i)
      layers.push_back(register_module("l" + std::to_string(i), torch::nn::Linear(i == 0 ? 50 : 100, 100)));
    skip = register_module("skip", torch::nn::Linear(50, 100));
    last = register_module("last", torch::nn::Linear(100, outputs));
  }
  torch::Tensor forward(const torch::Tensor& x) {
    torch::Tensor u = std::get<0>(lstm(x)).mean(1);
    for (size_t block = 0; block < 6; ++block) {
      torch::Tensor v = u;
      for (size_t i = 3 * block; i < 3 * block + 3; ++i) v = torch::elu(layers[i](v));
      u = v + (block == 0 ? skip(u) : u);
    }
    return last(u);
  }
};

class Table {
 public:
  explicit Table(const char* title) { fmt::print("\n{}\n", title); }
  void row(const char* name, double rate, bool is_stock) {
    if (is_stock) as_it_comes_ = as_it_comes_ > 0 ? as_it_comes_ : rate, best_ = std::max(best_, rate);
    fmt::print("{:<42} {:>8.0f} trajectories/s  {:>6.1f} x stock as it comes  {:>6.1f} x best stock\n", name, rate,
               rate / as_it_comes_, rate / best_);
    std::fflush(stdout);
  }

 private:
  double as_it_comes_ = 0, best_ = 0;
};

struct Preset {
  NetworkOptions network;
  OptimiserOptions optimiser;
};
Preset preset(const std::string& name, const SystemChoice& choice) {
  TrainOptions options = preset_options(name, choice.system);
  options.lengths = {kLength, kLength};
  return {network_for(options, choice.system, choice.observation), optimiser_for(options)};
}

double training_rate(const Preset& p, const SystemChoice& choice, const TrajectoryBatch& batch, int repeats,
                     int threads) {
  Network network(p.network);
  network.set_random_weights(1);
  network.fit_input_scaling(batch.z.data(), batch.count, batch.length, threads);
  Optimiser optimiser(network.blocks(), network.weights(), p.optimiser);
  Gradients gradients;
  const std::vector<float> theta = NetworkCoordinates(choice.system, p.network).of({&batch, 1});
  return static_cast<double>(batch.count) / median_seconds(repeats, [&] {
           gradients.compute(network, {&batch, 1}, theta, {.load_balancing = 0.3, .auxiliary = 0.5}, threads);
           optimiser.step(network.weights(), gradients.gradient(), 2e-4, threads);
         });
}

double inference_rate(const Preset& p, const SystemChoice& choice, const TrajectoryBatch& batch, int64_t count,
                      int threads) {
  Model model{"random", {}, choice.system, choice.observation, Network(p.network)};
  model.network.set_random_weights(1);
  model.network.fit_input_scaling(batch.z.data(), kBatch, batch.length, threads);
  model.info.network = p.network;
  model.info.lengths = {kLength, kLength};
  model.info.sampling = choice.system.simulation.sampling;
  model.info.typicality = measure_typicality(model.network, {batch}, {batch}, threads);
  const Estimator estimator(std::move(model), threads);
  return static_cast<double>(count) /
         median_seconds(3, [&] { estimator.estimate(batch.z.data(), count, kLength, batch.sampling.data()); });
}

void bench(const std::string& what, int threads) {
  const SystemChoice choice = load_system(what);
  const auto core = reinterpret_cast<char* (*)()>(dlsym(RTLD_DEFAULT, "openblas_get_corename"));
  fmt::print("{}, length {}; {} threads; LibTorch {}, {} threads of its own; {}\n", what, kLength, threads,
             TORCH_VERSION, at::get_num_threads(), core ? fmt::format("OpenBLAS, {} code", core()) : "not OpenBLAS");
  const TrajectoryBatch many =
      simulate_set(choice.system, choice.observation, {.seed = 1, .threads = threads, .length = kLength}, kMany).all;
  TrajectoryBatch batch = many;
  const size_t d = static_cast<size_t>(many.channels);
  batch.count = kBatch;
  batch.theta.resize(many.theta.size() / kMany * kBatch), batch.z.resize(static_cast<size_t>(kBatch * kLength) * d),
      batch.sampling.resize(kBatch);
  const Preset paper = preset("paper", choice), fast = preset("fast", choice);

  torch::manual_seed(1);
  StockNetwork stock(many.channels, paper.network.mixture.size());
  torch::optim::Adam adam(stock.parameters(), torch::optim::AdamOptions(2e-4));
  const torch::Tensor z = torch::from_blob(batch.z.data(), {kBatch, kLength, many.channels});
  const auto stock_step = [&] {
    adam.zero_grad();
    stock.forward(z).square().mean().backward();
    adam.step();
  };
  const auto stock_answer = [&] {
    torch::NoGradGuard no_grad;
    stock.forward(z);
  };
  const auto rate = [](double seconds) { return static_cast<double>(kBatch) / seconds; };
  const double train_as_it_comes = rate(median_seconds(1, stock_step)),
               infer_as_it_comes = rate(median_seconds(3, stock_answer));
  at::set_num_threads(1);
  const double train_one = rate(median_seconds(1, stock_step)), infer_one = rate(median_seconds(3, stock_answer));

  Table training("Training: forward, backward, optimiser");
  training.row("stock LSTM of LibTorch, as it comes", train_as_it_comes, true);
  training.row("stock LSTM of LibTorch, one thread", train_one, true);
  training.row("preset paper", training_rate(paper, choice, batch, 3, threads), false);
  training.row("preset fast", training_rate(fast, choice, batch, 15, threads), false);
  Table inference("Inference: to the raw output (LibTorch), to the posterior (ours)");
  inference.row("stock LSTM of LibTorch, as it comes", infer_as_it_comes, true);
  inference.row("stock LSTM of LibTorch, one thread", infer_one, true);
  inference.row("preset paper", inference_rate(paper, choice, many, kBatch, threads), false);
  inference.row("preset fast", inference_rate(fast, choice, many, kMany, threads), false);
}

}  // namespace
}  // namespace penn

int main(int argc, char** argv) {
  penn::bench(argc > 1 ? argv[1] : "oup", argc > 2 ? std::stoi(argv[2]) : penn::processor_count());
  return 0;
}
