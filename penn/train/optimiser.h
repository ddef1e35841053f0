// Adam (Kingma & Ba 2015) with decoupled weight decay, gradient clipping and an exponential moving average of the weights; with `rotated`
// each weight matrix in the basis of its own gradients (gradient_basis.h). Its whole state is a few arrays, so that a checkpoint can
// continue it bit by bit.
#pragma once

#include <torch/torch.h>

#include <optional>
#include <string>
#include <vector>

#include "penn/train/gradient_basis.h"
#include "penn/train/train_options.h"

namespace penn {

struct OptimiserOptions {
  double weight_decay = 0, clip = 0, ema = 0;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  bool rotated = false;
};

// What the training options ask for.
OptimiserOptions optimiser_for(const TrainOptions& options);

class Optimiser {
 public:
  Optimiser(std::vector<torch::Tensor> parameters, const OptimiserOptions& options);

  // One step from the gradients of the parameters. False, with nothing changed, where the gradient is not finite.
  bool step(double learning_rate);
  void zero_grad();
  int64_t steps() const { return steps_; }
  double gradient_norm() const { return norm_; }  // of the last step, before clipping

  // Exchanges weights and their moving average (no-op without ema); twice is nothing.
  void swap_average();

  // Everything a checkpoint needs. m, v, average: (total); bases: one after the other, empty before the first step.
  struct State {
    std::vector<float> m, v, average, bases;
    int64_t steps = 0;
  };
  State state() const;
  void set_state(const State& state);
  int64_t size() const { return total_; }

 private:
  std::vector<torch::Tensor> parameters_;
  OptimiserOptions options_;
  int64_t total_ = 0, steps_ = 0;
  std::vector<size_t> offsets_;  // of each tensor in m, v and average
  double norm_ = 0;
  std::vector<float> m_, v_, average_;
  std::vector<std::optional<GradientBasis>> bases_;  // (parameters)
};

}  // namespace penn
