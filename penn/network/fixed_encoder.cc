#include "penn/network/fixed_encoder.h"

#include <cmath>

namespace penn {

FixedEncoder::FixedEncoder(int features) : features_(features) {
  centre_ = register_buffer("centre", torch::zeros({features}));
  unit_ = register_buffer("unit", torch::ones({features}));
}

torch::Tensor FixedEncoder::features(const torch::Tensor& z) const {
  const torch::Tensor data = z.detach().to(torch::kCPU, torch::kFloat32).contiguous();
  torch::Tensor out = torch::zeros({data.size(0), features_});
  compute(data.data_ptr<float>(), data.size(0), data.size(1), data.size(2), out.data_ptr<float>());
  float* values = out.data_ptr<float>();
  for (int64_t i = 0; i < out.numel(); ++i)
    if (!std::isfinite(values[i])) values[i] = 0.0f;
  return out.to(z.device());
}

torch::Tensor FixedEncoder::standardise(const torch::Tensor& features) const {
  torch::NoGradGuard no_grad;
  return ((features - centre_) / unit_).clamp(-8, 8);
}

// Median and median distance from it, so that a few wild trajectories do not set the unit; the mean distance where
// more than half of the trajectories share one value.
void FixedEncoder::calibrate(const torch::Tensor& z) {
  torch::NoGradGuard no_grad;
  const torch::Tensor x = features(z);
  centre_.copy_(std::get<0>(x.median(0)));
  const torch::Tensor distance = (x - centre_).abs();
  torch::Tensor unit = 1.4826 * std::get<0>(distance.median(0));
  unit = torch::where(unit > 0, unit, distance.mean(0));
  unit_.copy_(torch::where(unit > 0, unit, torch::ones_like(unit)));
}

}  // namespace penn
