// Adam (Kingma & Ba 2015) with decoupled weight decay, gradient clipping and an exponential moving average of the
// weights; with `rotated` each weight matrix in the basis of its own gradients (gradient_basis.h). The same bits on any
// number of threads; its whole state is a few arrays, so that a checkpoint can continue it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "penn/network/weights.h"
#include "penn/train/gradient_basis.h"
#include "penn/train/train_options.h"

namespace penn {

struct OptimiserOptions {
  double weight_decay = 0, clip = 0, ema = 0;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  bool rotated = false;
};

OptimiserOptions optimiser_for(const TrainOptions& options);

class Optimiser {
 public:
  Optimiser(const std::vector<WeightBlock>& blocks, std::span<const float> weights, const OptimiserOptions& options);

  // One step of the weights. False, with nothing changed, where the gradient is not finite.
  bool step(std::span<float> weights, std::span<const float> gradient, double learning_rate, int threads);

  // The moving average, or without one the weights themselves.
  std::span<const float> averaged(std::span<const float> weights) const {
    return average_.empty() ? weights : std::span<const float>(average_);
  }
  // Multiplications and additions of the matrix products of a step, on average.
  double flops_per_step() const;

  // Everything a checkpoint needs. m, v, average: (weights); bases: one after the other, empty before the first step.
  struct State {
    std::vector<float> m, v, average, bases;
    int64_t steps = 0;
  };
  State state() const;
  bool set_state(const State& state);  // false, with nothing changed, for that of another network

 private:
  struct Matrix {
    WeightBlock block;
    std::optional<GradientBasis> basis;
    AlignedVector<float> half, turned;  // (m, n), between rotations
  };
  struct Part {  // rows or columns of a matrix, or entries of a vector
    size_t matrix;
    int64_t first, last;
  };

  OptimiserOptions options_;
  std::vector<Matrix> matrices_;
  std::vector<Part> parts_, row_parts_, column_parts_;  // of all; of rotated matrices
  int64_t steps_ = 0;
  std::vector<float> m_, v_, average_;
};

}  // namespace penn
