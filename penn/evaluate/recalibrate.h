// Recalibration of scales (docs/method.md, section 7): by which factors must the posteriors of a model be narrower or
// wider so that its intervals hold what they say? Measured on fresh trajectories, for one length at a time. Two numbers
// give a factor: the SD of z = (mean - truth) / SD, which should be 1, and the 90 % point of |Phi^-1(PIT)|, which
// should be 1.645. Where tails are heavier than a mixture's they disagree, and the first gives more; the geometric mean
// of both is taken. Only the scales of components change, not their weights and centres.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "penn/model/model_file.h"
#include "penn/posterior/posterior.h"

namespace penn {

inline constexpr double kLargestScaleFactor = 1.4;  // and its inverse: more is no correction, but another model

// The posterior of trajectory i when the scales of parameter k are multiplied by factors[k].
using PosteriorWithScales = std::function<Posterior(int64_t i, std::span<const double> factors)>;
// (M) factors. truths (count, M). Each is shrunk by its sampling error (James and Stein): near 1 where
// there are few trajectories.
std::vector<double> fit_scale_factors(int64_t count, const PosteriorWithScales& posterior,
                                      std::span<const float> truths, int threads);

struct RecalibrationOptions {
  std::vector<int64_t> lengths = {};  // samples, rising; empty: the ends and the middle of the trained range
  int64_t count = 24000;              // trajectories, over all lengths
  int threads = 0;                    // 0: one per processor
  std::function<bool(int64_t done, int64_t all)> progress = {};  // false stops
};

// Of the network itself: factors that the model already has are ignored. Nothing where `progress` stopped it. The
// same for the same model and count, on any number of threads.
std::optional<Recalibration> recalibrate(const Model& model, const RecalibrationOptions& options);

}  // namespace penn
