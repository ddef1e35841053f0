#include "penn/train/gradient_basis.h"

#include <gtest/gtest.h>

#include "penn/train/optimiser.h"

namespace penn {
namespace {

TEST(gradient_basis_test, there_and_back_is_nothing) {
  torch::manual_seed(1);
  GradientBasis basis(20, 33);
  for (int i = 0; i < 5; ++i) basis.observe(torch::randn({20, 33}));
  torch::Tensor m = torch::randn({20, 33}), v = torch::rand({20, 33});
  for (int turn = 0; turn < 3; ++turn) {
    const torch::Tensor g = torch::randn({20, 33});
    EXPECT_LT((basis.from_basis(basis.to_basis(g)) - g).abs().max().item<double>(), 1e-5);
    EXPECT_NEAR(basis.to_basis(g).norm().item<double>(), g.norm().item<double>(), 1e-4);
    // Turning the basis leaves the first moment where it is in the space of the weights.
    const torch::Tensor before = basis.from_basis(m);
    basis.refresh(m, v);
    EXPECT_LT((basis.from_basis(m) - before).abs().max().item<double>(), 1e-5);
    EXPECT_TRUE((v >= 0).all().item<bool>());
  }
}

TEST(gradient_basis_test, repeated_refreshing_finds_the_eigenvectors) {
  torch::manual_seed(2);
  // Gradients U diag(s) V^T E with distinct scales: in the basis, G G^T is diagonal.
  const torch::Tensor u = std::get<0>(torch::linalg_qr(torch::randn({12, 12}))), scale = torch::pow(1.7, torch::arange(12, torch::kFloat32));
  GradientBasis basis(12, 40);
  torch::Tensor m = torch::zeros({12, 40}), v = torch::zeros({12, 40});
  torch::Tensor mean = torch::zeros({12, 12});
  for (int i = 0; i < 400; ++i) {
    const torch::Tensor g = (u * scale).matmul(torch::randn({12, 40}));
    basis.observe(g);
    mean.mul_(0.95).add_(g.matmul(g.t()), 0.05);
    if (i % 4 == 3) basis.refresh(m, v);
  }
  std::vector<float> state;
  basis.write(state);
  const torch::Tensor q = torch::from_blob(state.data() + 12 * 12 + 40 * 40, {12, 12});
  const torch::Tensor d = q.t().matmul(mean).matmul(q), off = d - torch::diag(d.diagonal());
  EXPECT_LT(off.abs().max().item<double>(), 0.02 * d.diagonal().max().item<double>());
  EXPECT_GT(d[0][0].item<double>(), d[11][11].item<double>() * 100);  // largest first
}

// Least squares with strongly correlated inputs: along the weights' own axes Adam crawls.
TEST(gradient_basis_test, an_ill_conditioned_regression_is_solved_in_fewer_steps) {
  const auto loss_after = [](bool rotated) {
    torch::manual_seed(3);
    const torch::Tensor mix = torch::randn({30, 30}) + 4 * torch::ones({30, 30}), truth = torch::randn({10, 30});
    torch::Tensor w = torch::zeros({10, 30}, torch::requires_grad());
    OptimiserOptions options;
    options.rotated = rotated;
    options.beta1 = options.beta2 = 0.95;
    Optimiser optimiser({w}, options);
    double last = 0;
    for (int step = 0; step < 400; ++step) {
      const torch::Tensor x = torch::randn({64, 30}).matmul(mix) / 10;
      optimiser.zero_grad();
      const torch::Tensor loss = (x.matmul(w.t()) - x.matmul(truth.t())).square().mean();
      loss.backward();
      EXPECT_TRUE(optimiser.step(0.02 * (1 - step / 400.0)));
      last = loss.item<double>();
    }
    return last;
  };
  EXPECT_LT(loss_after(true), 0.3 * loss_after(false));
}

TEST(gradient_basis_test, state_continues_bit_by_bit) {
  torch::manual_seed(4);
  torch::Tensor a = torch::randn({16, 24}, torch::requires_grad()), b = a.detach().clone().requires_grad_();
  OptimiserOptions options;
  options.rotated = true;
  options.ema = 0.9;
  Optimiser first({a}, options), second({b}, options);
  const auto step = [](Optimiser& optimiser, torch::Tensor& w, int i) {
    w.mutable_grad() = torch::sin(w.detach() * (1 + i));
    optimiser.step(0.01);
  };
  for (int i = 0; i < 30; ++i) step(first, a, i);
  {
    torch::NoGradGuard no_grad;
    b.copy_(a);
  }
  second.set_state(first.state());
  for (int i = 30; i < 70; ++i) step(first, a, i), step(second, b, i);
  EXPECT_TRUE(torch::equal(a, b));
}

}  // namespace
}  // namespace penn
