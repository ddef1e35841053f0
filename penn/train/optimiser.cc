#include "penn/train/optimiser.h"

#include <algorithm>
#include <cmath>

namespace penn {

Optimiser::Optimiser(std::vector<torch::Tensor> parameters, const OptimiserOptions& options) : parameters_(std::move(parameters)), options_(options) {
  for (const torch::Tensor& p : parameters_) {
    TORCH_CHECK(p.is_contiguous() && p.dtype() == torch::kFloat32, "the optimiser works on contiguous float32 weights");
    total_ += p.numel();
  }
  m_.assign(static_cast<size_t>(total_), 0);
  v_.assign(static_cast<size_t>(total_), 0);
  if (options_.ema > 0) {
    for (const torch::Tensor& p : parameters_) {
      const torch::Tensor host = p.detach().to(torch::kCPU);
      average_.insert(average_.end(), host.data_ptr<float>(), host.data_ptr<float>() + host.numel());
    }
  }
}

void Optimiser::zero_grad() {
  for (torch::Tensor& p : parameters_)
    if (p.grad().defined()) p.mutable_grad().zero_();
}

bool Optimiser::step(double learning_rate) {
  torch::NoGradGuard no_grad;
  double square = 0;
  for (const torch::Tensor& p : parameters_) {
    if (!p.grad().defined()) continue;
    const double norm = p.grad().norm().item<double>();
    square += norm * norm;
  }
  norm_ = std::sqrt(square);
  if (!std::isfinite(norm_)) return false;
  ++steps_;
  const double scale = options_.clip > 0 && norm_ > options_.clip ? options_.clip / norm_ : 1;
  const double correction1 = 1 - std::pow(options_.beta1, static_cast<double>(steps_)), correction2 = 1 - std::pow(options_.beta2, static_cast<double>(steps_));
  const float b1 = static_cast<float>(options_.beta1), b2 = static_cast<float>(options_.beta2), g_scale = static_cast<float>(scale);
  const float rate = static_cast<float>(learning_rate / correction1), root2 = static_cast<float>(1 / std::sqrt(correction2));
  const float epsilon = static_cast<float>(options_.epsilon), decay = static_cast<float>(1 - learning_rate * options_.weight_decay);
  // The average starts short and grows to its full memory, so that it forgets the random initial weights.
  const double memory = std::min(options_.ema, (1.0 + static_cast<double>(steps_)) / (10.0 + static_cast<double>(steps_)));
  const float keep = static_cast<float>(memory);

  size_t offset = 0;
  for (torch::Tensor& p : parameters_) {
    const size_t n = static_cast<size_t>(p.numel());
    if (p.grad().defined()) {
      // On another device the weights travel to the host and back; they are few.
      const bool is_host = p.is_cpu();
      torch::Tensor weights = is_host ? p : p.to(torch::kCPU);
      const torch::Tensor gradient = p.grad().to(torch::kCPU).contiguous();
      float* w = weights.data_ptr<float>();
      const float* g = gradient.data_ptr<float>();
      float *m = m_.data() + offset, *v = v_.data() + offset;
      for (size_t i = 0; i < n; ++i) {
        const float gi = g[i] * g_scale;
        m[i] = b1 * m[i] + (1 - b1) * gi;
        v[i] = b2 * v[i] + (1 - b2) * gi * gi;
        w[i] = w[i] * decay - rate * m[i] / (std::sqrt(v[i]) * root2 + epsilon);
      }
      if (options_.ema > 0) {
        float* a = average_.data() + offset;
        for (size_t i = 0; i < n; ++i) a[i] = keep * a[i] + (1 - keep) * w[i];
      }
      if (!is_host) p.copy_(weights);
    }
    offset += n;
  }
  return true;
}

void Optimiser::swap_average() {
  if (options_.ema <= 0) return;
  torch::NoGradGuard no_grad;
  size_t offset = 0;
  for (torch::Tensor& p : parameters_) {
    const size_t n = static_cast<size_t>(p.numel());
    torch::Tensor weights = p.to(torch::kCPU);
    std::swap_ranges(weights.data_ptr<float>(), weights.data_ptr<float>() + n, average_.begin() + static_cast<std::ptrdiff_t>(offset));
    if (!p.is_cpu()) p.copy_(weights);
    offset += n;
  }
}

Optimiser::State Optimiser::state() const { return {m_, v_, average_, steps_}; }

void Optimiser::set_state(const State& state) {
  TORCH_CHECK(state.m.size() == m_.size() && state.v.size() == v_.size() && state.average.size() == average_.size(), "optimiser state of another network");
  m_ = state.m;
  v_ = state.v;
  average_ = state.average;
  steps_ = state.steps;
}

}  // namespace penn
