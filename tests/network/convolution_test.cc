#include "penn/network/convolution.h"

#include <gtest/gtest.h>

#include "penn/base/error.h"

namespace penn {
namespace {

struct Case {
  int batch, time, kernel, stride;
  std::vector<int> channels;
};

double difference(const torch::Tensor& a, const torch::Tensor& expected) {
  return ((a - expected).abs().max() / expected.abs().max().clamp_min(1e-30)).item<double>();
}

// Lengths shorter than the kernel, odd batches, channels that fill no vector.
TEST(convolution_test, kernel_equals_conv1d_in_value_and_gradient) {
  torch::manual_seed(1);
  for (const Case& c :
       {Case{1, 1, 5, 2, {3, 32, 64, 96, 128}}, Case{5, 3, 5, 2, {1, 4}}, Case{37, 101, 5, 2, {3, 32, 64, 96, 128}},
        Case{17, 50, 3, 1, {2, 5, 7}}, Case{16, 64, 7, 3, {6, 11, 1, 13}}, Case{3, 40, 1, 4, {1, 9}}}) {
    const torch::Tensor x = torch::randn({c.batch, c.time, c.channels[0]});
    std::vector<torch::Tensor> weights, biases;
    int outputs = 0;
    for (std::size_t l = 1; l < c.channels.size(); ++l) {
      weights.push_back((0.3 * torch::randn({c.channels[l], c.channels[l - 1], c.kernel})).requires_grad_());
      biases.push_back((0.3 * torch::randn({c.channels[l]})).requires_grad_());
      outputs += c.channels[l];
    }
    const torch::Tensor coefficient = torch::randn({c.batch, outputs});
    std::vector<torch::Tensor> means, gradients[2];
    for (int k = 0; k < 2; ++k) {
      const torch::Tensor mean = k == 0 ? convolution_means_reference(x, weights, biases, c.stride)
                                        : convolution_means(x, weights, biases, c.stride);
      (mean * coefficient).sum().backward();
      means.push_back(mean.detach());
      for (auto* list : {&weights, &biases})
        for (auto& p : *list) {
          gradients[k].push_back(p.grad().clone());
          p.mutable_grad().zero_();
        }
    }
    EXPECT_LT(difference(means[1], means[0]), 1e-5) << "length " << c.time;
    for (std::size_t k = 0; k < gradients[0].size(); ++k)
      EXPECT_LT(difference(gradients[1][k], gradients[0][k]), 1e-4) << "length " << c.time << ", parameter " << k;
    torch::NoGradGuard no_grad;
    EXPECT_TRUE(torch::equal(convolution_means(x, weights, biases, c.stride), means[1])) << "inference";
  }
}

TEST(convolution_test, encoder_gives_the_same_with_either_code) {
  torch::manual_seed(2);
  const auto fast = make_encoder("convolution", 2, nlohmann::json::object());
  const auto slow = make_encoder("convolution", 2, {{"code", "torch"}});
  const torch::Tensor z = torch::randn({9, 77, 2}).cumsum(1);
  fast->calibrate(z);
  slow->calibrate(z);
  torch::NoGradGuard no_grad;
  auto from = fast->parameters(), to = slow->parameters();
  ASSERT_EQ(from.size(), to.size());
  for (std::size_t k = 0; k < from.size(); ++k) to[k].copy_(from[k]);
  EXPECT_EQ(fast->output_size(), 320);
  EXPECT_LT(difference(fast->forward(z), slow->forward(z)), 1e-4);
}

TEST(convolution_test, bad_settings_are_errors) {
  EXPECT_THROW(make_encoder("convolution", 1, {{"kernel", 4}}), ModelError);
  EXPECT_THROW(make_encoder("convolution", 1, {{"channels", nlohmann::json::array()}}), ModelError);
  EXPECT_THROW(make_encoder("convolution", 1, {{"channels", {32, "x"}}}), ModelError);
  EXPECT_THROW(make_encoder("convolution", 1, {{"width", 3}}), ModelError);
  EXPECT_THROW(make_encoder("convolution", 1, {{"stride", 1.5}}), ModelError);
}

}  // namespace
}  // namespace penn
