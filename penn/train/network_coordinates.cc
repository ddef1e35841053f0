#include "penn/train/network_coordinates.h"

#include <cmath>

#include "penn/posterior/box_coordinates.h"

namespace penn {

NetworkCoordinates::NetworkCoordinates(const System& system, const NetworkOptions& network) {
  for (size_t k = 0; k < system.parameters.size(); ++k)
    parameters_.push_back({system.parameters[k].range, network.in_box(k)});
}

std::vector<float> NetworkCoordinates::of(std::span<const TrajectoryBatch> pieces) const {
  std::vector<float> out;
  for (const TrajectoryBatch& piece : pieces)
    for (size_t i = 0; i < piece.theta.size(); ++i) {
      const auto& [range, in_box] = parameters_[i % parameters_.size()];
      const double theta = piece.theta[i];
      out.push_back(static_cast<float>(in_box ? box_coordinate(theta, range.low, range.high)
                                              : 2 * (theta - range.low) / (range.high - range.low) - 1));
    }
  return out;
}

double NetworkCoordinates::log_slope(std::span<const TrajectoryBatch> sets) const {
  double sum = 0, count = 0;
  for (const TrajectoryBatch& set : sets) {
    count += static_cast<double>(set.count);
    for (size_t i = 0; i < set.theta.size(); ++i) {
      const auto& [range, in_box] = parameters_[i % parameters_.size()];
      sum += in_box ? log_box_slope(box_coordinate(set.theta[i], range.low, range.high), range.low, range.high)
                    : std::log((range.high - range.low) / 2);
    }
  }
  return sum / count;
}

double NetworkCoordinates::expected_log_slope() const {
  double sum = 0;
  for (const auto& [range, in_box] : parameters_)
    sum += std::log(range.high - range.low) - (in_box ? kHalfLogTwoPi + 0.5 : std::log(2.0));
  return sum;
}

}  // namespace penn
