// The input of the learned encoders (penn/kernel/robust_channels.h), each unit measured once as a median: never mean and SD, alpha-stable data have none.
#pragma once

#include <torch/torch.h>

#include <vector>

namespace penn {

class RobustInput : public torch::nn::Module {
 public:
  // inputs: observed quantities d. lags may be empty: then only the observation itself.
  RobustInput(int inputs, std::vector<int> lags);
  int channels() const { return inputs_ * (1 + static_cast<int>(lags_.size())); }
  void calibrate(const torch::Tensor& z);
  // (B, n, d) -> (B, n, channels), no gradient.
  torch::Tensor forward(const torch::Tensor& z) const;
  // The same in plain tensor operations; used on other devices and as the test's reference.
  torch::Tensor forward_reference(const torch::Tensor& z) const;

 private:
  int inputs_;
  std::vector<int> lags_;
  torch::Tensor centre_;  // (d)
  torch::Tensor unit_;    // (d, 1 + lags)
};

}  // namespace penn
