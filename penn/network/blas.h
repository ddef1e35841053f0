// The matrix library under LibTorch's dense layers, and its trap: an OpenBLAS older than the processor takes it for a
// "Prescott" and runs SSE code, at an eighth of the speed. OPENBLAS_CORETYPE cures it, but only when it is in the
// environment before the dynamic loader runs OpenBLAS's constructor, that is, before main.
#pragma once

#include <string>

namespace penn {

// First line of main. Starts the program anew, once, with OPENBLAS_CORETYPE set, if OpenBLAS chose a slower code path
// than the processor can run; otherwise returns at once. Does nothing if the variable is set (by us or by the user).
void ensure_fast_blas(int argc, char** argv);

// What ensure_fast_blas would set: "SkylakeX", "Haswell" or "" (nothing better than the library's own choice).
// core: OpenBLAS's name of its code path; levels of the processor: 3 AVX-512, 2 AVX2 and FMA, 1 less.
std::string better_core(const std::string& core, int processor_level);
int processor_level();

// OpenBLAS's code path ("Haswell", "Zen", ...), or "" if another BLAS is loaded.
std::string blas_core();
// One line: library, code path, threads, instruction set. For `penn info`.
std::string blas_report();
// Threads of our own pool; whoever needs several shares the rows out (train/learn.h). The pools of LibTorch and of OpenBLAS are switched off: on
// two cores they wait for each other in busy loops (thread_pool.h has the figures), and where another program has a core, for milliseconds
// at every product.
void set_network_threads(int threads);
// LibTorch's and OpenBLAS's own pools, as a program gets them that does nothing about threads. For benchmarks.
void set_stock_threads(int libtorch, int openblas);

// Median speed of float32 products (256, n) x (n, n) by LibTorch, one on every thread of the pool at a time.
double measure_gemm_gflops(int n = 512);
// Speed of fused multiply-adds in registers on all threads: the machine's peak, to divide by.
double measure_peak_gflops();

}  // namespace penn
