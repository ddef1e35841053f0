#include "penn/train/training_data.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "penn/base/error.h"
#include "penn/simulate/read_dataset.h"

namespace penn {
namespace {

// Trajectories are keyed by (seed, number): other seeds, other trajectories.
constexpr uint64_t kValidationSeed = 0x76616c6964617465u, kScalingSeed = 0x63616c6962726174u;
constexpr int64_t kScalingCount = 1024, kFreshCount = 4096, kLengthsPerStep = 4;
constexpr int64_t kMostKept =
    1 << 28;  // features of a fixed set, where they take more room than its trajectories: 1 GB

}  // namespace

TrainingData::TrainingData(const System& system, int observation, const TrainOptions& options, int threads)
    : system_(system), observation_(observation), options_(options), threads_(threads) {
  const IntRange lengths = options.lengths;
  if (!options.dataset_folder().empty()) {
    fixed_ = std::make_shared<FixedSet>(read_set(options.dataset_folder(), system, observation));
    if (fixed_->all.length != lengths.low)
      throw UsageError(
          fmt::format("the data set has {} samples per trajectory, not {}", fixed_->all.length, lengths.low),
          fmt::format("add --length {}", fixed_->all.length));
  } else if (options.dataset_size() > 0) {
    fixed_ = std::make_shared<FixedSet>(simulate_set(system, observation,
                                                     {.seed = options.seed, .threads = threads, .length = lengths.low},
                                                     options.dataset_size()));
  } else {
    // A step that sees one length alone pulls the scales of all others along: with a range, every step has several.
    if (!lengths.is_single())
      for (lengths_per_step_ = kLengthsPerStep; options.batch % lengths_per_step_ != 0;) lengths_per_step_ /= 2;
    stream_ = make_fresh_stream(system, observation, {.seed = options.seed, .threads = threads},
                                options.batch / lengths_per_step_, lengths, lengths_per_step_);
  }
  if (fixed_) stream_ = make_fixed_stream(fixed_, options.batch, options.seed);
  const int64_t sets = lengths.is_single() ? 1 : 5;
  const double ratio = static_cast<double>(lengths.high) / static_cast<double>(lengths.low);
  for (int64_t i = 0; i < sets; ++i) {
    const double u = sets == 1 ? 0 : static_cast<double>(i) / static_cast<double>(sets - 1);
    validation_.push_back(simulate((options.seed ^ kValidationSeed) + static_cast<uint64_t>(i) + 1,
                                   std::llround(static_cast<double>(lengths.low) * std::pow(ratio, u)),
                                   std::max<int64_t>(options.validation / sets, 20)));
  }
}

TrajectoryBatch TrainingData::simulate(uint64_t seed, int64_t length, int64_t count) const {
  return simulate_set(system_, observation_, {.seed = seed, .threads = threads_, .length = length}, count).all;
}

void TrainingData::keep_features(const Network& network) {
  if (!fixed_ || !network.statistics()) return;
  TrajectoryBatch& all = fixed_->all;
  const int64_t F = network.statistics()->size(), row = all.length * all.channels;
  if (all.count * F > std::max(all.count * row, kMostKept)) return;  // computed in every step then: the same bits
  all.features.resize(static_cast<size_t>(all.count * F));
  constexpr int64_t kChunk = 512;  // trajectories at a time: what is needed in between stays small
  for (int64_t first = 0; first < all.count; first += kChunk)
    network.statistics()->encode(all.z.data() + first * row, std::min(kChunk, all.count - first), all.length,
                                 all.features.data() + first * F, F, threads_);
  if (!network.has_trained_encoder()) std::vector<float>().swap(all.z);
}

void TrainingData::fill(int64_t step, std::vector<TrajectoryBatch>& chunks) {
  chunks.resize(static_cast<size_t>(lengths_per_step_));
  for (size_t i = 0; i < chunks.size(); ++i)
    stream_->fill(step * lengths_per_step_ + static_cast<int64_t>(i), chunks[i]);
}

TrajectoryBatch TrainingData::for_scaling() const {
  const double middle =
      std::sqrt(static_cast<double>(options_.lengths.low) * static_cast<double>(options_.lengths.high));
  return simulate(options_.seed ^ kScalingSeed, std::llround(middle), kScalingCount);
}

std::vector<TrajectoryBatch> TrainingData::fresh() const {
  std::vector<TrajectoryBatch> sets;
  uint64_t seed = (options_.seed ^ kValidationSeed) + 1000;
  for (const TrajectoryBatch& like : validation_)
    sets.push_back(
        simulate(++seed, like.length, std::max<int64_t>(kFreshCount / static_cast<int64_t>(validation_.size()), 256)));
  return sets;
}

}  // namespace penn
