#include "penn/model/estimator.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/files_for_tests.h"
#include "network/reference.h"
#include "penn/base/error.h"
#include "penn/network/mixture_output.h"
#include "penn/posterior/normal.h"
#include "penn/simulate/batch_stream.h"
#include "penn/system/load_system.h"

namespace penn {
namespace {

// A model with random weights, its outputs enlarged so that scales and couplings of many sizes occur.
Model random_model(const std::string& name, bool paper) {
  const SystemChoice choice = load_system(name);
  const int d = static_cast<int>(choice.system.observations[static_cast<size_t>(choice.observation)].channels.size()),
            M = static_cast<int>(choice.system.parameters.size());
  NetworkOptions options = paper ? paper_network(d, M) : fast_network(d, M);
  options.lstm_hidden = 20, options.lstm_layers = 2, options.decoder_width = 50;
  options.length_low = 50, options.length_high = 200;
  options.sampling_low = choice.system.simulation.sampling.low,
  options.sampling_high = choice.system.simulation.sampling.high;
  Model model{"random", {}, choice.system, choice.observation, Network(options)};
  model.network.set_random_weights(3);
  const TrajectoryBatch set = simulate_set(choice.system, choice.observation, {.seed = 1, .length = 100}, 100).all;
  model.network.fit_input_scaling(set.z.data(), set.count, set.length, 1);
  const WeightBlock& last = model.network.blocks()[model.network.blocks().size() - 2];
  for (size_t i = 0; i < last.size(); ++i) model.network.weights()[last.offset + i] *= 3;
  model.info.network = options;
  model.info.lengths = {50, 200};
  model.info.sampling = choice.system.simulation.sampling;
  const size_t E = static_cast<size_t>(model.network.embedding_size());
  Typicality& f = model.info.typicality;
  f.mean.assign(E, 0), f.spread = {1, 1}, f.directions.assign(2 * E, 0);
  f.directions[0] = f.directions[E + 1] = 1;
  for (int i = 0; i <= 1000; ++i)
    f.inside.push_back(0.01f * static_cast<float>(i)), f.outside.push_back(0.3f * static_cast<float>(i));
  return model;
}

TEST(estimator_test, an_estimate_is_the_mixture_of_the_raw_output_in_the_parameters_own_units) {
  for (const bool paper : {false, true}) {  // box and linear coordinates
    const Model model = random_model("soup", paper);
    const TrajectoryBatch set = simulate_set(model.system, 0, {.seed = 6, .length = 100}, 3).all;
    const std::vector<Estimate> estimates = Estimator(model).estimate(set.z.data(), 3, 100, set.sampling.data());
    std::vector<float> embedding(static_cast<size_t>(3 * model.network.embedding_size())),
        raw(static_cast<size_t>(3 * model.network.output_size()));
    model.network.embed(set.z.data(), 3, 100, set.sampling.data(), embedding.data(), 1);
    model.network.decode(embedding.data(), 3, raw.data(), 1);
    const Range a = model.system.parameters[0].range, b = model.system.parameters[1].range;
    const double s[2] = {0.3, -0.2}, wide[2] = {a.high - a.low, b.high - b.low};
    for (size_t i = 0; i < 3; ++i) {
      const double expected = reference::log_density(
          model.info.network.mixture,
          reference::as_doubles(raw.data() + i * static_cast<size_t>(model.network.output_size()),
                                static_cast<size_t>(model.network.output_size())),
          s);
      double theta[2] = {a.low + (s[0] + 1) / 2 * wide[0], b.low + (s[1] + 1) / 2 * wide[1]},
             jacobian = std::log(wide[0] / 2) + std::log(wide[1] / 2);
      if (!paper) {
        theta[0] = a.low + wide[0] * normal_cdf(s[0]), theta[1] = b.low + wide[1] * normal_cdf(s[1]);
        jacobian = std::log(wide[0] * normal_density(s[0])) + std::log(wide[1] * normal_density(s[1]));
      }
      EXPECT_NEAR(estimates[i].posterior.log_density(theta), expected - jacobian, 1e-8 * (1 + std::fabs(expected)));
    }
  }
}

TEST(estimator_test, estimates_do_not_depend_on_neighbours_or_threads) {
  for (const std::string name : {"soup", "cfhn:x1x2"})
    for (const bool paper : {false, true}) {
      const Model model = random_model(name, paper);
      const size_t M = model.system.parameters.size();
      const int64_t B = 530, n = 60, d = model.info.network.inputs;  // more than one chunk of 512
      const TrajectoryBatch set = simulate_set(model.system, model.observation, {.seed = 7, .length = n}, B).all;
      const std::vector<Estimate> all = Estimator(model, 1).estimate(set.z.data(), B, n, set.sampling.data());
      const auto expect_same = [&](const Estimate& a, const Estimate& b) {
        EXPECT_EQ(a.typicality, b.typicality);
        ASSERT_EQ(a.posterior.components(), b.posterior.components());
        for (size_t j = 0; j < a.posterior.components(); ++j) {
          EXPECT_EQ(a.posterior.mixture().log_weight(j), b.posterior.mixture().log_weight(j));
          for (size_t k = 0; k < M; ++k)
            EXPECT_EQ(a.posterior.mixture().component_mean(j)[k], b.posterior.mixture().component_mean(j)[k]);
          for (size_t k = 0; k < M * M; ++k)
            EXPECT_EQ(a.posterior.mixture().factor(j)[k], b.posterior.mixture().factor(j)[k]);
        }
      };
      for (const int threads : {2, 3, 5}) {
        const std::vector<Estimate> same = Estimator(model, threads).estimate(set.z.data(), B, n, set.sampling.data());
        for (size_t b = 0; b < static_cast<size_t>(B); b += 13) expect_same(all[b], same[b]);
      }
      const Estimator two(model, 2);
      for (const int64_t b : {int64_t{0}, int64_t{17}, int64_t{511}, int64_t{512}, B - 1})
        expect_same(all[static_cast<size_t>(b)],
                    two.estimate(set.z.data() + b * n * d, 1, n, set.sampling.data() + b)[0]);
    }
}

TEST(estimator_test, no_trajectories_give_no_estimates) {
  EXPECT_TRUE(Estimator(random_model("soup", false)).estimate(nullptr, 0, 100, nullptr).empty());
}

}  // namespace
}  // namespace penn
