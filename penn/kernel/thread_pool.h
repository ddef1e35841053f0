// The threads of the network kernels: a small pool that sleeps when idle. Not OpenMP, whose waiting threads spin and
// starve OpenBLAS's own pool: with two of each on two cores a training step of the decoder took 184 ms instead of 11.
#pragma once

#include <cstdint>
#include <functional>

namespace penn {

// Threads for pool_for, the caller included. Not to be called while a pool_for runs.
void set_pool_threads(int threads);
int pool_threads();  // default: all processors

// Calls work(begin, end) for pieces of at most `grain` numbers that together make up [0, count), in any order, and
// returns when all are done. The first exception is passed on. Inside a piece, or while another thread has the pool, it
// runs serially.
void pool_for(std::int64_t count, std::int64_t grain, const std::function<void(std::int64_t, std::int64_t)>& work);

}  // namespace penn
