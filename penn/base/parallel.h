// A loop over tasks on several threads. The threads are one pool for the whole program; they sleep when idle. Tasks are
// handed out one by one, so uneven ones balance.
#pragma once

#include <cstdint>
#include <functional>

namespace penn {

int processor_count();  // at least 1

// Calls body(task, thread) for task 0..tasks-1 with 0 <= thread < threads, and returns when all are done. The first
// exception stops the loop and is thrown to the caller. Inside a task, or while another caller has the pool, the loop
// runs on the caller's thread alone.
void parallel_for(int64_t tasks, int threads, const std::function<void(int64_t task, int thread)>& body);

}  // namespace penn
