#include "penn/network/penn_network.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "penn/base/error.h"
#include "penn/network/fixed_encoder.h"
#include "penn/network/mixture_head.h"

namespace penn {
namespace {

// Features without weights, as a stranger would add them: this file only.
class MeanAndEnd : public FixedEncoder {
 public:
  MeanAndEnd() : FixedEncoder(3) {}
  void compute(const float* z, int64_t B, int64_t n, int64_t d, float* out) const override {
    for (int64_t b = 0; b < B; ++b, z += n * d, out += 3) {
      for (int64_t t = 0; t < n; ++t) out[0] += z[t * d] / static_cast<float>(n);
      out[1] = z[(n - 1) * d];
      out[2] = std::numeric_limits<float>::quiet_NaN();
    }
  }
  nlohmann::json settings() const override { return nlohmann::json::object(); }
};
const RegisterEncoder registered("mean_and_end",
                                 [](int, const nlohmann::json&) { return std::make_shared<MeanAndEnd>(); });

NetworkOptions everything() {
  NetworkOptions o = paper_network(2, 3);
  o.encoders = {"lstm", "convolution", "mean_and_end"};
  o.encoder_settings["lstm"] = {{"hidden", 10}, {"layers", 2}};
  o.decoder_blocks = 2;
  o.length_low = 20;
  o.length_high = 80;
  o.sampling_low = 0.1;
  o.sampling_high = 1.0;
  return o;
}

TEST(penn_network_test, paper_network_has_the_papers_sizes) {
  PennNetwork network(paper_network(1, 5));
  int64_t count = 0;
  for (const auto& p : network.parameters()) count += p.numel();
  const int64_t lstm = 200 * (1 + 50 + 2) + 3 * 200 * (50 + 50 + 2);
  const int64_t first = 2 * (50 * 100 + 100) + 2 * (100 * 100 + 100), others = 5 * 3 * (100 * 100 + 100);
  EXPECT_EQ(count, lstm + first + others + 210 * 101);  // K = 210
  EXPECT_EQ(network.embedding_size(), 50);
}

TEST(penn_network_test, gradients_reach_every_weight) {
  torch::manual_seed(1);
  PennNetwork network(everything());
  const torch::Tensor z = torch::randn({16, 60, 2}).cumsum(1);
  network.calibrate(z);
  const torch::Tensor y = network.forward(z, torch::full({16}, 0.3));
  EXPECT_EQ(y.sizes(), (std::vector<int64_t>{16, network.options().mixture.size()}));
  mixture_loss(y, torch::rand({16, 3}), network.options().mixture).loss.backward();
  for (const auto& p : network.named_parameters()) {
    ASSERT_TRUE(p.value().grad().defined()) << p.key();
    EXPECT_GT(p.value().grad().abs().max().item<float>(), 0.0f) << p.key();
    EXPECT_TRUE(torch::isfinite(p.value().grad()).all().item<bool>()) << p.key();
  }
}

TEST(penn_network_test, decoder_is_given_logarithms_scaled_to_the_trained_range) {
  PennNetwork network(everything());
  const torch::Tensor sampling = torch::tensor({0.1f, 1.0f, std::sqrt(0.1f)});
  const auto last = [&](int n) {
    torch::NoGradGuard no_grad;
    return network.embedding(torch::randn({3, n, 2}), sampling).slice(1, network.embedding_size() - 2);
  };
  EXPECT_NEAR(last(20)[0][0].item<float>(), -1, 1e-6);
  EXPECT_NEAR(last(40)[1][0].item<float>(), 0, 1e-6);
  EXPECT_NEAR(last(80)[2][0].item<float>(), 1, 1e-6);
  EXPECT_NEAR(last(80)[0][1].item<float>(), -1, 1e-6);
  EXPECT_NEAR(last(80)[1][1].item<float>(), 1, 1e-6);
  EXPECT_NEAR(last(80)[2][1].item<float>(), 0, 1e-6);
  EXPECT_THROW(network.forward(torch::randn({3, 20, 2})), c10::Error);  // sampling is needed
}

TEST(penn_network_test, options_in_force_rebuild_the_same_structure) {
  PennNetwork network(everything());
  const NetworkOptions stored = network_options_from_json(nlohmann::json::parse(to_json(network.options()).dump()));
  EXPECT_EQ(stored.encoder_settings["convolution"]["stride"], 2);  // a default, written out
  PennNetwork again(stored);
  const auto a = network.named_parameters(), b = again.named_parameters();
  ASSERT_EQ(a.size(), b.size());
  for (const auto& p : a) EXPECT_EQ(p.value().sizes(), b[p.key()].sizes()) << p.key();
}

TEST(penn_network_test, first_block_skips_linearly_and_the_others_identically) {
  torch::manual_seed(2);
  ResNet decoder(4, 4, 2, 3);
  const torch::Tensor u = torch::randn({5, 4});
  auto p = decoder.named_parameters();
  const auto linear = [&](const std::string& name, const torch::Tensor& x) {
    return torch::matmul(x, p[name + ".weight"].t()) + p[name + ".bias"];
  };
  const auto chain = [&](const std::string& block, const torch::Tensor& x) {
    return torch::elu(linear(block + ".l3", torch::elu(linear(block + ".l2", torch::elu(linear(block + ".l1", x))))));
  };
  const torch::Tensor first = chain("block1", u) + linear("block1.skip", u);
  const torch::Tensor second = chain("block2", first) + first;
  EXPECT_LT((decoder.forward(u) - linear("last", second)).abs().max().item<float>(), 1e-6f);
  EXPECT_FALSE(p.contains("block2.skip.weight"));
}

TEST(penn_network_test, with_a_stem_every_block_skips_identically) {
  torch::manual_seed(2);
  ResNet decoder(7, 4, 1, 3, /*stem=*/true);
  const torch::Tensor x = torch::randn({5, 7});
  auto p = decoder.named_parameters();
  EXPECT_FALSE(p.contains("block1.skip.weight"));
  const auto linear = [&](const std::string& name, const torch::Tensor& u) { return torch::matmul(u, p[name + ".weight"].t()) + p[name + ".bias"]; };
  const torch::Tensor u = linear("stem", x);
  const torch::Tensor v = torch::elu(linear("block1.l3", torch::elu(linear("block1.l2", torch::elu(linear("block1.l1", u)))))) + u;
  EXPECT_LT((decoder.forward(x) - linear("last", v)).abs().max().item<float>(), 1e-6f);
}

TEST(penn_network_test, fixed_features_are_standardised_clipped_and_never_nan) {
  torch::manual_seed(3);
  MeanAndEnd encoder;
  torch::Tensor z = torch::randn({200, 10, 1}) * 3 + 50;
  z[0] = 1e20;
  encoder.calibrate(z);
  const torch::Tensor features = encoder.forward(z);
  EXPECT_TRUE(torch::isfinite(features).all().item<bool>());
  EXPECT_EQ(features[0][0].item<float>(), 8.0f);
  EXPECT_NEAR(features.select(1, 1).median().item<float>(), 0, 1e-6);
  EXPECT_EQ(features.select(1, 2).abs().max().item<float>(), 0.0f);
  EXPECT_FALSE(features.requires_grad());
}

TEST(penn_network_test, unknown_encoder_is_named_with_the_known_ones) {
  const auto names = encoder_names();
  EXPECT_TRUE(std::count(names.begin(), names.end(), "lstm"));
  EXPECT_TRUE(std::count(names.begin(), names.end(), "convolution"));
  NetworkOptions o = paper_network(1, 1);
  o.encoders = {"transformer"};
  try {
    PennNetwork network(o);
    FAIL();
  } catch (const ModelError& e) {
    EXPECT_STREQ(e.what(), "unknown encoder 'transformer'");
    EXPECT_NE(e.hint().find("lstm"), std::string::npos);
  }
}

}  // namespace
}  // namespace penn
