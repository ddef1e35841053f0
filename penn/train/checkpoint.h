// Everything a training needs to go on where it stopped, bit by bit, in one safetensors file. Random streams need no
// state: batch number k is a function of the seed and k. The weights that a rollback would return to are not there:
// after a rollback a resumed training differs.
#pragma once

#include <filesystem>
#include <vector>

#include "penn/model/model_file.h"
#include "penn/simulate/simulator.h"
#include "penn/train/optimiser.h"
#include "penn/train/train_options.h"

namespace penn {

struct Progress {
  int64_t step = 0;                       // batches consumed
  double seconds = 0;                     // spent on training
  double train_nll = 0, train_count = 0;  // running sum since the last validation
  int64_t skipped = 0, skipped_in_a_row = 0, rollbacks = 0, bad_rows = 0;
  int validations = 0;
  double best_nll = 0;        // meaningful once validations > 0
  SimulationCount simulated;  // for the steps
  std::vector<LossPoint> curve;
};

struct Checkpoint {
  std::string system_text, observation;
  TrainOptions options;
  Progress progress;
};

// `best`: the weights of the best validation so far; empty before the first.
void save_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint, const Network& network,
                     const Optimiser& optimiser, const std::vector<float>& best);
// What was trained and how, before a network exists.
Checkpoint read_checkpoint(const std::filesystem::path& path);
void restore_checkpoint(const std::filesystem::path& path, Network& network, Optimiser& optimiser,
                        std::vector<float>& best);

std::filesystem::path checkpoint_path(const std::filesystem::path& model);

}  // namespace penn
