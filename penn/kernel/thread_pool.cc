#include "penn/kernel/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace penn {
namespace {

thread_local bool inside = false;  // this thread is working on a piece

class Pool {
 public:
  explicit Pool(int threads) {
    for (int k = 1; k < threads; ++k) workers_.emplace_back([this] { serve(); });
  }
  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    for (std::thread& t : workers_) t.join();
  }
  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  void run(std::int64_t count, std::int64_t grain, const std::function<void(std::int64_t, std::int64_t)>& work) {
    {
      const std::lock_guard lock(mutex_);
      work_ = &work;
      count_ = count;
      grain_ = grain;
      next_ = 0;
      failure_ = nullptr;
      busy_ = static_cast<int>(workers_.size());
      ++round_;
    }
    wake_.notify_all();
    take_pieces();
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return busy_ == 0; });
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void take_pieces() {
    inside = true;
    for (std::int64_t begin; (begin = next_.fetch_add(grain_)) < count_;) {
      try {
        (*work_)(begin, std::min(begin + grain_, count_));
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
      }
    }
    inside = false;
  }

  void serve() {
    std::uint64_t seen = 0;
    for (;;) {
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return stop_ || round_ != seen; });
        if (stop_) return;
        seen = round_;
      }
      take_pieces();
      {
        const std::lock_guard lock(mutex_);
        --busy_;
      }
      done_.notify_one();
    }
  }

  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const std::function<void(std::int64_t, std::int64_t)>* work_ = nullptr;
  std::int64_t count_ = 0, grain_ = 1;
  std::atomic<std::int64_t> next_{0};
  std::exception_ptr failure_;
  int busy_ = 0;
  std::uint64_t round_ = 0;
  bool stop_ = false;
};

std::mutex pool_mutex;  // held by whoever uses the pool
std::unique_ptr<Pool> pool;
int wanted = 0;  // 0: all processors

int wanted_threads() {
  return wanted > 0 ? wanted : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace

void set_pool_threads(int threads) {
  const std::lock_guard lock(pool_mutex);
  wanted = std::max(1, threads);
}

int pool_threads() {
  const std::lock_guard lock(pool_mutex);
  return wanted_threads();
}

void pool_for(std::int64_t count, std::int64_t grain, const std::function<void(std::int64_t, std::int64_t)>& work) {
  if (count <= 0) return;
  std::unique_lock lock(pool_mutex, std::defer_lock);
  if (inside || count <= grain || !lock.try_lock() || wanted_threads() == 1) {
    for (std::int64_t begin = 0; begin < count; begin += grain) work(begin, std::min(begin + grain, count));
    return;
  }
  if (!pool || pool->threads() != wanted_threads()) {
    pool.reset();
    pool = std::make_unique<Pool>(wanted_threads());
  }
  pool->run(count, grain, work);
}

}  // namespace penn
