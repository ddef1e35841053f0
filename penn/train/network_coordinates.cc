#include "penn/train/network_coordinates.h"

#include <cmath>

#include "penn/posterior/probit_coordinates.h"

namespace penn {

NetworkCoordinates::NetworkCoordinates(const System& system, const NetworkOptions& network) {
  for (size_t k = 0; k < system.parameters.size(); ++k)
    parameters_.push_back({system.parameters[k].range, network.is_probit(k)});
}

std::vector<float> NetworkCoordinates::of(std::span<const TrajectoryBatch> chunks) const {
  std::vector<float> out;
  for (const TrajectoryBatch& chunk : chunks)
    for (size_t i = 0; i < chunk.theta.size(); ++i) {
      const auto& [range, is_probit] = parameters_[i % parameters_.size()];
      const double theta = chunk.theta[i];
      out.push_back(static_cast<float>(is_probit ? probit_coordinate(theta, range.low, range.high)
                                                 : 2 * (theta - range.low) / (range.high - range.low) - 1));
    }
  return out;
}

double NetworkCoordinates::log_slope(std::span<const TrajectoryBatch> sets) const {
  double sum = 0, count = 0;
  for (const TrajectoryBatch& set : sets) {
    count += static_cast<double>(set.count);
    for (size_t i = 0; i < set.theta.size(); ++i) {
      const auto& [range, is_probit] = parameters_[i % parameters_.size()];
      sum += is_probit ? log_probit_slope(probit_coordinate(set.theta[i], range.low, range.high), range.low, range.high)
                       : std::log((range.high - range.low) / 2);
    }
  }
  return sum / count;
}

double NetworkCoordinates::expected_log_slope() const {
  double sum = 0;
  for (const auto& [range, is_probit] : parameters_)
    sum += std::log(range.high - range.low) - (is_probit ? kHalfLogTwoPi + 0.5 : std::log(2.0));
  return sum;
}

}  // namespace penn
