#include "penn/network/fixed_encoder.h"

#include "penn/network/parallel.h"

namespace penn {

FixedEncoder::FixedEncoder(int features) : features_(features) {
  centre_ = register_buffer("centre", torch::zeros({features}));
  unit_ = register_buffer("unit", torch::ones({features}));
}

torch::Tensor FixedEncoder::features(const torch::Tensor& z) const {
  const torch::Tensor data = z.detach().to(torch::kCPU, torch::kFloat32).contiguous();
  const int64_t B = data.size(0), n = data.size(1), d = data.size(2);
  torch::Tensor out = torch::zeros({B, features_});
  const float* from = data.data_ptr<float>();
  float* to = out.data_ptr<float>();
  parallel_for(B, 1, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      float* row = to + b * features_;
      compute(from + b * n * d, static_cast<int>(n), static_cast<int>(d), row);
      for (int k = 0; k < features_; ++k)
        if (!std::isfinite(row[k])) row[k] = 0.0f;
    }
  });
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
