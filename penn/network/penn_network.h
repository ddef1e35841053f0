// The whole network: encoders side by side, ln n and ln of the sampling interval where they vary, decoder, free vector
// y.
#pragma once

#include <torch/torch.h>

#include <memory>
#include <string>
#include <vector>

#include "penn/network/encoder.h"
#include "penn/model/network_options.h"
#include "penn/network/resnet.h"

namespace penn {

class PennNetwork : public torch::nn::Module {
 public:
  explicit PennNetwork(const NetworkOptions& options);

  // Measures the encoders' input scaling on a few hundred trajectories (B, n, d); once, before training.
  void calibrate(const torch::Tensor& z);

  // z (B, n, d) in the units of the observation; sampling (B): time between samples, needed only where it varies.
  torch::Tensor forward(const torch::Tensor& z, const torch::Tensor& sampling = {});    // y (B, K)
  torch::Tensor embedding(const torch::Tensor& z, const torch::Tensor& sampling = {});  // what the decoder is given
  torch::Tensor decode(const torch::Tensor& embedding);  // y (B, K)

  int embedding_size() const { return embedding_size_; }
  Encoder& encoder(std::size_t k) { return *encoders_[k]; }
  // As given, with every encoder setting in force filled in.
  const NetworkOptions& options() const { return options_; }

 private:
  NetworkOptions options_;
  std::vector<std::shared_ptr<Encoder>> encoders_;
  int embedding_size_ = 0;
  std::shared_ptr<ResNet> decoder_;
};

}  // namespace penn
