// How good is a model? Trajectories with known parameters, simulated or given, through the estimator into a
// Calibration, batch by batch: memory does not grow with their number. Where the system declares an exact posterior,
// its NLL on the same trajectories is the yardstick.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "penn/base/json_box.h"
#include "penn/evaluate/calibration.h"
#include "penn/evaluate/exact_gap.h"
#include "penn/model/estimator.h"
#include "penn/posterior/ou_posterior.h"
#include "penn/simulate/batch_stream.h"

namespace penn {

struct EvaluationOptions {
  int64_t count = 20000;
  std::string data = {};  // a directory of `penn simulate` instead of fresh trajectories; then count is an upper limit
  int64_t length = 0;     // samples; 0: the system's, within the trained range
  uint64_t seed = 1;      // never the trajectories of a training, whatever its seed
  int threads = 0;        // 0: one per processor
  std::optional<OuProcess> exact = {};  // compare with its exact posterior
  int64_t gap_count = 0;  // trajectories to compare with the exact posterior, where it can be computed from the system
  double gap_seconds = 60;                          // for that, at the most
  bool keep = false;                                // truth, mean and SD of every trajectory in the report
  std::function<bool(int64_t done)> progress = {};  // called after every batch; false stops
};

// On the same trajectories; nats. gap = NLL of the model - NLL of the exact posterior: its mean is the KL divergence,
// never negative in expectation.
struct ExactComparison {
  Spread nll, gap;
  double gap_error = 0;  // standard error of the mean gap
};

struct Evaluation {
  JsonBox training;  // of the model (training_record)
  CalibrationReport report;
  int64_t length = 0;     // samples
  int64_t discarded = 0;  // diverged and drawn again
  double discarded_fraction = 0;
  bool is_complete = true;  // false: stopped by `progress`
  std::string kernel_warning;
  double seconds = 0;
  std::optional<ExactComparison> exact;
  std::optional<ExactGap> gap;  // where gap_count was given and the likelihood of the system is known
};

// Whatever makes a posterior of a trajectory can be evaluated: a network, or an exact formula.
using EstimateBatch = std::function<std::vector<Estimate>(const TrajectoryBatch& batch)>;

// DataError where the directory does not fit the model's system, UsageError where the options make no sense.
Evaluation evaluate(const ModelContext& model, const EstimateBatch& estimate, const EvaluationOptions& options);
Evaluation evaluate(const Estimator& estimator, const std::string& model_name, const EvaluationOptions& options);

nlohmann::ordered_json evaluation_to_json(const Evaluation& evaluation, const std::string& model_name,
                                          const EvaluationOptions& options);
std::string evaluation_text(const Evaluation& evaluation, const std::string& model_name);

}  // namespace penn
