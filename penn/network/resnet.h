// The decoder of SPEC section 3: R residual blocks B(u) = ELU(l3(ELU(l2(ELU(l1(u)))))) + s(u) of one width, s linear in
// the first block and the identity after it; then one linear layer. With a stem a linear layer comes first and s is the identity in every block: the features
// meet one large matrix instead of two.
#pragma once

#include <torch/torch.h>

#include <vector>

namespace penn {

class ResidualBlock : public torch::nn::Module {
 public:
  ResidualBlock(int inputs, int width, bool linear_skip);
  torch::Tensor forward(const torch::Tensor& u);

 private:
  torch::nn::Linear l1_, l2_, l3_;
  torch::nn::Linear skip_{nullptr};
};

class ResNet : public torch::nn::Module {
 public:
  ResNet(int inputs, int width, int blocks, int outputs, bool stem = false);
  torch::Tensor forward(torch::Tensor u);  // (B, inputs) -> (B, outputs)
  torch::nn::Linear& last() { return last_; }

 private:
  torch::nn::Linear stem_{nullptr};
  std::vector<std::shared_ptr<ResidualBlock>> blocks_;
  torch::nn::Linear last_;
};

}  // namespace penn
