// The parameters as the network knows them: scaled to [-1, 1], or in probit coordinates
// (penn/posterior/probit_coordinates.h).
#pragma once

#include <span>
#include <vector>

#include "penn/network/network_options.h"
#include "penn/simulate/batch_stream.h"

namespace penn {

class NetworkCoordinates {
 public:
  NetworkCoordinates(const System& system, const NetworkOptions& network);
  // Of all chunks, one after the other: (B, M).
  std::vector<float> of(std::span<const TrajectoryBatch> chunks) const;
  // What takes an NLL in the network's coordinates to the parameters' own units: the mean over trajectories of ln d
  // theta / d coordinate; and its expectation over the prior.
  double log_slope(std::span<const TrajectoryBatch> sets) const;
  double expected_log_slope() const;

 private:
  struct One {
    Range range;
    bool is_probit;
  };
  std::vector<One> parameters_;
};

}  // namespace penn
