// The trajectories of a training, all of them functions of its seed: those of the steps, and sets that never overlap
// with them.
#pragma once

#include <memory>
#include <vector>

#include "penn/network/network.h"
#include "penn/simulate/batch_stream.h"
#include "penn/train/train_options.h"

namespace penn {

class TrainingData {
 public:
  TrainingData(const System& system, int observation, const TrainOptions& options, int threads);

  // With a fixed set: its features are computed once, where there is room, and take the place of its trajectories where
  // the network reads nothing else.
  void keep_features(const Network& network);
  // A step's trajectories, in chunks of one length each.
  void fill(int64_t step, std::vector<TrajectoryBatch>& chunks);
  int64_t steps_per_epoch() const { return stream_->steps_per_epoch(); }
  SimulationCount count() const { return stream_->count(); }

  // A few lengths across the trained range, each with its part of the trajectories.
  const std::vector<TrajectoryBatch>& validation() const { return validation_; }
  // For the input scaling: of the middle of the range of lengths.
  TrajectoryBatch for_scaling() const;
  // Trajectories that neither training nor validation has seen, at the lengths of the validation.
  std::vector<TrajectoryBatch> fresh() const;

 private:
  TrajectoryBatch simulate(uint64_t seed, int64_t length, int64_t count) const;
  const System& system_;
  int observation_;
  const TrainOptions& options_;
  int threads_;
  int64_t lengths_per_step_ = 1;
  std::shared_ptr<FixedSet> fixed_;
  std::unique_ptr<BatchStream> stream_;
  std::vector<TrajectoryBatch> validation_;
};

}  // namespace penn
