#include "penn/train/optimiser.h"

#include <gtest/gtest.h>

#include <cmath>

#include "network/reference.h"

namespace penn {
namespace {

using reference::random_floats;
using Floats = std::vector<float>;

std::vector<WeightBlock> blocks_of(std::vector<Shape> shapes) {
  WeightList list;
  for (Shape& shape : shapes) list.add("w", std::move(shape), 1);
  return list.blocks();
}

// Adam, decoupled decay, clipping and the average, by their definitions in doubles. Ten steps in floats: 5e-6 of the
// size of a weight.
TEST(optimiser_test, ten_steps_are_those_of_adam_by_its_definition) {
  const size_t n = 9 * 5 + 7;
  const std::vector<WeightBlock> blocks = blocks_of({{9, 5}, {7}});
  const OptimiserOptions o{.weight_decay = 0.1, .clip = 2, .ema = 0.9};
  Floats w = random_floats(n, 1);
  Optimiser optimiser(blocks, w, o);
  std::vector<double> x(w.begin(), w.end()), m(n), v(n), average = x;
  for (int t = 1; t <= 10; ++t) {
    const Floats g = random_floats(n, static_cast<uint64_t>(10 + t), t % 2 ? 3 : 0.01);  // clipped, not clipped
    double norm = 0;
    for (const float gi : g) norm += static_cast<double>(gi) * gi;
    norm = std::sqrt(norm);
    const double rate = 0.01 * t, keep = std::min(0.9, (1.0 + t) / (10.0 + t));
    for (size_t i = 0; i < n; ++i) {
      const double gi = g[i] * (norm > 2 ? 2 / norm : 1);
      m[i] = 0.9 * m[i] + 0.1 * gi;
      v[i] = 0.999 * v[i] + 0.001 * gi * gi;
      x[i] = x[i] * (1 - rate * 0.1) -
             rate * (m[i] / (1 - std::pow(0.9, t))) / (std::sqrt(v[i] / (1 - std::pow(0.999, t))) + 1e-8);
      average[i] = keep * average[i] + (1 - keep) * x[i];
    }
    ASSERT_TRUE(optimiser.step(w, g, rate, 2));
    for (size_t i = 0; i < n; ++i) {
      EXPECT_NEAR(w[i], x[i], 5e-6 * (1 + std::fabs(x[i]))) << t;
      EXPECT_NEAR(optimiser.averaged(w)[i], average[i], 5e-6 * (1 + std::fabs(x[i]))) << t;
    }
  }
}

TEST(optimiser_test, a_gradient_that_is_not_finite_changes_nothing) {
  const std::vector<WeightBlock> blocks = blocks_of({{10, 12}, {3}});
  for (const bool rotated : {false, true}) {
    Floats w = random_floats(123, 2);
    Optimiser optimiser(blocks, w, {.clip = 1, .ema = 0.9, .rotated = rotated});
    ASSERT_TRUE(optimiser.step(w, random_floats(123, 3), 0.01, 1));
    const Floats before = w;
    const Optimiser::State state = optimiser.state();
    for (const float bad : {std::nanf(""), INFINITY, 1e30f * 1e30f}) {
      Floats g = random_floats(123, 4);
      g[77] = bad;
      EXPECT_FALSE(optimiser.step(w, g, 0.01, 2));
      EXPECT_EQ(w, before);
      EXPECT_EQ(optimiser.state().m, state.m);
      EXPECT_EQ(optimiser.state().average, state.average);
      EXPECT_EQ(optimiser.state().bases, state.bases);
      EXPECT_EQ(optimiser.state().steps, 1);
    }
  }
}

TEST(optimiser_test, threads_do_not_change_a_bit) {
  const std::vector<WeightBlock> blocks = blocks_of(
      {{150, 330}, {70}, {33, 200}, {5, 6}});  // rows in two parts; a side whose basis all threads turn together
  const size_t n = 150 * 330 + 70 + 33 * 200 + 30;
  for (const bool rotated : {false, true}) {
    Floats first;
    for (const int threads : {1, 2, 3, 5}) {
      Floats w = random_floats(n, 5);
      Optimiser optimiser(blocks, w, {.clip = 1, .ema = 0.99, .rotated = rotated});
      for (uint64_t t = 0; t < 25; ++t) optimiser.step(w, random_floats(n, 6 + t), 0.01, threads);
      if (threads == 1) first = w;
      EXPECT_EQ(w, first) << threads;
    }
  }
}

// g depends on w, so that a difference would grow.
TEST(optimiser_test, state_continues_bit_by_bit) {
  const std::vector<WeightBlock> blocks = blocks_of({{16, 24}, {5}});
  for (const int at : {0, 1, 30}) {
    Floats a = random_floats(389, 7);
    const OptimiserOptions o{.ema = 0.9, .rotated = true};
    Optimiser first(blocks, a, o);
    const auto step = [](Optimiser& optimiser, Floats& w, int i) {
      Floats g(w.size());
      for (size_t k = 0; k < w.size(); ++k) g[k] = std::sin(w[k] * static_cast<float>(1 + i));
      ASSERT_TRUE(optimiser.step(w, g, 0.01, 2));
    };
    for (int i = 0; i < at; ++i) step(first, a, i);
    Floats b = a;
    Optimiser second(blocks, b, o);
    for (int i = 0; i < 3; ++i) step(second, b, i);  // a past of its own, which the state replaces
    b = a;
    ASSERT_TRUE(second.set_state(first.state()));
    for (int i = at; i < at + 40; ++i) step(first, a, i), step(second, b, i);
    EXPECT_EQ(a, b) << at;
  }
}

TEST(optimiser_test, the_state_of_another_network_is_refused) {
  const Floats w(120), other(60);
  const Optimiser a(blocks_of({{10, 12}}), w, {.ema = 0.9, .rotated = true});
  Optimiser b(blocks_of({{10, 6}}), other, {.ema = 0.9, .rotated = true}),
      c(blocks_of({{10, 12}}), w, {.ema = 0, .rotated = true});
  EXPECT_FALSE(b.set_state(a.state()));
  EXPECT_FALSE(c.set_state(a.state()));
}

// Least squares with strongly correlated inputs: along the weights' own axes Adam crawls.
TEST(optimiser_test, an_ill_conditioned_regression_is_solved_in_fewer_steps_in_the_gradients_basis) {
  const auto loss_after = [](bool rotated) {
    constexpr size_t m = 10, n = 30, rows = 64;
    Floats mix = random_floats(n * n, 8), w(m * n, 0.0f);
    for (float& x : mix) x += 4;
    const Floats truth = random_floats(m * n, 9);
    Optimiser optimiser(blocks_of({{m, n}}), w, {.beta1 = 0.95, .beta2 = 0.95, .rotated = rotated});
    double loss = 0;
    for (int step = 0; step < 400; ++step) {
      const Floats noise = random_floats(rows * n, static_cast<uint64_t>(100 + step));
      Floats x(rows * n, 0.0f), g(m * n, 0.0f);
      for (size_t b = 0; b < rows; ++b)
        for (size_t k = 0; k < n; ++k)
          for (size_t j = 0; j < n; ++j) x[b * n + j] += noise[b * n + k] * mix[k * n + j] / 10;
      loss = 0;
      for (size_t b = 0; b < rows; ++b)
        for (size_t i = 0; i < m; ++i) {
          float residual = 0;
          for (size_t j = 0; j < n; ++j) residual += x[b * n + j] * (w[i * n + j] - truth[i * n + j]);
          loss += residual * residual / (rows * m);
          for (size_t j = 0; j < n; ++j) g[i * n + j] += 2 * residual * x[b * n + j] / (rows * m);
        }
      EXPECT_TRUE(optimiser.step(w, g, 0.02 * (1 - step / 400.0), 1));
    }
    return loss;
  };
  EXPECT_LT(loss_after(true), 0.3 * loss_after(false));
}

}  // namespace
}  // namespace penn
