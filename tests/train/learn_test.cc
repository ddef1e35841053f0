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

}  // namespace
}  // namespace penn
