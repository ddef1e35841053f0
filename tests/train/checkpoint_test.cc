#include "penn/train/checkpoint.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/files_for_tests.h"
#include "penn/system/load_system.h"

namespace penn {
namespace {

TEST(checkpoint_test, progress_comes_back_also_what_is_no_number) {
  const TestDirectory folder;
  const std::filesystem::path path = folder / "model.checkpoint";
  const SystemChoice soup = load_system("soup");
  TrainOptions options = preset_options("fast", soup.system);
  options.steps = 5, options.minutes = 0, options.lengths = {30, 30};
  Network network(network_for(options, soup.system, soup.observation));
  network.set_random_weights(1);
  Optimiser optimiser(network.blocks(), network.weights(), optimiser_for(options));
  Progress progress{.step = 3,
                    .seconds = 1.25,
                    .train_nll = -2.5,
                    .train_count = 7,
                    .skipped = 4,
                    .skipped_in_a_row = 2,
                    .rollbacks = 1,
                    .bad_rows = 9,
                    .validations = 2,
                    .best_nll = -1.5,
                    .simulated = {100, 6},
                    .curve = {{0.5, 1, 384, std::nan(""), -1.5, 1e-3}, {1, 3, 1152, -1, std::nan(""), 0}}};
  save_checkpoint(path, {soup.system.text, "x", options, progress}, network, optimiser, {});
  const Progress back = read_checkpoint(path).progress;
  EXPECT_EQ(back.step, 3);
  EXPECT_EQ(back.seconds, 1.25);
  EXPECT_EQ(back.train_nll, -2.5);
  EXPECT_EQ(back.train_count, 7);
  EXPECT_EQ(back.skipped, 4);
  EXPECT_EQ(back.skipped_in_a_row, 2);
  EXPECT_EQ(back.rollbacks, 1);
  EXPECT_EQ(back.bad_rows, 9);
  EXPECT_EQ(back.validations, 2);
  EXPECT_EQ(back.best_nll, -1.5);
  EXPECT_EQ(back.simulated.kept, 100);
  EXPECT_EQ(back.simulated.discarded, 6);
  ASSERT_EQ(back.curve.size(), 2u);
  EXPECT_TRUE(std::isnan(back.curve[0].train_nll));
  EXPECT_EQ(back.curve[0].validation_nll, -1.5);
  EXPECT_TRUE(std::isnan(back.curve[1].validation_nll));
  EXPECT_EQ(back.curve[1].trajectories, 1152);
}

}  // namespace
}  // namespace penn
