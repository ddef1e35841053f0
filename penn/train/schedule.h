// The learning rate as a function of how much of the budget is spent.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "penn/train/train_options.h"

namespace penn {

// share in [0, 1]: linear warm-up, then half a cosine down to 0.
inline double learning_rate_at(const TrainOptions& options, double share) {
  if (options.constant_rate) return options.learning_rate;
  share = std::clamp(share, 0.0, 1.0);
  if (share < options.warm_up) return options.learning_rate * std::max(share / options.warm_up, 0.01);
  const double rest = (share - options.warm_up) / (1 - options.warm_up);
  return options.learning_rate * 0.5 * (1 + std::cos(std::numbers::pi * rest));
}

}  // namespace penn
