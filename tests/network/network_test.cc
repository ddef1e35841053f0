#include "penn/network/network.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/files_for_tests.h"
#include "network/reference.h"
#include "penn/base/error.h"
#include "penn/network/network_file.h"

namespace penn {
namespace {

using reference::random_floats;

NetworkOptions everything() {
  NetworkOptions o = paper_network(2, 3);
  o.encoders = {"lstm", "statistics"};
  o.lstm_hidden = 10, o.lstm_layers = 2;
  o.decoder_blocks = 2;
  o.length_low = 20;
  o.length_high = 80;
  o.sampling_low = 0.1;
  o.sampling_high = 1.0;
  return o;
}

std::vector<float> walks(int64_t B, int64_t n, int64_t d, uint64_t seed) {
  std::vector<float> z = random_floats(static_cast<size_t>(B * n * d), seed);
  for (int64_t b = 0; b < B; ++b)
    for (int64_t i = d; i < n * d; ++i)
      z[static_cast<size_t>(b * n * d + i)] += z[static_cast<size_t>(b * n * d + i - d)];
  return z;
}

Network random_network(const NetworkOptions& options) {
  Network network(options);
  network.set_random_weights(3);
  const std::vector<float> z = walks(100, 50, options.inputs, 1);
  network.fit_input_scaling(z.data(), 100, 50, 2);
  return network;
}

TEST(network_test, the_papers_network_has_the_papers_sizes) {
  const Network network(paper_network(1, 5));
  const size_t lstm = 200 * (1 + 50 + 2) + 3 * 200 * (50 + 50 + 2);
  const size_t first = 2 * (50 * 100 + 100) + 2 * (100 * 100 + 100), others = 5 * 3 * (100 * 100 + 100);
  EXPECT_EQ(network.weights().size(), lstm + first + others + 210 * 101);  // K = 210
  EXPECT_EQ(network.embedding_size(), 50);
  EXPECT_EQ(network.output_size(), 210);
}

TEST(network_test, the_decoder_is_given_logarithms_scaled_to_the_trained_range) {
  const Network network = random_network(everything());
  const int64_t E = network.embedding_size();
  const float sampling[] = {0.1f, 1.0f, std::sqrt(0.1f)};
  const auto last = [&](int64_t n, int64_t row, int64_t which) {
    const std::vector<float> z = walks(3, n, 2, 4);
    std::vector<float> embedding(static_cast<size_t>(3 * E));
    network.embed(z.data(), 3, n, sampling, embedding.data(), 1);
    return embedding[static_cast<size_t>(row * E + E - 2 + which)];
  };
  EXPECT_NEAR(last(20, 0, 0), -1, 1e-6);
  EXPECT_NEAR(last(40, 1, 0), 0, 1e-6);
  EXPECT_NEAR(last(80, 2, 0), 1, 1e-6);
  EXPECT_NEAR(last(80, 0, 1), -1, 1e-6);
  EXPECT_NEAR(last(80, 1, 1), 1, 1e-6);
  EXPECT_NEAR(last(80, 2, 1), 0, 1e-6);
}

TEST(network_test, encoders_stand_side_by_side_in_the_order_of_their_names) {
  NetworkOptions one = everything(), other = one;
  other.encoders = {"statistics", "lstm"};
  const Network a = random_network(one), b = random_network(other);
  const std::vector<float> z = walks(4, 30, 2, 5), sampling(4, 0.3f);
  std::vector<float> x(static_cast<size_t>(4 * a.embedding_size())), y(x.size());
  a.embed(z.data(), 4, 30, sampling.data(), x.data(), 1);
  b.embed(z.data(), 4, 30, sampling.data(), y.data(), 1);
  const size_t E = static_cast<size_t>(a.embedding_size()), S = E - 12;
  for (size_t i = 0; i < 10; ++i) EXPECT_EQ(x[E + i], y[E + S + i]);
  for (size_t i = 0; i < S; ++i) EXPECT_EQ(x[E + 10 + i], y[E + i]);
}

TEST(network_test, the_raw_output_is_that_of_the_definition) {
  for (const NetworkOptions& options : {everything(), fast_network(2, 3)}) {
    const Network network = random_network(options);
    const size_t E = static_cast<size_t>(network.embedding_size()), K = static_cast<size_t>(network.output_size());
    const std::vector<float> z = walks(7, 40, 2, 6), sampling(7, 0.3f);
    std::vector<float> embedding(7 * E), raw(7 * K);
    network.embed(z.data(), 7, 40, sampling.data(), embedding.data(), 1);
    network.decode(embedding.data(), 7, raw.data(), 2);
    const std::vector<double> weights(network.weights().begin(), network.weights().end());
    for (size_t b = 0; b < 7; ++b) {
      const reference::Row expected =
          reference::decode(network.blocks(), weights, reference::as_doubles(&embedding[b * E], E));
      for (size_t k = 0; k < K; ++k) EXPECT_NEAR(raw[b * K + k], expected[k], 1e-5 * (1 + std::fabs(expected[k])));
    }
  }
}

TEST(network_test, outputs_do_not_depend_on_neighbours_or_threads) {
  for (const NetworkOptions& options : {everything(), fast_network(2, 3)}) {
    const Network network = random_network(options);
    const size_t E = static_cast<size_t>(network.embedding_size()), K = static_cast<size_t>(network.output_size());
    const std::vector<float> z = walks(150, 40, 2, 7), sampling(150, 0.3f);
    std::vector<float> first(150 * K);
    for (const int threads : {1, 2, 3, 5}) {
      std::vector<float> embedding(150 * E), raw(150 * K);
      network.embed(z.data(), 150, 40, sampling.data(), embedding.data(), threads);
      network.decode(embedding.data(), 150, raw.data(), threads);
      if (threads == 1) first = raw;
      EXPECT_EQ(raw, first) << threads;
    }
    for (const int64_t b : {0, 77, 149}) {
      std::vector<float> embedding(E), raw(K);
      network.embed(z.data() + b * 80, 1, 40, sampling.data(), embedding.data(), 2);
      network.decode(embedding.data(), 1, raw.data(), 2);
      EXPECT_EQ(raw, std::vector<float>(first.begin() + b * static_cast<int64_t>(K),
                                        first.begin() + (b + 1) * static_cast<int64_t>(K)));
    }
    network.decode(nullptr, 0, nullptr, 2);  // nothing in, nothing out
  }
}

TEST(network_test, embeddings_for_training_and_inference_are_the_same_bits) {
  const Network network = random_network(everything());
  const std::vector<float> z = walks(20, 40, 2, 8), sampling(20, 0.3f);
  std::vector<float> a(static_cast<size_t>(20 * network.embedding_size())), b(a.size());
  LstmEncoder::State state;
  network.embed(z.data(), 20, 40, sampling.data(), a.data(), 2);
  network.embed(z.data(), 20, 40, sampling.data(), b.data(), state, 2);
  EXPECT_EQ(a, b);
}

TEST(network_test, fixed_features_are_standardised_clipped_and_finite) {
  Network network(fast_network(1, 1));
  std::vector<float> z = walks(200, 64, 1, 9);
  for (size_t i = 0; i < 64; ++i) z[i] *= 1e20f;  // one wild trajectory
  network.fit_input_scaling(z.data(), 200, 64, 2);
  const size_t E = static_cast<size_t>(network.embedding_size());
  std::vector<float> e(200 * E), sampling(200, 1.0f);
  network.embed(z.data(), 200, 64, sampling.data(), e.data(), 2);
  float largest = 0;
  for (const float x : e) {
    ASSERT_TRUE(std::fabs(x) <= 8);
    largest = std::max(largest, std::fabs(x));
  }
  EXPECT_EQ(largest, 8);
  for (size_t f = 0; f < E; ++f) {
    int above = 0;
    for (size_t b = 0; b < 200; ++b) above += e[b * E + f] > 0;
    EXPECT_LE(above, 101) << f;  // the middle is 0
  }
}

// 40,000 Gaussian numbers: the median distance has a relative error of about 0.6 %.
TEST(network_test, the_unit_of_an_input_is_the_sd_of_gaussian_data_whatever_the_outliers) {
  NetworkOptions options = paper_network(1, 1);
  Network network(options);
  std::vector<float> z = random_floats(40000, 10, 5);
  for (float& x : z) x += 100;
  for (size_t i = 17; i < z.size(); i += 1000) z[i] = 1e30f;  // one in a thousand
  network.fit_input_scaling(z.data(), 40, 1000, 1);
  EXPECT_NEAR(network.lstm()->centre()[0], 100, 0.15);
  EXPECT_NEAR(network.lstm()->unit()[0], 5, 0.15);
  const std::vector<float> constant(60, 4.0f);
  network.fit_input_scaling(constant.data(), 3, 20, 1);
  EXPECT_EQ(network.lstm()->centre()[0], 4);
  EXPECT_EQ(network.lstm()->unit()[0], 1);
}

TEST(network_test, random_weights_are_a_function_of_the_seed_and_start_components_apart) {
  Network a(fast_network(1, 4)), b(fast_network(1, 4)), c(fast_network(1, 4));
  a.set_random_weights(5);
  b.set_random_weights(5);
  c.set_random_weights(6);
  EXPECT_TRUE(std::equal(a.weights().begin(), a.weights().end(), b.weights().begin()));
  EXPECT_FALSE(std::equal(a.weights().begin(), a.weights().end(), c.weights().begin()));
  double sum = 0;
  for (const WeightBlock& block : a.blocks()) {
    if (&block == &a.blocks().back()) continue;
    for (size_t i = 0; i < block.size(); ++i) EXPECT_LE(std::fabs(a.weights()[block.offset + i]), block.spread);
  }
  const float* bias = a.weights().data() + a.blocks().back().offset;
  for (size_t i = 10 + 4; i < 50; ++i) sum += bias[i] * bias[i];
  EXPECT_NEAR(sum / 36, 0.25, 0.15);  // SD 1 / sqrt(4): standard error 0.06
}

TEST(network_test, a_network_comes_back_from_a_file) {
  const TestDirectory folder;
  for (const NetworkOptions& options : {everything(), fast_network(2, 3)}) {
    Network network = random_network(options);
    const NetworkTensors full(network, NetworkTensors::Precision::kFull);
    write_safetensors(folder / "full", {}, full.views());
    const Network same = read_network(SafetensorsFile(folder / "full"), options);
    EXPECT_TRUE(std::equal(network.weights().begin(), network.weights().end(), same.weights().begin()));

    const NetworkTensors half(network, NetworkTensors::Precision::kHalf);
    write_safetensors(folder / "half", {}, half.views());
    const Network rounded = read_network(SafetensorsFile(folder / "half"), options);
    round_as_stored(network);
    EXPECT_TRUE(std::equal(network.weights().begin(), network.weights().end(), rounded.weights().begin()));
    const std::vector<float> z = walks(5, 40, 2, 12), sampling(5, 0.3f);
    std::vector<float> a(static_cast<size_t>(5 * network.embedding_size())), b(a.size());
    network.embed(z.data(), 5, 40, sampling.data(), a.data(), 1);
    rounded.embed(z.data(), 5, 40, sampling.data(), b.data(), 1);
    EXPECT_EQ(a, b);  // the scaling of the input too
  }
}

TEST(network_test, a_file_of_another_network_is_refused) {
  const TestDirectory folder;
  Network network = random_network(fast_network(1, 2));
  write_safetensors(folder / "file", {}, NetworkTensors(network, NetworkTensors::Precision::kFull).views());
  const SafetensorsFile file(folder / "file");
  EXPECT_THROW(read_network(file, fast_network(1, 3)), ModelError);
  EXPECT_THROW(read_network(file, paper_network(1, 2)), ModelError);
  NetworkOptions huge = fast_network(1, 2);
  huge.decoder_width = 100000;
  EXPECT_THROW(read_network(file, huge), ModelError);  // before any memory is asked for
  NetworkOptions shorter = fast_network(1, 2);
  shorter.decoder_blocks = 2;
  EXPECT_NE(error_text<ModelError>([&] { read_network(file, shorter); }).find("does not belong"), std::string::npos);
  network.weights()[5] = std::numeric_limits<float>::quiet_NaN();
  write_safetensors(folder / "nan", {}, NetworkTensors(network, NetworkTensors::Precision::kFull).views());
  EXPECT_NE(error_text<ModelError>([&] {
              read_network(SafetensorsFile(folder / "nan"), fast_network(1, 2));
            }).find("not finite"),
            std::string::npos);
}

}  // namespace
}  // namespace penn
