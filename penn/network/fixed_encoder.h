// The base of encoders without weights: features computed from plain arrays, outside autograd, standardised with
// constants measured once and clipped. A derived class says how many features there are and computes them.
#pragma once

#include "penn/network/encoder.h"

namespace penn {

class FixedEncoder : public Encoder {
 public:
  // features: how many numbers compute() writes for one trajectory.
  explicit FixedEncoder(int features);
  int output_size() const override { return features_; }
  // z (B, n, d) contiguous -> out (B, features). Numbers that are not finite become 0.
  virtual void compute(const float* z, int64_t B, int64_t n, int64_t d, float* out) const = 0;

  torch::Tensor forward(const torch::Tensor& z) override { return standardise(features(z)); }
  void calibrate(const torch::Tensor& z) override;
  torch::Tensor features(const torch::Tensor& z) const;            // (B, n, d) -> (B, features), raw
  torch::Tensor standardise(const torch::Tensor& features) const;  // (x - centre) / unit, clipped to [-8, 8]

 private:
  int features_;
  torch::Tensor centre_, unit_;  // (features)
};

}  // namespace penn
