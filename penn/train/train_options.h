// Every setting of a training in one plain struct, as it is stored with the model. No tensors.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "penn/network/network_options.h"
#include "penn/system/system.h"

namespace penn {

struct TrainOptions {
  std::string preset = "fast";   // "fast" or "paper"
  // The budget: exactly one is positive.
  double minutes = 0;
  int64_t steps = 0, epochs = 0;
  int64_t batch = 384;
  std::vector<std::string> encoders;  // side by side; empty: the preset's
  int components = 10;
  bool full_covariance = true;
  std::string coordinates = "box";  // "box", "linear", names of the parameters that have box coordinates, with commas, or "auto": by a pilot run (pilot.h), linear without one
  // 0 and "": fresh trajectories for every batch; else a fixed set.
  int64_t dataset_size = 0;
  std::string dataset_folder;
  IntRange lengths;              // samples per trajectory
  int64_t validation = 2000;     // trajectories
  uint64_t seed = 1;

  std::string optimiser = "soap";  // Adam in the gradients' own basis (gradient_basis.h), or "adam"
  double learning_rate = 2e-3;
  bool constant_rate = false;    // else warm-up and cosine decay to 0 at the end of the budget
  double warm_up = 0.02;         // share of the budget
  double balance = 0.3;          // of the components' mean weights (gradients.h); fades with the rate
  double lesson = 0.5;           // what every component learns of every trajectory (gradients.h)
  double lesson_share = 0.5;     // of the budget, over which the lesson fades
  double weight_decay = 0;
  double clip = 1;               // of the gradient's norm; 0: none
  double ema = 0.999;            // of the weights that are validated and kept; 0: none
  int validations = 40;          // during the budget
  int64_t calibration = -1;      // fresh trajectories on which the widths of the posteriors are set at the end (penn/infer/measure_widths.h); 0: none; -1: by the budget (calibration_count)
};

nlohmann::ordered_json to_json(const TrainOptions& options);
TrainOptions train_options_from_json(const nlohmann::json& json);  // ModelError for what does not fit

// The names of the entries that differ, for "--resume with other options".
std::vector<std::string> differing_options(const TrainOptions& a, const TrainOptions& b);

// The defaults of a preset for a system; UsageError for an unknown preset. `paper` takes data-set size, batch and epochs from the
// [paper] section of the system file where it has one.
TrainOptions preset_options(const std::string& preset, const System& system);
std::vector<std::string> coordinates_of(const std::string& text, const System& system);  // (M); UsageError for a name that is no parameter
NetworkOptions network_for(const TrainOptions& options, const System& system, int observation);

// For a training that has seen so many trajectories: a fiftieth of them, at most 24,000, over all lengths; or none where they are
// too few to tell a width (2,000), or where the training was given a fixed set: it must not learn from more.
int64_t calibration_count(const TrainOptions& options, int64_t trajectories);

// Throws UsageError where the values make no sense together.
void check_options(const TrainOptions& options);

}  // namespace penn
