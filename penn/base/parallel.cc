#include "penn/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace penn {
namespace {

thread_local bool is_inside = false;  // this thread is working on a task

class Pool {
 public:
  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

  // False, with nothing done, where another caller has the pool.
  bool run(int64_t tasks, int threads, const std::function<void(int64_t, int)>& body) {
    const std::unique_lock owner(owner_, std::try_to_lock);
    if (!owner) return false;
    {
      const std::lock_guard lock(mutex_);
      body_ = &body;
      tasks_ = tasks;
      next_ = 0;
      failure_ = nullptr;
      grow(threads - 1);
      wanted_ = std::min(threads - 1, static_cast<int>(workers_.size()));
      busy_ = wanted_;
      ++round_;
    }
    wake_.notify_all();
    take_tasks(0);
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return busy_ == 0; });
    if (failure_) std::rethrow_exception(failure_);
    return true;
  }

 private:
  void grow(int count) {
    try {
      while (static_cast<int>(workers_.size()) < count)
        workers_.emplace_back(
            [this, number = static_cast<int>(workers_.size()) + 1, seen = round_] { serve(number, seen); });
    } catch (const std::system_error&) {
      // The system gives no more threads: the ones there are do all the work.
    }
  }

  void take_tasks(int thread) {
    is_inside = true;
    try {
      for (int64_t task; (task = next_.fetch_add(1)) < tasks_;) (*body_)(task, thread);
    } catch (...) {
      next_ = tasks_;
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
    is_inside = false;
  }

  void serve(int number, uint64_t seen) {
    for (;;) {
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return stop_ || round_ != seen; });
        if (stop_) return;
        seen = round_;
        if (number > wanted_) continue;
      }
      take_tasks(number);
      bool is_last;
      {
        const std::lock_guard lock(mutex_);
        is_last = --busy_ == 0;
      }
      if (is_last) done_.notify_one();
    }
  }

  std::mutex owner_;  // held by the caller
  std::mutex mutex_;  // of everything below but next_
  std::condition_variable wake_, done_;
  std::vector<std::thread> workers_;
  const std::function<void(int64_t, int)>* body_ = nullptr;
  int64_t tasks_ = 0;
  std::atomic<int64_t> next_{0};
  std::exception_ptr failure_;
  int wanted_ = 0, busy_ = 0;
  uint64_t round_ = 0;
  bool stop_ = false;
};

}  // namespace

int processor_count() {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void parallel_for(int64_t tasks, int threads, const std::function<void(int64_t, int)>& body) {
  static Pool pool;
  threads = static_cast<int>(std::min<int64_t>(threads, tasks));
  if (threads > 1 && !is_inside && pool.run(tasks, threads, body)) return;
  for (int64_t task = 0; task < tasks; ++task) body(task, 0);
}

}  // namespace penn
