// Posterior predictive check: trajectories simulated from posterior draws (cut to the box) beside the observation.
// Where the observation lies far out in what its own posterior predicts, the equations cannot have made it, whatever
// the parameters.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "penn/posterior/posterior.h"
#include "penn/system/system.h"

namespace penn {

// Numbers of one channel: z (n) with stride d. Robust, since stable noise has no variance:
//   level     median
//   spread    distance of the 5 % and the 95 % point
//   tails     99 % point of |increment| over its median; infinite where more than half of the increments are 0
//   memory    autocorrelation at lag 1, and at lag n/20 (at least 2)
struct PathNumbers {
  double level = 0, spread = 0, tails = 0, autocorrelation_short = 0, autocorrelation_long = 0;
};
PathNumbers path_numbers(const float* z, int64_t n, int64_t stride);

struct PredictiveStatistic {
  std::string name;                                    // "spread of x"
  double observed = 0, low = 0, median = 0, high = 0;  // 5 %, 50 % and 95 % of the simulated
  double percentile = 0;  // of the observation among the simulated, between 0 and 100; ties count half
};

// What the simulated trajectories do at some points in time: their quantiles there, for a picture. Of at most 1000 of
// them.
inline constexpr std::array<int, 5> kFanPercent = {5, 25, 50, 75, 95};
struct PredictiveFan {
  std::vector<int64_t> samples;                             // (P) numbers of the samples, at most 300, evenly spread
  std::vector<std::vector<std::vector<double>>> quantiles;  // (kFanPercent, d, P)
};

struct PredictiveCheck {
  int64_t simulated = 0, failed = 0;  // failed: a draw whose trajectories leave the finite numbers
  int64_t length = 0;                 // samples compared: at most 20,000
  std::vector<PredictiveStatistic> statistics;
  PredictiveFan fan;
  std::vector<std::string> warnings;  // statistics outside the central 98 %, which needs 50 draws or more to be known
};

struct PredictiveOptions {
  int64_t draws = 100;
  uint64_t seed = 1;
  int threads = 0;  // 0: one per processor
};

// z (n, d). Nuisance parameters, initial states and burn-in are drawn again for every trajectory.
PredictiveCheck check_predictive(const System& system, int observation, const Posterior& posterior,
                                 std::span<const float> z, double sampling, const PredictiveOptions& options = {});

}  // namespace penn
