// Both fast LSTM kernels against torch::nn::LSTM: value, every gradient, ten training steps.
#include "penn/network/lstm.h"

#include <gtest/gtest.h>

#include "penn/base/error.h"
#include "penn/kernel/thread_pool.h"

namespace penn {
namespace {

struct Case {
  int batch, time, channels, hidden, layers;
};

// oneDNN's threads meet at every time step in busy loops: on a machine that does other work too, two take minutes.
struct OneThread {
  OneThread() { set_pool_threads(1); }
  ~OneThread() { set_pool_threads(before); }
  int before = pool_threads();
};

torch::nn::LSTM make_lstm(const Case& c, int seed) {
  torch::manual_seed(seed);
  torch::nn::LSTM lstm(torch::nn::LSTMOptions(c.channels, c.hidden).num_layers(c.layers).batch_first(true));
  torch::NoGradGuard no_grad;  // larger than the default, so that the gates leave their linear range
  for (auto& p : lstm->parameters()) p.mul_(2.0);
  return lstm;
}

// Relative to the largest entry of the expected tensor.
double difference(const torch::Tensor& a, const torch::Tensor& expected) {
  return ((a - expected).abs().max() / expected.abs().max().clamp_min(1e-30)).item<double>();
}

// A loss that weighs every output differently.
torch::Tensor loss_of(const torch::Tensor& mean, const torch::Tensor& weight) {
  return (mean * weight + mean.square()).sum();
}

void expect_equal_to_torch(const Case& c, LstmKernel kernel, std::size_t memory_limit) {
  SCOPED_TRACE(::testing::Message() << lstm_kernel_name(kernel) << ", batch " << c.batch << ", time " << c.time
                                    << ", channels " << c.channels << ", hidden " << c.hidden << ", layers "
                                    << c.layers);
  torch::nn::LSTM lstm = make_lstm(c, 11);
  const torch::Tensor x = 2 * torch::randn({c.batch, c.time, c.channels});
  const torch::Tensor weight = torch::randn({c.batch, c.hidden});
  std::vector<torch::Tensor> values, gradients[2];
  for (int k = 0; k < 2; ++k) {
    lstm->zero_grad();
    const torch::Tensor input = x.clone().requires_grad_();
    const torch::Tensor mean = lstm_mean(input, lstm, k == 0 ? LstmKernel::kTorch : kernel, memory_limit);
    loss_of(mean, weight).backward();
    values.push_back(mean.detach());
    for (const auto& p : lstm->parameters()) gradients[k].push_back(p.grad().clone());
    gradients[k].push_back(input.grad().clone());
  }
  EXPECT_LT(difference(values[1], values[0]), 1e-5);
  const auto names = lstm->named_parameters();
  for (std::size_t k = 0; k < gradients[0].size(); ++k)
    EXPECT_LT(difference(gradients[1][k], gradients[0][k]), 1e-4) << (k < names.size() ? names[k].key() : "input");
}

const Case kCases[] = {{1, 1, 1, 1, 1},  {3, 2, 1, 50, 4},    {37, 53, 1, 50, 4}, {16, 16, 2, 50, 4},
                       {5, 33, 2, 7, 2}, {17, 100, 1, 20, 3}, {33, 17, 3, 9, 1},  {2, 131, 9, 4, 2}};

TEST(lstm_test, lane_kernel_equals_libtorch_for_odd_sizes) {
  for (const Case& c : kCases) expect_equal_to_torch(c, LstmKernel::kLane, std::size_t{4} << 30);
}

TEST(lstm_test, lane_kernel_that_computes_gates_again_equals_libtorch) {
  for (const Case& c : kCases) expect_equal_to_torch(c, LstmKernel::kLane, 0);
}

TEST(lstm_test, onednn_kernel_equals_libtorch_for_odd_sizes) {
  const OneThread one_thread;
  for (const Case& c : kCases) expect_equal_to_torch(c, LstmKernel::kOnednn, 0);
}

// Losses of ten Adam steps from the same weights. Differences grow from step to step: 1e-5 relative after ten.
std::vector<double> ten_losses(LstmKernel kernel) {
  torch::nn::LSTM lstm = make_lstm({19, 41, 2, 50, 4}, 5);
  torch::manual_seed(6);
  const torch::Tensor x = torch::randn({19, 41, 2}), target = 0.3 * torch::randn({19, 50});
  torch::optim::Adam adam(lstm->parameters(), torch::optim::AdamOptions(5e-3));
  std::vector<double> losses;
  for (int step = 0; step < 10; ++step) {
    adam.zero_grad();
    const torch::Tensor loss = (lstm_mean(x, lstm, kernel) - target).square().mean();
    loss.backward();
    adam.step();
    losses.push_back(loss.item<double>());
  }
  return losses;
}

TEST(lstm_test, ten_training_steps_give_the_losses_of_libtorch) {
  const OneThread one_thread;
  const auto expected = ten_losses(LstmKernel::kTorch);
  EXPECT_LT(expected[9], 0.9 * expected[0]);  // it does train
  for (const LstmKernel kernel : {LstmKernel::kLane, LstmKernel::kOnednn}) {
    const auto losses = ten_losses(kernel);
    for (int k = 0; k < 10; ++k)
      EXPECT_NEAR(losses[k], expected[k], 1e-5 * expected[k]) << lstm_kernel_name(kernel) << k;
  }
}

TEST(lstm_test, gradients_do_not_depend_on_the_number_of_threads) {
  const Case c{100, 40, 1, 50, 4};
  const int threads = pool_threads();
  std::vector<torch::Tensor> first;
  for (const int n : {1, 2, 3}) {
    set_pool_threads(n);
    torch::nn::LSTM lstm = make_lstm(c, 3);
    const torch::Tensor x = torch::randn({c.batch, c.time, c.channels});
    lstm_mean(x, lstm, LstmKernel::kLane).square().sum().backward();
    const auto parameters = lstm->parameters();
    for (std::size_t k = 0; k < parameters.size(); ++k) {
      if (n == 1) first.push_back(parameters[k].grad().clone());
      else EXPECT_TRUE(torch::equal(parameters[k].grad(), first[k])) << n << " threads";
    }
  }
  set_pool_threads(threads);
}

// A second forward pass before the first backward pass must not disturb what the first one remembers.
TEST(lstm_test, passes_that_overlap_keep_their_own_memory) {
  const OneThread one_thread;
  for (const LstmKernel kernel : {LstmKernel::kLane, LstmKernel::kOnednn}) {
    torch::nn::LSTM lstm = make_lstm({5, 20, 1, 6, 2}, 8);
    const torch::Tensor a = torch::randn({5, 20, 1}), b = torch::randn({5, 20, 1});
    lstm_mean(a, lstm, kernel).sum().backward();
    const torch::Tensor alone = lstm->parameters()[0].grad().clone();
    lstm->zero_grad();
    const torch::Tensor first = lstm_mean(a, lstm, kernel);
    const torch::Tensor second = lstm_mean(b, lstm, kernel);
    first.sum().backward();
    EXPECT_TRUE(torch::equal(lstm->parameters()[0].grad(), alone)) << lstm_kernel_name(kernel);
  }
}

TEST(lstm_test, inference_gives_the_same_value_as_training) {
  const OneThread one_thread;
  for (const LstmKernel kernel : {LstmKernel::kLane, LstmKernel::kOnednn}) {
    torch::nn::LSTM lstm = make_lstm({21, 35, 1, 50, 4}, 9);
    const torch::Tensor x = torch::randn({21, 35, 1});
    const torch::Tensor training = lstm_mean(x, lstm, kernel).detach();
    torch::NoGradGuard no_grad;
    EXPECT_LT(difference(lstm_mean(x, lstm, kernel), training), 1e-6);
  }
}

TEST(lstm_test, unknown_kernel_is_an_error) {
  EXPECT_THROW(lstm_kernel("fast"), ModelError);
}

}  // namespace
}  // namespace penn
