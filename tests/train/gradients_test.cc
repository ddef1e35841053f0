#include "penn/train/gradients.h"

#include <gtest/gtest.h>

#include <cmath>

#include "network/reference.h"
#include "penn/system/load_system.h"
#include "penn/train/network_coordinates.h"
#include "penn/train/train_options.h"

namespace penn {
namespace {

using reference::Row;

// A step of `count` trajectories of a shipped system: its chunks, its parameters, a network with random weights.
struct Step {
  System system = load_system("soup").system;
  Network network;
  std::vector<TrajectoryBatch> chunks;
  std::vector<float> theta;

  static NetworkOptions options(const std::string& preset) {
    const System system = load_system("soup").system;
    TrainOptions o = preset_options(preset, system);
    o.lengths = {20, 60};
    NetworkOptions network = network_for(o, system, 0);
    network.decoder_width = 16, network.decoder_blocks = 2, network.mixture.components = 4;
    network.lstm_hidden = 6, network.lstm_layers = 2;
    return network;
  }
  Step(const std::string& preset, std::vector<std::pair<int64_t, int64_t>> counts_and_lengths)
      : network(options(preset)) {
    uint64_t seed = 1;
    for (const auto& [count, length] : counts_and_lengths)
      chunks.push_back(simulate_set(system, 0, {.seed = ++seed, .threads = 1, .length = length}, count).all);
    network.set_random_weights(3);
    const WeightBlock& last =
        network.blocks()[network.blocks().size() - 2];  // moderate outputs, for the determinants of the reference
    for (size_t i = 0; i < last.size(); ++i) network.weights()[last.offset + i] *= 0.2f;
    network.fit_input_scaling(chunks[0].z.data(), chunks[0].count, chunks[0].length, 1);
    theta = NetworkCoordinates(system, network.options()).of(chunks);
  }
  size_t rows() const { return theta.size() / 2; }
  std::vector<Row> embeddings() const {
    std::vector<Row> all;
    const size_t E = static_cast<size_t>(network.embedding_size());
    for (const TrajectoryBatch& chunk : chunks) {
      std::vector<float> e(static_cast<size_t>(chunk.count) * E);
      network.embed(chunk.z.data(), chunk.count, chunk.length, chunk.sampling.data(), e.data(), 1);
      for (int64_t b = 0; b < chunk.count; ++b)
        all.push_back(reference::as_doubles(e.data() + static_cast<size_t>(b) * E, E));
    }
    return all;
  }
};

// The loss of gradients.h, of given embeddings.
double loss_by_definition(const Step& step, const std::vector<Row>& embeddings, const std::vector<double>& weights,
                          const LossTerms& terms) {
  const MixtureShape& s = step.network.options().mixture;
  double sum = 0;
  std::vector<double> mean_weight(static_cast<size_t>(s.components));
  for (size_t b = 0; b < embeddings.size(); ++b) {
    const Row raw = reference::decode(step.network.blocks(), weights, embeddings[b]),
              theta = reference::as_doubles(&step.theta[2 * b], 2);
    sum -= reference::log_density(s, raw, theta.data()) +
           terms.auxiliary * reference::mean_component_log_density(s, raw, theta.data());
    const reference::Mixture m = reference::mixture(s, raw);
    for (size_t j = 0; j < mean_weight.size(); ++j)
      mean_weight[j] += m.weights[j] / static_cast<double>(embeddings.size());
  }
  double load_balancing = 0;
  for (const double w : mean_weight) load_balancing += std::log(w) / static_cast<double>(mean_weight.size());
  return sum / static_cast<double>(embeddings.size()) - terms.load_balancing * load_balancing;
}

TEST(gradients_test, the_gradient_of_all_terms_equals_differences_of_the_loss) {
  for (const char* preset : {"fast", "paper"}) {
    const Step step(preset, {{30, 20}, {25, 50}});
    const std::vector<Row> embeddings = step.embeddings();
    std::vector<double> weights(step.network.weights().begin(), step.network.weights().end());
    for (const LossTerms& terms :
         {LossTerms{}, LossTerms{.load_balancing = 0.3}, LossTerms{.load_balancing = 0.3, .auxiliary = 0.5}}) {
      Gradients gradients;
      const BatchLoss loss = gradients.compute(step.network, step.chunks, step.theta, terms, 2);
      EXPECT_EQ(loss.good, 55);
      EXPECT_EQ(loss.bad, 0);
      EXPECT_NEAR(loss.nll, loss_by_definition(step, embeddings, weights, {}), 1e-5);
      double largest = 0;
      for (const float g : gradients.gradient()) largest = std::max(largest, std::fabs(static_cast<double>(g)));
      for (const WeightBlock& block : step.network.blocks()) {
        if (!block.name.starts_with("decoder")) continue;  // the encoder's: tests/network/lstm_test.cc
        for (size_t i = 0; i < block.size(); i += 1 + block.size() / 4) {
          double& w = weights[block.offset + i];
          const double before = w;
          w = before + 1e-5;
          const double above = loss_by_definition(step, embeddings, weights, terms);
          w = before - 1e-5;
          const double slope = (above - loss_by_definition(step, embeddings, weights, terms)) / 2e-5;
          w = before;
          EXPECT_NEAR(gradients.gradient()[block.offset + i], slope, 1e-5 * largest)
              << preset << " " << block.name << " " << i;
        }
      }
    }
  }
}

TEST(gradients_test, every_weight_has_a_gradient) {
  for (const char* preset : {"fast", "paper"}) {
    const Step step(preset, {{40, 30}});
    Gradients gradients;
    gradients.compute(step.network, step.chunks, step.theta, {.load_balancing = 0.3, .auxiliary = 0.5}, 2);
    for (const WeightBlock& block : step.network.blocks()) {
      double sum = 0;
      for (size_t i = 0; i < block.size(); ++i) {
        ASSERT_TRUE(std::isfinite(gradients.gradient()[block.offset + i])) << block.name;
        sum += std::fabs(gradients.gradient()[block.offset + i]);
      }
      EXPECT_GT(sum, 0) << preset << " " << block.name;
    }
  }
}

TEST(gradients_test, threads_do_not_change_a_bit) {
  for (const char* preset : {"fast", "paper"}) {
    const Step step(preset, {{100, 30}, {64, 41}, {37, 60}});
    std::vector<float> first;
    for (const int threads : {1, 2, 3, 5}) {
      Gradients gradients;
      for (int again = 0; again < 2; ++again) {  // what is kept from step to step does not matter either
        const BatchLoss loss = gradients.compute(step.network, step.chunks, step.theta,
                                                 {.load_balancing = 0.3, .auxiliary = 0.5}, threads);
        EXPECT_EQ(loss.good, 201);
        const std::vector<float> got(gradients.gradient().begin(), gradients.gradient().end());
        if (first.empty()) first = got;
        EXPECT_EQ(got, first) << preset << " " << threads;
      }
    }
  }
}

// Rows without a usable density change nothing but the count.
TEST(gradients_test, bad_rows_are_counted_and_left_out) {
  for (const char* preset : {"fast", "paper"}) {
    Step with(preset, {{48, 30}, {48, 40}}), without(preset, {{48, 30}});
    for (size_t i = 2 * 48; i < with.theta.size(); ++i) with.theta[i] = 1e30f;
    Gradients a, b;
    const LossTerms terms{.load_balancing = 0.3, .auxiliary = 0.5};
    const BatchLoss x = a.compute(with.network, with.chunks, with.theta, terms, 2),
                    y = b.compute(without.network, without.chunks, without.theta, terms, 2);
    EXPECT_EQ(x.good, 48);
    EXPECT_EQ(x.bad, 48);
    EXPECT_EQ(x.nll, y.nll);
    double largest = 0, difference = 0;
    for (size_t i = 0; i < a.gradient().size(); ++i) {
      largest = std::max(largest, std::fabs(static_cast<double>(b.gradient()[i])));
      difference = std::max(difference, std::fabs(static_cast<double>(a.gradient()[i] - b.gradient()[i])));
    }
    EXPECT_LT(difference, 1e-6 * largest);
    std::fill(with.theta.begin(), with.theta.end(), 1e30f);
    EXPECT_EQ(a.compute(with.network, with.chunks, with.theta, terms, 2).good, 0);
  }
}

// Components that hardly count are pulled up by the load-balancing term, and nothing but the logits is.
TEST(gradients_test, load_balancing_draws_the_mean_weights_of_the_components_together) {
  Step step("fast", {{96, 30}});
  float* bias = step.network.weights().data() + step.network.blocks().back().offset;
  bias[1] -= 6;
  Gradients with, without;
  with.compute(step.network, step.chunks, step.theta, {.load_balancing = 0.5}, 1);
  without.compute(step.network, step.chunks, step.theta, {}, 1);
  const size_t offset = step.network.blocks().back().offset;
  for (size_t i = 0; i < static_cast<size_t>(step.network.output_size()); ++i) {
    const double pull = with.gradient()[offset + i] - without.gradient()[offset + i];
    if (i < 4) {
      EXPECT_EQ(pull < -0.03, i == 1) << i;  // a step against the gradient raises it
    } else {
      EXPECT_EQ(pull, 0) << i;
    }
  }
}

}  // namespace
}  // namespace penn
