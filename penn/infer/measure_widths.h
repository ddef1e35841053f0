// Makes intervals hold what they say: by how much have the posteriors of a model to be narrower or wider? Measured on fresh trajectories, one parameter and
// one length at a time. Two things ask for a factor: the SD of z = (mean - truth) / SD, which should be 1, and the 90 % point of |Phi^-1(PIT)|, which should
// be 1.645. Where tails are heavier than a mixture's they disagree, the first being wider; the geometric mean of both is taken.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "penn/density/posterior.h"
#include "penn/model/model_file.h"

namespace penn {

// Laws of one parameter, and its true values: the factor of the widths. 1 where it cannot be told from 1 by so few; within 0.7 to 1.4.
double width_factor(std::span<const NormalMixture1d> laws, std::span<const double> truths, Coordinate coordinate, double low, double high, int threads);

struct WidthOptions {
  std::vector<int64_t> lengths = {};  // samples; empty: the ends and the middle of the trained range
  int64_t count = 8000;               // trajectories of each length
  int threads = 0;                    // 0: one per processor
  std::function<bool(int64_t done, int64_t all)> progress = {};  // false stops
};

// Of the network itself: a correction the model has is left out of account. Nothing where `progress` stopped it. The same for the same model and count.
std::optional<WidthCorrection> measure_widths(ModelFile model, const WidthOptions& options);

}  // namespace penn
