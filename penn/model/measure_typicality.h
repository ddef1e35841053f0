// What the network's training data look like, measured once at the end of training (Typicality in
// penn/model/typicality.h).
#pragma once

#include <vector>

#include "penn/model/model_file.h"
#include "penn/simulate/batch_stream.h"

namespace penn {

// Mean and covariance from `fitted`, distances from `fresh`, so that the distances are those of new trajectories.
Typicality measure_typicality(const Network& network, const std::vector<TrajectoryBatch>& fitted,
                              const std::vector<TrajectoryBatch>& fresh, int threads);

// Channels whose values are quantised and repeat in most trajectories.
std::vector<bool> find_quantised_channels(const std::vector<TrajectoryBatch>& sets);

// The 0.1 % and 99.9 % points of each channel.
void measure_values(const std::vector<TrajectoryBatch>& sets, std::vector<float>& low, std::vector<float>& high);

}  // namespace penn
