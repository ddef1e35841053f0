#include "penn/kernel/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace penn {
namespace {

TEST(thread_pool_test, every_number_is_visited_once_for_any_threads_and_grain) {
  const int before = pool_threads();
  for (const int threads : {1, 2, 5}) {
    set_pool_threads(threads);
    for (const int grain : {1, 3, 100}) {
      for (const int count : {0, 1, 7, 64}) {
        std::vector<std::atomic<int>> visits(count);
        pool_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
          ASSERT_LE(end - begin, grain);
          for (std::int64_t k = begin; k < end; ++k) ++visits[k];
        });
        for (const auto& v : visits) EXPECT_EQ(v, 1);
      }
    }
  }
  set_pool_threads(before);
}

TEST(thread_pool_test, pieces_run_at_the_same_time) {
  const int before = pool_threads();
  set_pool_threads(2);
  std::atomic<int> here{0};
  bool met = false;
  pool_for(2, 1, [&](std::int64_t, std::int64_t) {  // each piece waits for the other, at most 5 s
    ++here;
    for (int k = 0; k < 5000 && here < 2; ++k) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (here == 2) met = true;
  });
  EXPECT_TRUE(met);
  set_pool_threads(before);
}

TEST(thread_pool_test, calls_inside_a_piece_and_from_other_threads_complete) {
  std::atomic<int> sum{0};
  const auto nested = [&] {
    pool_for(4, 1, [&](std::int64_t, std::int64_t) {
      pool_for(5, 2, [&](std::int64_t begin, std::int64_t end) { sum += static_cast<int>(end - begin); });
    });
  };
  std::thread other(nested);
  nested();
  other.join();
  EXPECT_EQ(sum, 2 * 4 * 5);
}

TEST(thread_pool_test, an_exception_reaches_the_caller_and_the_pool_lives_on) {
  EXPECT_THROW(pool_for(8, 1,
                            [](std::int64_t begin, std::int64_t) {
                              if (begin == 5) throw std::runtime_error("five");
                            }),
               std::runtime_error);
  std::atomic<int> count{0};
  pool_for(8, 1, [&](std::int64_t, std::int64_t) { ++count; });
  EXPECT_EQ(count, 8);
}

}  // namespace
}  // namespace penn
