#include "penn/network/blas.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <torch/torch.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "penn/kernel/lane.h"
#include "penn/kernel/thread_pool.h"

namespace penn {
namespace {

constexpr const char* kVariable = "OPENBLAS_CORETYPE";

template <class F>
F* library_function(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_DEFAULT, name));
}

int core_level(const std::string& core) {
  for (const char* name : {"SkylakeX", "Cooperlake", "SapphireRapids"})
    if (core == name) return 3;
  for (const char* name : {"Haswell", "Zen", "Excavator"})
    if (core == name) return 2;
  return 1;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int processor_level() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl"))
    return 3;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return 2;
#endif
  return 1;
}

std::string better_core(const std::string& core, int level) {
  if (core.empty() || core_level(core) >= level) return "";
  return level == 3 ? "SkylakeX" : "Haswell";
}

std::string blas_core() {
  const auto name = library_function<char*()>("openblas_get_corename");
  return name ? name() : "";
}

void ensure_fast_blas(int /*argc*/, char** argv) {
  if (std::getenv(kVariable)) return;
  const std::string core = better_core(blas_core(), processor_level());
  if (core.empty()) return;
  setenv(kVariable, core.c_str(), 1);
  execv("/proc/self/exe", argv);
  // Not started anew (no /proc, say): slower, but as correct as before.
}

std::string blas_report() {
  const char* set[] = {"SSE", "AVX2", "AVX-512"};
  const std::string core = blas_core();
  const auto threads = library_function<int()>("openblas_get_num_threads");
  const std::string blas = core.empty() ? "not OpenBLAS (slow dense layers; install libopenblas0-pthread)"
                                        : fmt::format("OpenBLAS, {} code, {} threads", core, threads ? threads() : 0);
  return fmt::format("BLAS: {}; LibTorch {}; processor: {}; network kernels: {} lanes, {} threads", blas, TORCH_VERSION,
                     set[processor_level() - 1], kTileLanes, pool_threads());
}

void set_network_threads(int threads) {
  set_pool_threads(threads);
  set_stock_threads(1, 1);
}

void set_stock_threads(int libtorch, int openblas) {
  if (const auto set = library_function<void(int)>("openblas_set_num_threads")) set(openblas);
  at::set_num_threads(libtorch);
}

double measure_gemm_gflops(int n) {
  torch::NoGradGuard no_grad;
  const int rows = 256;
  const torch::Tensor a = torch::ones({rows, n}), b = torch::ones({n, n});
  const int threads = pool_threads();
  std::vector<torch::Tensor> c;
  for (int k = 0; k < threads; ++k) c.push_back(torch::empty({rows, n}));
  std::vector<double> speed;
  const int repeats = std::max(1, static_cast<int>(4e8 / (2.0 * rows * n * n)));  // a few milliseconds
  for (int trial = 0; trial < 11; ++trial) {
    const auto start = std::chrono::steady_clock::now();
    pool_for(threads, 1, [&](int64_t begin, int64_t end) {
      torch::NoGradGuard no_grad_here;
      for (int64_t thread = begin; thread < end; ++thread)
        for (int k = 0; k < repeats; ++k) torch::mm_out(c[static_cast<size_t>(thread)], a, b);
    });
    speed.push_back(2.0 * rows * n * n * repeats * threads / seconds_since(start) * 1e-9);
  }
  std::nth_element(speed.begin(), speed.begin() + 5, speed.end());
  return speed[5];
}

double measure_peak_gflops() {
  constexpr int kSums = 12;  // enough to hide the latency of two units, few enough for 16 registers
  constexpr int kSteps = 2'000'000;
  const int threads = pool_threads();
  std::vector<double> best;
  for (int trial = 0; trial < 5; ++trial) {
    const auto start = std::chrono::steady_clock::now();
    pool_for(threads, 1, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        std::array<Vec, kSums> sum;
        for (int i = 0; i < kSums; ++i) sum[i] = broadcast(0.1f * i);  // different, or the compiler keeps only one
        Vec factor = broadcast(0.999f), term = broadcast(1e-3f);
        for (int step = 0; step < kSteps; ++step) {
          asm volatile("" : "+x"(factor), "+x"(term));  // so that the loop is neither shortened nor removed
#pragma GCC unroll 16
          for (int i = 0; i < kSums; ++i) sum[i] = sum[i] * factor + term;
        }
        for (int i = 0; i < kSums; ++i) asm volatile("" : : "x"(sum[i]));
      }
    });
    best.push_back(2.0 * kVector * kSums * kSteps * threads / seconds_since(start) * 1e-9);
  }
  return *std::max_element(best.begin(), best.end());
}

}  // namespace penn
