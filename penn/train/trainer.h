// Training: minimises E[-ln q(theta* | z)] over pairs drawn from the simulator. With a uniform prior the minimiser is
// the posterior. The same bits for the same options on any number of threads, interrupted and resumed or not (a budget
// in minutes aside: there the clock decides; and after a rollback: checkpoint.h).
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "penn/train/checkpoint.h"

namespace penn {

struct TrainRun {
  TrainOptions options;
  std::filesystem::path
      model;  // the result; MODEL.checkpoint and MODEL.csv (loss curve) lie beside it. Empty: nothing is written
  bool resume = false;
  int threads = 0;  // 0: one per processor
  double checkpoint_seconds = 60;
  std::function<bool()> should_stop = [] { return false; };  // asked after every step
};

// What the caller may show while it runs.
struct TrainStatus {
  const Progress* progress = nullptr;
  double fraction = 0;  // of the budget
  double seconds_left = 0;
  double trajectories_per_second = 0, simulating_fraction = 0;
  double train_nll = 0;        // since the last validation, the parameters' own units
  bool is_validation = false;  // a new row of the loss curve has just been added
  double recalibrated = -1;    // fraction of the last step, recalibration; -1: it has not begun
};
using TrainReport = std::function<void(const TrainStatus&)>;

struct TrainResult {
  std::optional<Model> model;  // none: stopped; --resume goes on
  Progress progress;
  double simulating_fraction = 0;
  int64_t peak_memory = 0;            // bytes
  std::string recalibration_problem;  // why the scales of the posteriors could not be recalibrated; the model is there
                                      // all the same
};

TrainResult train(const System& system, int observation, const TrainRun& run, const TrainReport& report = nullptr);

}  // namespace penn
