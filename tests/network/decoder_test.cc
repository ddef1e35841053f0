#include "penn/network/decoder.h"

#include <gtest/gtest.h>

#include <vector>

#include "network/reference.h"

namespace penn {
namespace {

using reference::random_floats, reference::Row;

struct Case {
  int64_t inputs, width, blocks, outputs;
  bool has_projection;
};

struct Pass {
  WeightList list;
  Decoder decoder;
  std::vector<float> weights, embedding, draw, raw, dembedding, gradient;
  int64_t B;
  Pass(const Case& c, int64_t rows)
      : decoder(list, c.inputs, c.width, c.blocks, c.outputs, c.has_projection),
        weights(random_floats(list.size(), 1, 0.4)),
        embedding(random_floats(static_cast<size_t>(rows * c.inputs), 2)),
        draw(random_floats(static_cast<size_t>(rows * c.outputs), 3)),
        raw(draw.size()),
        dembedding(embedding.size()),
        gradient(weights.size()),
        B(rows) {}
  // In ranges of so many rows, the gradient in so many columns of each matrix.
  void run(int64_t rows, int64_t gradient_columns, int64_t shard = 96) {
    Decoder::State state = decoder.make_state(B, true);
    for (int64_t first = 0; first < B; first += rows)
      decoder.forward(weights.data(), embedding.data(), first, std::min(B, first + rows), state, raw.data());
    for (int64_t first = 0; first < B; first += rows)
      decoder.backward(weights.data(), draw.data(), first, std::min(B, first + rows), state, dembedding.data());
    for (const Decoder::GradientTerm& term : decoder.gradient_terms(state, embedding.data(), draw.data()))
      for (int64_t first = 0; first < term.layer->inputs; first += gradient_columns)
        dense_gradient(term, B, shard, first, std::min(term.layer->inputs, first + gradient_columns), gradient.data());
  }
};

const Case kCases[] = {{5, 4, 2, 3, false}, {7, 4, 2, 6, true}, {3, 9, 1, 2, false}, {1, 1, 3, 1, true}};

// Differences of step 1e-5 in doubles are exact to 1e-9; the gradient itself is computed in floats.
TEST(decoder_test, values_and_gradients_follow_the_definition) {
  for (const Case& c : kCases) {
    Pass pass(c, 5);
    pass.run(5, 64);
    const std::vector<double> weights(pass.weights.begin(), pass.weights.end());
    const auto rows = [&](const std::vector<double>& w, const std::vector<double>& e) {
      std::vector<double> all;
      for (int64_t b = 0; b < pass.B; ++b) {
        const Row raw =
            reference::decode(pass.list.blocks(), w, Row(e.begin() + b * c.inputs, e.begin() + (b + 1) * c.inputs));
        all.insert(all.end(), raw.begin(), raw.end());
      }
      return all;
    };
    const auto loss = [&](const std::vector<double>& w, const std::vector<double>& e) {
      const std::vector<double> raw = rows(w, e);
      double sum = 0;
      for (size_t i = 0; i < raw.size(); ++i) sum += raw[i] * pass.draw[i];
      return sum;
    };
    const std::vector<double> embedding(pass.embedding.begin(), pass.embedding.end()),
        expected = rows(weights, embedding);
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(pass.raw[i], expected[i], 3e-6 * (1 + std::fabs(expected[i])));
    const auto differences = [&](std::vector<double> values, const std::vector<float>& got, auto f, const char* what) {
      for (size_t i = 0; i < values.size(); ++i) {
        const double x = values[i];
        values[i] = x + 1e-5;
        const double above = f(values);
        values[i] = x - 1e-5;
        const double slope = (above - f(values)) / 2e-5;
        values[i] = x;
        EXPECT_NEAR(got[i], slope, 1e-5 * (1 + std::fabs(slope))) << what << " " << i;
      }
    };
    differences(
        weights, pass.gradient, [&](const std::vector<double>& w) { return loss(w, embedding); }, "weight");
    differences(
        embedding, pass.dembedding, [&](const std::vector<double>& e) { return loss(weights, e); }, "embedding");
  }
}

TEST(decoder_test, how_rows_are_shared_out_does_not_change_a_bit) {
  for (const Case& c : {Case{40, 33, 2, 21, true}, Case{40, 33, 2, 21, false}}) {
    Pass whole(c, 200), parts(c, 200);
    whole.run(200, 1000);
    for (const int64_t rows : {int64_t{1}, int64_t{7}, int64_t{48}}) {
      parts.run(rows, rows);
      EXPECT_EQ(whole.raw, parts.raw) << rows;
      EXPECT_EQ(whole.dembedding, parts.dembedding) << rows;
      EXPECT_EQ(whole.gradient, parts.gradient) << rows;
    }
  }
}

TEST(decoder_test, the_first_block_skips_linearly_the_others_and_all_after_a_projection_identically) {
  WeightList without, with;
  const Decoder a(without, 7, 4, 2, 3, false), b(with, 7, 4, 2, 3, true);
  EXPECT_TRUE(reference::find(without.blocks(), "decoder.block1.skip.weight"));
  EXPECT_FALSE(reference::find(without.blocks(), "decoder.block2.skip.weight"));
  EXPECT_FALSE(reference::find(without.blocks(), "decoder.input_projection.weight"));
  EXPECT_FALSE(reference::find(with.blocks(), "decoder.block1.skip.weight"));
  EXPECT_EQ(reference::find(with.blocks(), "decoder.input_projection.weight")->shape, (Shape{4, 7}));
  EXPECT_EQ(with.blocks().back().name, "decoder.last.bias");
}

}  // namespace
}  // namespace penn
