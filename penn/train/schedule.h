// The learning rate and the auxiliary loss as functions of how much of the budget is spent.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "penn/train/train_options.h"

namespace penn {

// From 1 at fraction 0 to 0 at fraction 1.
inline double half_cosine(double fraction) {
  return 0.5 * (1 + std::cos(std::numbers::pi * std::clamp(fraction, 0.0, 1.0)));
}

// fraction in [0, 1]: linear warm-up, then half a cosine down to 0.
inline double learning_rate_at(const TrainOptions& options, double fraction) {
  if (options.constant_rate) return options.learning_rate;
  fraction = std::clamp(fraction, 0.0, 1.0);
  if (fraction < options.warm_up) return options.learning_rate * std::max(fraction / options.warm_up, 0.01);
  return options.learning_rate * half_cosine((fraction - options.warm_up) / (1 - options.warm_up));
}

// Weight of the per-component auxiliary loss (docs/method.md, (5)). It makes every component useful; kept to the end,
// it would keep them alike.
inline double auxiliary_loss_at(const TrainOptions& options, double fraction) {
  return options.auxiliary_loss * half_cosine(fraction / options.auxiliary_fraction);
}

}  // namespace penn
