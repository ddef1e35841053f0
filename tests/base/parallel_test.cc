#include "penn/base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace penn {
namespace {

TEST(parallel_test, every_task_runs_once_on_any_number_of_threads) {
  for (const int threads : {1, 2, 5, 40})  // more threads than tasks, too
    for (const int tasks : {0, 1, 7, 64}) {
      std::vector<std::atomic<int>> visits(static_cast<size_t>(tasks));
      std::atomic<int> outside{0};
      parallel_for(tasks, threads, [&](int64_t task, int thread) {
        ++visits[static_cast<size_t>(task)];
        if (thread < 0 || thread >= threads) ++outside;
      });
      for (const auto& v : visits) EXPECT_EQ(v, 1);
      EXPECT_EQ(outside, 0);
    }
}

TEST(parallel_test, tasks_run_at_the_same_time) {
  std::atomic<int> here{0};
  std::atomic<bool> met{false};
  parallel_for(2, 2, [&](int64_t, int) {  // each task waits for the other, at most 5 s
    ++here;
    for (int k = 0; k < 5000 && here < 2; ++k) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (here == 2) met = true;
  });
  EXPECT_TRUE(met);
}

TEST(parallel_test, no_two_tasks_share_a_thread_number_at_the_same_time) {
  constexpr int kThreads = 4;
  std::vector<std::atomic<int>> busy(kThreads);
  std::atomic<int> clashes{0};
  parallel_for(500, kThreads, [&](int64_t, int thread) {
    if (busy[static_cast<size_t>(thread)]++ != 0) ++clashes;
    std::this_thread::yield();
    --busy[static_cast<size_t>(thread)];
  });
  EXPECT_EQ(clashes, 0);
}

TEST(parallel_test, loops_inside_tasks_and_from_several_callers_complete) {
  std::atomic<int> sum{0};
  const auto nested = [&] {
    for (int i = 0; i < 20; ++i)
      parallel_for(4, 3, [&](int64_t, int) { parallel_for(5, 3, [&](int64_t, int) { ++sum; }); });
  };
  std::vector<std::thread> callers;
  for (int i = 0; i < 3; ++i) callers.emplace_back(nested);
  nested();
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, 4 * 20 * 4 * 5);
}

TEST(parallel_test, an_exception_reaches_the_caller_and_the_pool_lives_on) {
  for (const int threads : {1, 2, 6})
    for (int round = 0; round < 50; ++round) {
      EXPECT_THROW(parallel_for(8, threads,
                                [](int64_t task, int) {
                                  if (task == 5) throw std::runtime_error("five");
                                }),
                   std::runtime_error);
      std::atomic<int> count{0};
      parallel_for(8, threads, [&](int64_t, int) { ++count; });
      EXPECT_EQ(count, 8);
    }
}

TEST(parallel_test, an_exception_of_an_inner_loop_reaches_the_outer_caller) {
  EXPECT_THROW(parallel_for(4, 2,
                            [](int64_t, int) {
                              parallel_for(3, 2, [](int64_t task, int) {
                                if (task == 2) throw std::logic_error("inner");
                              });
                            }),
               std::logic_error);
  // A failed loop leaves no thread marked as busy: the next one has all of them again.
  std::atomic<int> here{0};
  std::atomic<bool> met{false};
  parallel_for(2, 2, [&](int64_t, int) {
    ++here;
    for (int k = 0; k < 5000 && here < 2; ++k) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (here == 2) met = true;
  });
  EXPECT_TRUE(met);
}

TEST(parallel_test, there_is_at_least_one_processor) {
  EXPECT_GE(processor_count(), 1);
}

}  // namespace
}  // namespace penn
