#include "penn/network/robust_input.h"

#include <gtest/gtest.h>

namespace penn {
namespace {

TEST(robust_input_test, fast_channels_equal_the_reference) {
  torch::manual_seed(1);
  RobustInput input(2, {1, 8});
  const torch::Tensor z = torch::randn({5, 43, 2}).cumsum(1) * 30 + 7;
  input.calibrate(z);
  EXPECT_EQ(input.channels(), 6);
  EXPECT_LT((input.forward(z) - input.forward_reference(z)).abs().max().item<double>(), 2e-6);
  const torch::Tensor brief = z.slice(1, 0, 3);  // shorter than the longest lag
  EXPECT_LT((input.forward(brief) - input.forward_reference(brief)).abs().max().item<double>(), 2e-6);
}

// 40,000 Gaussian numbers: the median distance has a relative error of about 0.6 %.
TEST(robust_input_test, unit_is_the_standard_deviation_of_gaussian_data_whatever_the_outliers) {
  torch::manual_seed(2);
  RobustInput input(1, {1});
  torch::Tensor z = 5 * torch::randn({40, 1000, 1}) + 100;
  z.select(1, 17).fill_(1e30);  // one point in a thousand
  input.calibrate(z);
  const auto buffers = input.named_buffers();
  EXPECT_NEAR(buffers["centre"].item<double>(), 100, 0.15);
  EXPECT_NEAR(buffers["unit"][0][0].item<double>(), 5, 0.15);
  EXPECT_NEAR(buffers["unit"][0][1].item<double>(), 5 * std::sqrt(2.0), 0.25);
  EXPECT_TRUE(torch::isfinite(input.forward(z)).all().item<bool>());
}

TEST(robust_input_test, constant_data_have_unit_one) {
  RobustInput input(1, {1});
  const torch::Tensor z = torch::full({3, 20, 1}, 4.0f);
  input.calibrate(z);
  EXPECT_EQ(input.forward(z).abs().max().item<float>(), 0.0f);
}

}  // namespace
}  // namespace penn
