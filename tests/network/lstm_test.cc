// The LSTM against its definition in doubles: values by plain loops, gradients by differences. (tests/referee compares
// with LibTorch at larger sizes.)
#include "penn/network/lstm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "network/reference.h"
#include "penn/network/encoders.h"

namespace penn {
namespace {

using reference::random_floats;

double sigmoid_of(double x) {
  return 1 / (1 + std::exp(-x));
}

// mean over t of the last layer's h: (H). x (T, C).
std::vector<double> mean_by_definition(const LstmShape& s, const std::vector<double>& weights, const double* x,
                                       int64_t T) {
  const int H = s.hidden;
  std::vector<std::vector<double>> h(static_cast<size_t>(s.layers), std::vector<double>(static_cast<size_t>(H))), c = h;
  std::vector<double> mean(static_cast<size_t>(H));
  for (int64_t t = 0; t < T; ++t) {
    std::vector<double> input(x + t * s.channels, x + (t + 1) * s.channels);
    const double* w = weights.data();
    for (int layer = 0; layer < s.layers; ++layer) {
      const int I = s.inputs(layer);
      const double *w_ih = w, *w_hh = w_ih + 4 * H * I, *b_ih = w_hh + 4 * H * H, *b_hh = b_ih + 4 * H;
      w += s.weight_count(layer);
      std::vector<double>&ho = h[static_cast<size_t>(layer)], &co = c[static_cast<size_t>(layer)], before = ho;
      for (int k = 0; k < H; ++k) {
        double gate[4];
        for (int g = 0; g < 4; ++g) {
          const int row = g * H + k;
          gate[g] = b_ih[row] + b_hh[row];
          for (int i = 0; i < I; ++i) gate[g] += w_ih[row * I + i] * input[static_cast<size_t>(i)];
          for (int i = 0; i < H; ++i) gate[g] += w_hh[row * H + i] * before[static_cast<size_t>(i)];
        }
        double& cell = co[static_cast<size_t>(k)];
        cell = sigmoid_of(gate[1]) * cell + sigmoid_of(gate[0]) * std::tanh(gate[2]);
        ho[static_cast<size_t>(k)] = sigmoid_of(gate[3]) * std::tanh(cell);
      }
      input = ho;
    }
    for (int k = 0; k < H; ++k)
      mean[static_cast<size_t>(k)] += h.back()[static_cast<size_t>(k)] / static_cast<double>(T);
  }
  return mean;
}

struct Result {
  std::vector<float> mean, gradient;
};

Result run(const LstmShape& s, int64_t B, int64_t T, const std::vector<float>& weights, const std::vector<float>& x,
           const std::vector<float>& dmean, LstmMemory memory) {
  const LstmPass pass(s, B, T, weights.data(), memory);
  Result result{std::vector<float>(static_cast<size_t>(B * s.hidden)), std::vector<float>(weights.size(), 0.0f)};
  AlignedVector<float> saved(static_cast<size_t>(pass.tiles()) * pass.saved_floats_per_tile()),
      gradients(static_cast<size_t>(pass.tiles()) * pass.gradient_floats_per_tile());
  for (int64_t tile = 0; tile < pass.tiles(); ++tile)
    pass.forward(tile, x.data(), result.mean.data(), s.hidden,
                 memory == LstmMemory::kNothing
                     ? nullptr
                     : saved.data() + static_cast<size_t>(tile) * pass.saved_floats_per_tile());
  if (memory == LstmMemory::kNothing) return result;
  for (int64_t tile = 0; tile < pass.tiles(); ++tile)
    pass.backward(tile, x.data(), dmean.data(), s.hidden,
                  saved.data() + static_cast<size_t>(tile) * pass.saved_floats_per_tile(),
                  gradients.data() + static_cast<size_t>(tile) * pass.gradient_floats_per_tile());
  pass.add_gradients(gradients.data(), result.gradient.data());
  return result;
}

TEST(lstm_test, values_and_gradients_follow_the_definition) {
  const LstmShape s{.channels = 2, .hidden = 3, .layers = 2};
  const int64_t B = 3, T = 21;  // more than one chunk of 16 steps
  const std::vector<float> weights = random_floats(s.weight_count(), 1, 0.6),
                           x = random_floats(static_cast<size_t>(B * T * 2), 2),
                           dmean = random_floats(static_cast<size_t>(B * 3), 3);
  const std::vector<double> exact(weights.begin(), weights.end()), input(x.begin(), x.end());
  const auto loss = [&](const std::vector<double>& w) {
    double sum = 0;
    for (int64_t b = 0; b < B; ++b) {
      const std::vector<double> mean = mean_by_definition(s, w, input.data() + b * T * 2, T);
      for (size_t k = 0; k < 3; ++k) sum += mean[k] * dmean[static_cast<size_t>(b) * 3 + k];
    }
    return sum;
  };
  for (const LstmMemory memory : {LstmMemory::kEverything, LstmMemory::kRecompute}) {
    const Result result = run(s, B, T, weights, x, dmean, memory);
    for (int64_t b = 0; b < B; ++b) {
      const std::vector<double> mean = mean_by_definition(s, exact, input.data() + b * T * 2, T);
      for (size_t k = 0; k < 3; ++k) EXPECT_NEAR(result.mean[static_cast<size_t>(b) * 3 + k], mean[k], 2e-6);
    }
    for (size_t i = 0; i < weights.size();
         ++i) {  // differences of step 1e-5 in doubles: exact to 1e-9; floats give 1e-6 of the largest
      std::vector<double> w = exact;
      w[i] = exact[i] + 1e-5;
      const double above = loss(w);
      w[i] = exact[i] - 1e-5;
      EXPECT_NEAR(result.gradient[i], (above - loss(w)) / 2e-5, 5e-6) << i;
    }
  }
}

TEST(lstm_test, what_is_kept_does_not_change_a_bit) {
  for (const auto& [B, T] : {std::pair<int64_t, int64_t>{1, 1}, {kTileLanes, 16}, {2 * kTileLanes + 5, 50}}) {
    const LstmShape s{.channels = 1, .hidden = 10, .layers = 3};
    const std::vector<float> weights = random_floats(s.weight_count(), 4, 0.4),
                             x = random_floats(static_cast<size_t>(B * T), 5),
                             dmean = random_floats(static_cast<size_t>(B * 10), 6);
    const Result all = run(s, B, T, weights, x, dmean, LstmMemory::kEverything),
                 some = run(s, B, T, weights, x, dmean, LstmMemory::kRecompute);
    EXPECT_EQ(all.mean, some.mean);
    EXPECT_EQ(all.gradient, some.gradient);
    EXPECT_EQ(all.mean, run(s, B, T, weights, x, dmean, LstmMemory::kNothing).mean);
  }
}

TEST(lstm_test, a_trajectory_does_not_depend_on_its_neighbours) {
  const LstmShape s{.channels = 2, .hidden = 7, .layers = 2};
  const int64_t B = kTileLanes + 3, T = 40;
  const std::vector<float> weights = random_floats(s.weight_count(), 7, 0.5),
                           x = random_floats(static_cast<size_t>(B * T * 2), 8);
  const Result all = run(s, B, T, weights, x, {}, LstmMemory::kNothing);
  for (int64_t b = 0; b < B; ++b) {
    const std::vector<float> own(x.begin() + b * T * 2, x.begin() + (b + 1) * T * 2);
    const Result alone = run(s, 1, T, weights, own, {}, LstmMemory::kNothing);
    EXPECT_EQ(alone.mean, std::vector<float>(all.mean.begin() + b * 7, all.mean.begin() + (b + 1) * 7)) << b;
  }
}

TEST(lstm_test, an_encoder_gives_the_same_bits_on_any_number_of_threads) {
  NetworkOptions options = paper_network(1, 1);
  options.lstm_hidden = 12, options.lstm_layers = 2;
  WeightList list;
  LstmEncoder encoder(list, options);
  const std::vector<float> weights = random_floats(list.size(), 9, 0.3), z = random_floats(100 * 30, 10, 5),
                           dout = random_floats(100 * 12, 11);
  encoder.fit_input_scaling(z.data(), 100, 30);
  std::vector<float> first_out, first_gradient;
  for (const int threads : {1, 2, 3, 5}) {
    std::vector<float> out(100 * 12), again(out.size()), gradient(weights.size(), 0.0f);
    LstmEncoder::State state;
    encoder.forward(weights.data(), z.data(), 100, 30, out.data(), 12, state, threads);
    encoder.backward(dout.data(), 12, state, gradient.data(), threads);
    encoder.encode(weights.data(), z.data(), 100, 30, again.data(), 12, threads);
    EXPECT_EQ(out, again);
    if (threads == 1) first_out = out, first_gradient = gradient;
    EXPECT_EQ(out, first_out);
    EXPECT_EQ(gradient, first_gradient);
  }
}

TEST(lstm_test, weights_and_operations_are_counted) {
  const LstmShape paper;
  EXPECT_EQ(paper.weight_count(), 200u * (1 + 50 + 2) + 3 * 200u * (50 + 50 + 2));
  EXPECT_EQ(paper.flops_forward(), 2.0 * 200 * (51 + 3 * 100));
}

}  // namespace
}  // namespace penn
