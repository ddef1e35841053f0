// A loop over tasks on several threads; tasks are handed out one by one, so uneven ones balance.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace penn {

inline int processor_count() { return std::max(1u, std::thread::hardware_concurrency()); }

// Calls body(task, thread) for task 0..tasks-1. The first exception stops the loop and is thrown to the caller.
template <class Body>
void parallel_for(int64_t tasks, int threads, Body body) {
  threads = static_cast<int>(std::min<int64_t>(threads, tasks));
  if (threads <= 1) {
    for (int64_t task = 0; task < tasks; ++task) body(task, 0);
    return;
  }
  std::atomic<int64_t> next{0};
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto work = [&](int thread) {
    try {
      for (int64_t task; (task = next.fetch_add(1)) < tasks;) body(task, thread);
    } catch (...) {
      next = tasks;
      std::lock_guard lock(failure_mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  std::vector<std::thread> pool;
  try {
    for (int thread = 1; thread < threads; ++thread) pool.emplace_back(work, thread);
  } catch (const std::system_error&) {
    // The system gives no more threads: the ones there are do all the work.
  }
  work(0);
  for (std::thread& thread : pool) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace penn
