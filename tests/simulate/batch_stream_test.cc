// Where training gets its trajectories from.
#include "penn/simulate/batch_stream.h"
#include "penn/system/load_system.h"

#include <gtest/gtest.h>

#include <cmath>

namespace penn {
namespace {

TEST(batch_stream_test, of_four_batches_in_a_row_each_has_its_own_quarter_of_the_lengths) {
  const System system = load_system("soup").system;
  const auto stream = make_fresh_stream(system, 0, {.seed = 3, .threads = 1}, 8, {64, 1023}, 4);
  TrajectoryBatch batch;
  for (int64_t number = 0; number < 40; ++number) {
    stream->fill(number, batch);
    const double low = 64 * std::pow(2, number % 4), high = 2 * low;  // 64 to 1024 in four equal parts of its logarithm
    EXPECT_GE(static_cast<double>(batch.length), low - 1);
    EXPECT_LE(static_cast<double>(batch.length), high);
    EXPECT_EQ(batch.z.size(), static_cast<size_t>(8 * batch.length));
  }
}

TEST(batch_stream_test, a_batch_depends_on_its_number_alone) {
  const System system = load_system("soup").system;
  const auto one = make_fresh_stream(system, 0, {.seed = 3, .threads = 1}, 8, {64, 100}, 4),
             other = make_fresh_stream(system, 0, {.seed = 3, .threads = 2}, 8, {64, 100}, 4);
  TrajectoryBatch a, b;
  one->fill(0, a);
  one->fill(7, a);
  other->fill(7, b);
  EXPECT_EQ(a.z, b.z);
  EXPECT_EQ(a.theta, b.theta);
  one->fill(8, b);
  EXPECT_NE(a.theta, b.theta);
}

}  // namespace
}  // namespace penn
