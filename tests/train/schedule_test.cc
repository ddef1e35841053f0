#include "penn/train/schedule.h"

#include <gtest/gtest.h>

namespace penn {
namespace {

TEST(schedule_test, the_rate_warms_up_and_falls_to_nothing) {
  TrainOptions o;
  o.learning_rate = 0.01;
  o.warm_up = 0.1;
  EXPECT_GT(learning_rate_at(o, 0), 0);
  EXPECT_NEAR(learning_rate_at(o, 0.05), 0.005, 1e-12);
  EXPECT_NEAR(learning_rate_at(o, 0.1), 0.01, 1e-12);
  EXPECT_NEAR(learning_rate_at(o, 0.55), 0.005, 1e-12);
  EXPECT_NEAR(learning_rate_at(o, 1), 0, 1e-12);
  EXPECT_NEAR(learning_rate_at(o, 1.01), 0, 1e-12);  // the last step of a budget in minutes may end beyond it
}

TEST(schedule_test, the_auxiliary_loss_ends_before_the_training) {
  TrainOptions o;
  o.auxiliary_loss = 0.8;
  o.auxiliary_fraction = 0.5;
  EXPECT_NEAR(auxiliary_loss_at(o, 0), 0.8, 1e-12);
  EXPECT_NEAR(auxiliary_loss_at(o, 0.25), 0.4, 1e-12);
  for (const double fraction : {0.5, 0.7, 1.0, 1.01}) EXPECT_NEAR(auxiliary_loss_at(o, fraction), 0, 1e-12) << fraction;
}

}  // namespace
}  // namespace penn
