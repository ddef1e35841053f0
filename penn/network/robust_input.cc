#include "penn/network/robust_input.h"

#include "penn/kernel/robust_channels.h"
#include "penn/kernel/thread_pool.h"

namespace penn {
namespace {

// The median of |x| in units that are the standard deviation of a Gaussian; 1 if there is nothing to measure.
float robust_unit(const torch::Tensor& x) {
  const torch::Tensor a = x.reshape({-1}).abs();
  float unit = 1.4826f * a.median().item<float>();
  if (!(unit > 0)) unit = a.mean().item<float>();  // more than half are exactly 0
  return unit > 0 && std::isfinite(unit) ? unit : 1.0f;
}

torch::Tensor increments(const torch::Tensor& z, int lag) {
  return z.slice(1, lag) - z.slice(1, 0, z.size(1) - lag);
}

}  // namespace

RobustInput::RobustInput(int inputs, std::vector<int> lags) : inputs_(inputs), lags_(std::move(lags)) {
  centre_ = register_buffer("centre", torch::zeros({inputs}));
  unit_ = register_buffer("unit", torch::ones({inputs, 1 + static_cast<int64_t>(lags_.size())}));
}

void RobustInput::calibrate(const torch::Tensor& z) {
  torch::NoGradGuard no_grad;
  const torch::Tensor data = z.detach().to(torch::kCPU, torch::kFloat32);
  torch::Tensor centre = torch::zeros({inputs_}), unit = torch::ones_like(unit_, torch::kCPU);
  for (int j = 0; j < inputs_; ++j) {
    const torch::Tensor x = data.select(2, j);
    centre[j] = x.reshape({-1}).median();
    unit[j][0] = robust_unit(x - centre[j]);
    for (std::size_t k = 0; k < lags_.size(); ++k)
      if (lags_[k] < x.size(1)) unit[j][static_cast<int64_t>(k) + 1] = robust_unit(increments(x, lags_[k]));
  }
  centre_.copy_(centre);
  unit_.copy_(unit);
}

torch::Tensor RobustInput::forward_reference(const torch::Tensor& z) const {
  torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> channels;
  for (int j = 0; j < inputs_; ++j) {
    const torch::Tensor x = z.select(2, j);
    channels.push_back(torch::asinh((x - centre_[j]) / unit_[j][0]));
    for (std::size_t k = 0; k < lags_.size(); ++k) {
      torch::Tensor d = torch::zeros_like(x);
      const int lag = lags_[k];
      if (lag < x.size(1))
        d.slice(1, lag).copy_(torch::asinh(increments(x, lag) / unit_[j][static_cast<int64_t>(k) + 1]));
      channels.push_back(d);
    }
  }
  return torch::stack(channels, 2);
}

torch::Tensor RobustInput::forward(const torch::Tensor& z) const {
  if (!z.is_cpu() || z.scalar_type() != torch::kFloat32) return forward_reference(z);
  const torch::Tensor data = z.detach().contiguous();
  const int64_t B = data.size(0), n = data.size(1), C = channels();
  torch::Tensor out = torch::empty({B, n, C});
  const float *from = data.data_ptr<float>(), *centre = centre_.data_ptr<float>(), *unit = unit_.data_ptr<float>();
  float* to = out.data_ptr<float>();
  pool_for(B, 8, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) robust_channels(from + b * n * inputs_, n, inputs_, centre, unit, lags_, to + b * n * C);
  });
  return out;
}

}  // namespace penn
