#include "penn/train/training_data.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "penn/system/load_system.h"
#include "penn/train/gradients.h"
#include "penn/train/network_coordinates.h"

namespace penn {
namespace {

TEST(training_data_test, features_of_a_fixed_set_are_computed_once_and_change_no_bit) {
  const SystemChoice soup = load_system("soup");
  for (const std::vector<std::string>& encoders : {std::vector<std::string>{"statistics"}, {"lstm", "statistics"}}) {
    TrainOptions options = preset_options("fast", soup.system);
    options.encoders = encoders, options.dataset = "600", options.batch = 100, options.lengths = {40, 40},
    options.validation = 100;
    NetworkOptions shape = network_for(options, soup.system, soup.observation);
    shape.lstm_hidden = 6, shape.lstm_layers = 1;
    TrainingData data(soup.system, soup.observation, options, 2);
    Network network(shape);
    network.set_random_weights(1);
    const TrajectoryBatch scaling = data.for_scaling();
    network.fit_input_scaling(scaling.z.data(), scaling.count, scaling.length, 2);
    std::vector<float> gradients[2];
    for (int kept = 0; kept < 2; ++kept) {
      if (kept) data.keep_features(network);
      std::vector<TrajectoryBatch> chunks;
      for (int64_t step = 3; step < 8; ++step) {  // into the second epoch
        data.fill(step, chunks);
        ASSERT_EQ(chunks.size(), 1u);
        EXPECT_EQ(chunks[0].features.empty(), !kept);
        EXPECT_EQ(chunks[0].z.empty(), kept && encoders.size() == 1);
        Gradients g;
        g.compute(network, chunks, NetworkCoordinates(soup.system, shape).of(chunks),
                  {.load_balancing = 0.3, .auxiliary = 0.5}, 2);
        gradients[kept].insert(gradients[kept].end(), g.gradient().begin(), g.gradient().end());
      }
    }
    EXPECT_EQ(gradients[0], gradients[1]);
  }
}

TEST(training_data_test, batches_of_a_fixed_set_are_its_rows_each_once_in_an_epoch) {
  const SystemChoice choice = load_system("oup");
  TrainOptions options = preset_options("fast", choice.system);
  options.dataset = "60", options.batch = 20, options.lengths = {16, 16}, options.validation = 100, options.seed = 7;
  const TrajectoryBatch all =
      simulate_set(choice.system, choice.observation, {.seed = 7, .threads = 1, .length = 16}, 60).all;
  const size_t M = choice.system.parameters.size();
  TrainingData data(choice.system, choice.observation, options, 2);
  std::vector<size_t> orders[2];
  for (int64_t step = 0; step < 6; ++step) {
    std::vector<TrajectoryBatch> chunks;
    data.fill(step, chunks);
    for (size_t i = 0; i < 20; ++i) {
      size_t row = 0;
      while (row < 60 && !std::equal(&chunks[0].z[16 * i], &chunks[0].z[16 * i] + 16, &all.z[16 * row])) ++row;
      ASSERT_LT(row, 60u);
      EXPECT_TRUE(std::equal(&chunks[0].theta[M * i], &chunks[0].theta[M * i] + M, &all.theta[M * row]));
      EXPECT_EQ(chunks[0].sampling[i], all.sampling[row]);
      orders[step / 3].push_back(row);
    }
  }
  EXPECT_NE(orders[0], orders[1]);
  for (std::vector<size_t>& order : orders) {
    std::sort(order.begin(), order.end());
    for (size_t row = 0; row < 60; ++row) EXPECT_EQ(order[row], row);
  }
}

}  // namespace
}  // namespace penn
