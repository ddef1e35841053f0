// Statistics of a trajectory: F numbers for any length n >= 8, averages over time that need no training and no
// gradients. What stochastic dynamics leaves in the data is written into them once and for all systems: scales and
// distributions of increments over many lags, memory, a robust AR(1) fit and its innovations, moments of the second and
// third difference given value and velocity, regressions of the differences on monomials and the memory of their
// residuals, and the same across channels.
//
//   const SummaryScaling scaling = measure_scaling(z, B, n, d);      // once, from training trajectories
//   const Summary summary({.channels = {"x"}}, scaling);
//   std::vector<float> out(B * summary.size());
//   summary.compute(z, B, n, out.data());
//
// The table of all features is in feature_table.cc, their definitions are in summary_reference.cc and
// regression_reference.cc: one trajectory in double precision, which the fast code is tested against.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace penn {

struct SummaryOptions {
  std::vector<std::string> channels = {"x"};  // their names, for people; as many as there are observed channels
  // Increments over these lags; ascending, the first 0 (the values themselves) and then 1. At most 256.
  std::vector<int> lags = {0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256};
  int bins = 9;       // of the value, for conditional moments
  int grid = 6;       // bins per side of the (value, velocity) grid
  int pair_grid = 5;  // bins per side of the grid of two channels' values
  bool operator==(const SummaryOptions&) const = default;
};

// Units of one channel, pooled over training trajectories; robust, since data may have no variance.
struct ChannelScale {
  double location = 0;  // middle of the 2 % and 98 % quantiles of the values
  double value = 1;     // half their distance
  double velocity = 1;  // 98 % quantile of |z(t+1) - z(t-1)|/2
  double second = 1;    // 90 % quantile of the second difference's size
  double third = 1;     // 90 % quantile of the third difference's size
  bool operator==(const ChannelScale&) const = default;
};

struct SummaryScaling {
  std::vector<ChannelScale> channels;  // (d)
  bool operator==(const SummaryScaling&) const = default;
};

inline constexpr int kSummaryVersion = 3;  // of the definitions, kept with every network
// The options of the networks of a version; ModelError for any but the present one.
SummaryOptions summary_options(int version, int64_t channels);
inline constexpr int64_t kSummaryMinLength = 8;

struct FeatureTable;

class Summary {
 public:
  Summary(SummaryOptions options, SummaryScaling scaling);  // ModelError where they do not make sense

  int64_t size() const { return static_cast<int64_t>(names().size()); }  // F
  int64_t channels() const { return static_cast<int64_t>(options_.channels.size()); }
  const std::vector<std::string>& names() const;  // of the features, in order: "x lag 4 log scale"
  const SummaryOptions& options() const { return options_; }
  const SummaryScaling& scaling() const { return scaling_; }

  // z (B, n, d) in its own units, n >= 8 -> out (B, F). Finite for finite z, within [-1e4, 1e4]; the numbers of a
  // trajectory do not depend on its neighbours or on the number of threads (0: one per processor).
  void compute(const float* z, int64_t B, int64_t n, float* out, int threads = 0) const;

 private:
  SummaryOptions options_;
  SummaryScaling scaling_;
  std::shared_ptr<const FeatureTable> table_;
};

}  // namespace penn
