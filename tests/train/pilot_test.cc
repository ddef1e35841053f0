#include "penn/train/pilot.h"

#include <gtest/gtest.h>

#include "penn/system/parse_system.h"
#include "penn/system/system.h"

namespace penn {
namespace {

// A level that every sample tells, and a number that nothing depends on.
System level_and_nothing() {
  return parse_system(R"toml(
title = "Noise about a level"
[parameters]
level   = [-10, 10]
nothing = [0, 3]
[noise]
G = "gaussian()"
[equations]
x = "-x + level + 0*nothing + G"
[initial]
x = 0
[observe]
x = "x"
[simulation]
step     = 0.05
sampling = 0.5
burn_in  = 5
length   = 50
)toml",
                      "level.toml");
}

TEST(pilot_test, a_parameter_that_nothing_depends_on_stays_as_wide_as_the_box) {
  const System system = level_and_nothing();
  TrainRun run;
  run.options = preset_options("fast", system);
  run.options.steps = 2000;  // of which the pilot run has 200
  run.options.batch = 64;
  run.options.validation = 200;
  const Pilot pilot = try_coordinates(system, 0, run);
  ASSERT_TRUE(pilot.is_complete);
  EXPECT_LT(pilot.relative_sd[0], 0.4);
  EXPECT_NEAR(pilot.relative_sd[1], 1, 0.2);
  EXPECT_EQ(coordinates_after(pilot, system), "nothing");
  EXPECT_EQ(options_after(pilot, run.options, system).steps, 1800);
}

TEST(pilot_test, stopped_means_no_answer) {
  const System system = level_and_nothing();
  TrainRun run;
  run.options = preset_options("fast", system);
  run.options.steps = 6000;
  run.options.batch = 64;
  run.options.validation = 200;
  run.should_stop = [] { return true; };
  EXPECT_FALSE(try_coordinates(system, 0, run).is_complete);
}

TEST(pilot_test, all_or_none_have_a_word_of_their_own) {
  const System system = level_and_nothing();
  EXPECT_EQ(coordinates_after({true, {0.1, 0.2}}, system), "linear");
  EXPECT_EQ(coordinates_after({true, {0.9, 0.9}}, system), "probit");
}

TEST(pilot_test, the_training_has_the_minutes_that_are_left) {
  const System system = level_and_nothing();
  TrainOptions options = preset_options("fast", system);
  options.minutes = 10;
  EXPECT_NEAR(options_after({true, {0.1, 0.9}, 400, 60}, options, system).minutes, 9, 1e-12);
  EXPECT_EQ(options_after({true, {0.1, 0.9}, 400, 60}, options, system).coordinates, "nothing");
  EXPECT_NEAR(options_after({true, {0.1, 0.9}, 400, 3600}, options, system).minutes, 5, 1e-12);
}

}  // namespace
}  // namespace penn
