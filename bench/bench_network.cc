// Trajectories per second of training (forward, backward, Adam) at length 1000, batch 256, and their ratios.
// Usage: bench_network [length [batch]]. Median of several steps. The stock LSTM is timed with LibTorch and OpenBLAS
// both on all cores, as a program that only calls at::set_num_threads has it, and with the threads that suit it best.
#include <dlfcn.h>
#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "penn/network/blas.h"
#include "penn/kernel/lane_convolution.h"
#include "penn/kernel/lstm_shape.h"
#include "penn/network/mixture_head.h"
#include "penn/kernel/thread_pool.h"
#include "penn/network/penn_network.h"

namespace {

using penn::NetworkOptions;

double median_seconds(int repeats, const std::function<void()>& f) {
  f();  // first use: memory, primitives
  std::vector<double> seconds;
  for (int k = 0; k < repeats; ++k) {
    const auto start = std::chrono::steady_clock::now();
    f();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + repeats / 2, seconds.end());
  return seconds[repeats / 2];
}

// Seconds of one training step of the whole network.
double step_seconds(const NetworkOptions& options, int length, int batch, int repeats) {
  torch::manual_seed(1);
  penn::PennNetwork network(options);
  const torch::Tensor z = torch::randn({batch, length, options.inputs}).cumsum(1);
  const torch::Tensor theta = torch::rand({batch, options.mixture.parameters});
  network.calibrate(z.slice(0, 0, std::min(batch, 32)));
  torch::optim::Adam adam(network.parameters(), torch::optim::AdamOptions(2e-4));
  return median_seconds(repeats, [&] {
    adam.zero_grad();
    penn::mixture_loss(network.forward(z), theta, options.mixture).loss.backward();
    adam.step();
  });
}

// The decoder, the mixture and Adam on features that are already there.
double decoder_seconds(int features, int width, int blocks, const penn::MixtureShape& mixture, int batch) {
  penn::ResNet decoder(features, width, blocks, mixture.size());
  const torch::Tensor u = torch::randn({batch, features}), theta = torch::rand({batch, mixture.parameters});
  torch::optim::Adam adam(decoder.parameters(), torch::optim::AdamOptions(2e-4));
  return median_seconds(21, [&] {
    adam.zero_grad();
    penn::mixture_loss(decoder.forward(u), theta, mixture).loss.backward();
    adam.step();
  });
}

double head_seconds(const penn::MixtureShape& mixture, int batch, bool reference) {
  const torch::Tensor y = (0.3 * torch::randn({batch, mixture.size()})).requires_grad_();
  const torch::Tensor theta = torch::rand({batch, mixture.parameters});
  return median_seconds(21, [&] {
    const torch::Tensor loss = reference ? -penn::mixture_log_density_reference(y, theta, mixture).mean()
                                         : penn::mixture_loss(y, theta, mixture).loss;
    loss.backward();
  });
}

void set_library_threads(int libtorch, int openblas) {
  at::set_num_threads(libtorch);
  if (auto* set = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))) set(openblas);
}

}  // namespace

int main(int argc, char** argv) {
  penn::ensure_fast_blas(argc, argv);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // every line at once: the stock LSTM can take minutes on a busy machine
  const int length = argc > 1 ? std::atoi(argv[1]) : 1000, batch = argc > 2 ? std::atoi(argv[2]) : 256;
  const int threads = penn::pool_threads();
  penn::set_network_threads(threads);
  const double peak = penn::measure_peak_gflops();
  fmt::print("{}\n", penn::blas_report());
  fmt::print("peak {:.0f} GFLOP/s, dense layer 256 x 512 x 512 {:.0f} GFLOP/s, 256 x 100 x 100 {:.0f} GFLOP/s\n\n",
             peak, penn::measure_gemm_gflops(512), penn::measure_gemm_gflops(100));
  // Returns trajectories per second.
  const auto line = [&](const std::string& name, double seconds, double flops = 0) {
    fmt::print("  {:34} {:9.1f} trajectories/s", name, batch / seconds);
    if (flops > 0)
      fmt::print(" {:7.1f} GFLOP/s, {:.0f} % of peak", flops / seconds * 1e-9, flops / seconds * 1e-7 / peak);
    fmt::print("\n");
    return batch / seconds;
  };

  fmt::print("decoder, mixture and Adam, batch {}\n", batch);
  line("decoder 6 x 100, M=5, N=10", decoder_seconds(50, 100, 6, {5, 10, true}, batch));
  line("decoder 3 x 256, M=5, N=10", decoder_seconds(320, 256, 3, {5, 10, true}, batch));
  line("decoder 3 x 256, M=12, N=10", decoder_seconds(320, 256, 3, {12, 10, true}, batch));
  for (const int M : {5, 12})
    for (const bool reference : {false, true})
      fmt::print("  mixture, M={}, N=10, {}: {:.2f} ms for value and gradient\n", M,
                 reference ? "tensor operations" : "fused", 1e3 * head_seconds({M, 10, true}, batch, reference));

  fmt::print("\ntraining steps of the whole network, length {}, batch {}\n", length, batch);
  NetworkOptions fast = penn::paper_network(1, 5);
  fast.encoders = {"convolution"};
  fast.decoder_blocks = 3;
  fast.decoder_width = 256;
  const double convolution_flops = 3 * penn::convolution_flops_forward({batch, length, {3, 32, 64, 96, 128}, 5, 2});
  const double convolution = line("convolution, our kernel", step_seconds(fast, length, batch, 9), convolution_flops);
  fast.encoder_settings["convolution"] = {{"code", "torch"}};
  line("convolution, conv1d of LibTorch", step_seconds(fast, length, batch, 5), convolution_flops);
  NetworkOptions paper = penn::paper_network(1, 5);
  const double lstm_flops = 3 * penn::lstm_flops_forward({batch, length, 1, 50, 4});
  paper.encoder_settings["lstm"] = {{"kernel", "lane"}};
  const double lane = line("paper, our LSTM", step_seconds(paper, length, batch, 5), lstm_flops);
  paper.encoder_settings["lstm"] = {{"kernel", "onednn"}};
  line("paper, LSTM by oneDNN", step_seconds(paper, length, batch, 3), lstm_flops);
  paper.encoder_settings["lstm"] = {{"kernel", "torch"}};
  const auto stock = [&](const char* name, int libtorch, int openblas) {
    set_library_threads(libtorch, openblas);
    const double speed = line(name, step_seconds(paper, length, batch, 2), lstm_flops);
    fmt::print("    ours: {:.1f} times, convolution {:.1f} times this\n", lane / speed, convolution / speed);
  };
  stock("stock LSTM, LibTorch on one thread", 1, threads);
  stock("stock LSTM, OpenBLAS on one thread", threads, 1);
  stock("stock LSTM, both on all cores", threads, threads);
}
