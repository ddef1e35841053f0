// Which coordinates suit a parameter (docs/notes/recipe.md) cannot be seen in its equation. A pilot run in
// linear ones shows it: probit coordinates are for parameters whose posterior stays nearly as wide as the box.
#pragma once

#include "penn/train/trainer.h"

namespace penn {

struct Pilot {
  bool is_complete = false;         // false: stopped
  std::vector<double> relative_sd;  // (M) SD of the posterior, that of the box being 1, on average
  int64_t steps = 0;
  double seconds = 0;
};

// Takes 400 steps, but no more than a tenth of a budget of steps. Nothing of it is kept but the answer.
Pilot try_coordinates(const System& system, int observation, const TrainRun& run, const TrainReport& report = nullptr);

// "probit", "linear", or names with commas, as TrainOptions has it.
std::string coordinates_after(const Pilot& pilot, const System& system);

// The options of the training that follows: with these coordinates, and the budget that is left (of minutes at least
// half).
TrainOptions options_after(const Pilot& pilot, TrainOptions options, const System& system);

}  // namespace penn
