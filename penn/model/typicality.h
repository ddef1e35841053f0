// How typical an observation is of the training data (docs/method.md, section 10): an out-of-distribution score. Two
// distances of an embedding e from the trained ones, as in the monitoring of processes (Jackson & Mudholkar 1979): with
// x = e - mean and the leading principal directions v_i of the training data, t_i = v_i . x / spread_i,
//   T^2 = sum_i t_i^2                      unusual in what varies,
//   Q   = |x|^2 - sum_i (v_i . x)^2        unusual in what hardly ever varies.
#pragma once

#include <cstdint>
#include <vector>

namespace penn {

inline constexpr double kAtypical = 0.01;  // below this is a warning: one training trajectory in a hundred

struct Typicality {
  std::vector<float> mean;        // (E)
  std::vector<float> directions;  // (k, E), orthonormal rows
  std::vector<float> spread;      // (k), > 0
  // Quantiles 0, 1/1000, ..., 1 of the two distances over trajectories that the network was not trained on.
  std::vector<float> inside, outside;  // (1001), of T^2 and of Q

  int64_t embedding_size() const { return static_cast<int64_t>(mean.size()); }
  void distances(const float* embedding, double& inside, double& outside) const;
  // The fractions of training-like trajectories at least as unusual as this one in the two distances, as one number:
  // twice the smaller (a bound for the two together; the only one where the directions span everything). 0: beyond
  // everything seen.
  double fraction_beyond(const float* embedding) const;
};

}  // namespace penn
