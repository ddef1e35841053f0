#include "penn/train/optimiser.h"

#include <algorithm>
#include <cmath>

#include "penn/kernel/thread_pool.h"

namespace penn {
namespace {

// Steps between two looks at the gradient's covariance and between two turns of the basis. At 8 and 50 a training of soup ended 0.03 nats
// higher (docs/recipe.md).
constexpr int64_t kObserveEvery = 4, kRefreshEvery = 20;

}  // namespace

OptimiserOptions optimiser_for(const TrainOptions& options) {
  OptimiserOptions o{.weight_decay = options.weight_decay, .clip = options.clip, .ema = options.ema};
  if (options.optimiser == "soap") {
    o.rotated = true;
    o.beta1 = o.beta2 = 0.95;
  }
  return o;
}

Optimiser::Optimiser(std::vector<torch::Tensor> parameters, const OptimiserOptions& options) : parameters_(std::move(parameters)), options_(options) {
  for (const torch::Tensor& p : parameters_) {
    TORCH_CHECK(p.is_contiguous() && p.dtype() == torch::kFloat32, "the optimiser works on contiguous float32 weights");
    offsets_.push_back(static_cast<size_t>(total_));
    total_ += p.numel();
  }
  for (const torch::Tensor& p : parameters_) {
    bases_.emplace_back();
    if (options_.rotated && GradientBasis::is_useful(p)) bases_.back().emplace(p.size(0), p.size(1));
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

  const auto update = [&](size_t k) {
    torch::Tensor& p = parameters_[k];
    const size_t n = static_cast<size_t>(p.numel()), offset = offsets_[k];
    if (p.grad().defined()) {
      // On another device the weights travel to the host and back; they are few.
      const bool is_host = p.is_cpu();
      torch::Tensor weights = is_host ? p : p.to(torch::kCPU);
      torch::Tensor gradient = p.grad().to(torch::kCPU).contiguous();
      std::optional<GradientBasis>& basis = bases_[k];
      if (basis) {
        if (steps_ % kObserveEvery == 1) basis->observe(gradient * g_scale);
        gradient = basis->to_basis(gradient);
      }
      torch::Tensor step = torch::empty_like(gradient);
      const float* g = gradient.data_ptr<float>();
      float *m = m_.data() + offset, *v = v_.data() + offset, *s = step.data_ptr<float>();
      for (size_t i = 0; i < n; ++i) {
        const float gi = g[i] * g_scale;
        m[i] = b1 * m[i] + (1 - b1) * gi;
        v[i] = b2 * v[i] + (1 - b2) * gi * gi;
        s[i] = rate * m[i] / (std::sqrt(v[i]) * root2 + epsilon);
      }
      if (basis) {
        step = basis->from_basis(step);
        s = step.data_ptr<float>();
        if (steps_ % kRefreshEvery == 0) basis->refresh(torch::from_blob(m, p.sizes()), torch::from_blob(v, p.sizes()));
      }
      float* w = weights.data_ptr<float>();
      for (size_t i = 0; i < n; ++i) w[i] = w[i] * decay - s[i];
      if (options_.ema > 0) {
        float* a = average_.data() + offset;
        for (size_t i = 0; i < n; ++i) a[i] = keep * a[i] + (1 - keep) * w[i];
      }
      if (!is_host) p.copy_(weights);
    }
  };
  pool_for(static_cast<int64_t>(parameters_.size()), 1, [&](int64_t begin, int64_t end) {
    torch::NoGradGuard no_grad_here;  // a thread's own
    for (int64_t k = begin; k < end; ++k) update(static_cast<size_t>(k));
  });
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

Optimiser::State Optimiser::state() const {
  State state = {m_, v_, average_, {}, steps_};
  if (steps_ > 0)
    for (const auto& basis : bases_)
      if (basis) basis->write(state.bases);
  return state;
}

void Optimiser::set_state(const State& state) {
  int64_t size = 0;
  for (const auto& basis : bases_)
    if (basis && state.steps > 0) size += basis->size();
  TORCH_CHECK(state.m.size() == m_.size() && state.v.size() == v_.size() && state.average.size() == average_.size() && state.bases.size() == static_cast<size_t>(size),
              "optimiser state of another network");
  m_ = state.m;
  v_ = state.v;
  average_ = state.average;
  steps_ = state.steps;
  const float* from = state.bases.data();
  if (state.steps > 0)
    for (auto& basis : bases_)
      if (basis) from = basis->read(from);
}

}  // namespace penn
