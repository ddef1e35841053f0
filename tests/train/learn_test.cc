// The gradient that threads make together is that of one backward pass.
#include "penn/train/learn.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "penn/network/blas.h"
#include "penn/train/train_options.h"

namespace penn {
namespace {

std::vector<torch::Tensor> gradients(PennNetwork& network) {
  std::vector<torch::Tensor> list;
  for (torch::Tensor& w : network.parameters()) {
    list.push_back(w.grad().clone());
    w.mutable_grad() = torch::Tensor();
  }
  return list;
}

void expect_equal(const std::vector<torch::Tensor>& a, const std::vector<torch::Tensor>& b, double tolerance, const std::string& what) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    const double scale = a[i].abs().max().item<double>();
    EXPECT_LE((a[i] - b[i]).abs().max().item<double>(), tolerance * scale) << what << ", tensor " << i;
    EXPECT_GT(scale, 0) << what << ", tensor " << i;
  }
}

TEST(learn_test, threads_together_make_the_gradient_of_one_backward_pass) {
  const System system = load_system("oup").system;
  for (const char* preset : {"fast", "paper"}) {
    TrainOptions options = preset_options(preset, system);
    options.lengths = {32, 32};
    torch::manual_seed(3);
    PennNetwork network(network_for(options, system, 0));
    const MixtureShape shape = network.options().mixture;
    const int64_t B = 200;
    const torch::Tensor z = torch::randn({B, 32, 1});
    network.calibrate(z);
    torch::Tensor theta = torch::rand({B, 5}) * 2 - 1;
    // Rows without a usable density: some here and there, and all of the last quarter.
    theta[3].fill_(1e30), theta[77].fill_(1e30);
    theta.slice(0, 150).fill_(1e30);
    set_network_threads(1);
    const MixtureLoss whole = mixture_loss(network.forward(z), theta, shape);
    ASSERT_EQ(whole.good, 148);
    whole.loss.backward();
    const std::vector<torch::Tensor> expected = gradients(network);
    for (const int threads : {1, 2, 3, 4}) {
      set_network_threads(threads);
      const Learned learned = learn(network, network.embedding(z), theta);
      EXPECT_NEAR(learned.loss, whole.loss.item<double>(), 1e-5 * std::abs(learned.loss));
      EXPECT_EQ(learned.good, whole.good);
      EXPECT_EQ(learned.bad, whole.bad);
      const std::vector<torch::Tensor> once = gradients(network);
      expect_equal(expected, once, 1e-4, fmt::format("{}, {} threads", preset, threads));
      learn(network, network.embedding(z), theta);
      expect_equal(once, gradients(network), 0, fmt::format("{}, {} threads, again", preset, threads));
    }
  }
  set_network_threads(2);
}

TEST(learn_test, without_a_usable_row_there_is_nothing_to_learn) {
  const System system = load_system("soup").system;
  PennNetwork network(network_for(preset_options("fast", system), system, 0));
  const torch::Tensor z = torch::randn({4, 1000, 1});
  network.calibrate(z);
  const Learned learned = learn(network, network.embedding(z), torch::full({4, 2}, 1e30));
  EXPECT_EQ(learned.good, 0);
  EXPECT_EQ(learned.bad, 4);
}

// Along the gradient with the term, minus that without it, the mean weights of the components become more equal: the term's own derivative,
// against a difference quotient. Weight is taken from nothing but the logits' layer by hand, so that some components hardly count.
TEST(learn_test, balance_pulls_the_mean_weights_of_the_components_together) {
  const System system = load_system("oup").system;
  TrainOptions options = preset_options("fast", system);
  options.lengths = {32, 32};
  torch::manual_seed(3);
  PennNetwork network(network_for(options, system, 0));
  const int64_t N = options.components;
  const torch::Tensor z = torch::randn({96, 32, 1}), theta = torch::rand({96, 5}) * 2 - 1;
  network.calibrate(z);
  set_network_threads(1);
  torch::Tensor bias;  // of the last layer; its first N entries are the logits'
  for (const auto& item : network.named_parameters())
    if (item.key() == "decoder.last.bias") bias = item.value();
  ASSERT_TRUE(bias.defined());
  {
    torch::NoGradGuard no_grad;
    bias.slice(0, 0, 3).sub_(6);
  }
  const auto term = [&] {  // sum_j ln(mean weight) / N
    torch::NoGradGuard no_grad;
    return torch::softmax(network.forward(z).slice(1, 0, N), 1).mean(0).log().mean().item<double>();
  };
  learn(network, network.embedding(z), theta);
  const torch::Tensor without = bias.grad().clone();
  learn(network, network.embedding(z), theta, 0.5);
  const torch::Tensor pull = (bias.grad() - without).slice(0, 0, N);
  EXPECT_LT((bias.grad() - without).slice(0, N).abs().max().item<double>(), 1e-6);  // nothing but the weights is pulled
  for (int64_t j = 0; j < N; ++j) {
    torch::NoGradGuard no_grad;
    constexpr double kStep = 1e-2;
    bias[j].add_(kStep);
    const double above = term();
    bias[j].sub_(2 * kStep);
    const double below = term();
    bias[j].add_(kStep);
    EXPECT_NEAR(pull[j].item<double>(), -0.5 * (above - below) / (2 * kStep), 1e-3) << j;
    EXPECT_EQ(pull[j].item<double>() < -0.03, j < 3) << j;  // a step against the gradient raises those that hardly count
  }
}

}  // namespace
}  // namespace penn
