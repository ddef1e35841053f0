// The learning rate and the lesson as functions of how much of the budget is spent.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "penn/train/train_options.h"

namespace penn {

// From 1 at share 0 to 0 at share 1.
inline double half_cosine(double share) {
  return 0.5 * (1 + std::cos(std::numbers::pi * std::clamp(share, 0.0, 1.0)));
}

// share in [0, 1]: linear warm-up, then half a cosine down to 0.
inline double learning_rate_at(const TrainOptions& options, double share) {
  if (options.constant_rate) return options.learning_rate;
  share = std::clamp(share, 0.0, 1.0);
  if (share < options.warm_up) return options.learning_rate * std::max(share / options.warm_up, 0.01);
  return options.learning_rate * half_cosine((share - options.warm_up) / (1 - options.warm_up));
}

// The lesson makes the components useful, all of them; one that goes on keeps them alike.
inline double lesson_at(const TrainOptions& options, double share) {
  return options.lesson * half_cosine(share / options.lesson_share);
}

}  // namespace penn
