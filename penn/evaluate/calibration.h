// Is a posterior right? Fed with pairs (posterior, truth) of simulated trajectories, in one pass and flat memory. For a
// correct posterior, whatever its shape,
//   E z = 0 and E z^2 = 1 for z = (mean - truth) / SD,   PIT = P(theta_k <= truth_k) uniform in (0, 1),
//   the fraction of draws denser than the truth uniform as well (this one sees wrong couplings between parameters).
// The mixture is used as it is, not cut to the box (as in the paper): what leaks over the edge is reported as mass
// outside.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "penn/posterior/posterior.h"

namespace penn {

inline constexpr std::array<double, 4> kCoverageLevels = {0.5, 0.8, 0.9, 0.95};
inline constexpr int kRankBins = 20;  // of PIT and joint rank, as reported

// What one trajectory contributes: a pure function of its arguments, so that threads can share the work and the sums
// stay the same bits.
struct TrajectoryScore {
  double nll = 0;                            // -ln q(truth), the parameters' own units
  std::vector<double> truth, mean, sd, pit;  // (M)
  std::vector<double> kurtosis;              // (M) E_q[(theta - mean)^4] / sd^4: the spread z^2 must have if q is right
  std::vector<double> correlation;           // (M (M - 1) / 2), rows of the upper triangle
  double joint_rank = 0;                     // in (0, 1)
  double outside = 0;  // fraction of 127 draws outside the box: unbiased, coarse for one trajectory
  double typicality = 1;
};
TrajectoryScore score_posterior(const Posterior& q, std::span<const double> truth, double typicality, uint64_t seed);

// Mean and SD in one pass (Welford).
class RunningMoments {
 public:
  void add(double x) {
    const double step = x - mean_;
    mean_ += step / static_cast<double>(++count_);
    squares_ += step * (x - mean_);
  }
  double mean() const { return mean_; }
  double sd() const;
  int64_t count() const { return count_; }

 private:
  int64_t count_ = 0;
  double mean_ = 0, squares_ = 0;
};

// Counts on a fine grid; values beyond the ends count in the first and the last cell.
struct FineHistogram {
  double low = 0, high = 1;
  std::vector<int64_t> cells = std::vector<int64_t>(1000, 0);
  void add(double x);
  double quantile(double p) const;              // linear inside a cell
  double distance_from_uniform() const;         // largest |ECDF - x| at the cells' edges, for [0, 1]
  std::vector<int64_t> coarse(int bins) const;  // cells.size() must be a multiple of bins
};

struct Spread {
  double mean = 0, sd = 0;
};

// One parameter; or the joint posterior, which has only ranks and coverage.
struct ParameterCalibration {
  std::string name;
  Spread error;                             // |mean - truth|
  Spread z;                                 // (mean - truth) / SD
  Spread contraction;                       // 1 - variance / prior variance
  double posterior_sd = 0;                  // its mean
  double z_mean_error = 0, z_sd_error = 0;  // standard errors if the posterior is right
  int64_t outliers = 0;                     // |z| > 6
  std::array<double, 4> coverage = {};      // of the central intervals kCoverageLevels
  double rank_distance = 0;                 // largest |ECDF - uniform| of the ranks
  std::vector<int64_t> ranks;               // (kRankBins)
  std::vector<std::array<double, 2>> qq;    // (quantile of N(0, 1), quantile of z)
  // The judgement.
  bool failed = false;
  std::vector<std::string> findings;  // "too narrow", "biased (too high)", ...: failures first, then "slightly ..."
};

struct PairCorrelation {
  int first = 0, second = 0;
  Spread correlation;
};

// Kept for pictures, where asked for: one float per trajectory and parameter.
struct KeptScores {
  std::vector<float> truth, mean, sd, pit;  // (count, M)
};

struct CalibrationReport {
  int64_t count = 0;
  Spread nll;
  double nll_error = 0;  // standard error of the mean
  std::vector<ParameterCalibration> parameters;
  ParameterCalibration joint;
  std::vector<PairCorrelation> correlations;
  double outside_mass = 0;  // mean fraction of the posterior outside the box
  Spread typicality;
  double atypical_fraction = 0;               // below 0.01; 0.01 is expected
  std::vector<int64_t> typicality_histogram;  // (kRankBins) over [0, 1]
  double significance = 0;  // standard errors a deviation must exceed to count (all checks together err in 1 %)
  bool failed = false;
  std::vector<std::string> verdict;  // sentences
  KeptScores kept;
};

class Calibration {
 public:
  // keep: store truth, mean and SD of every trajectory (memory then grows with their number).
  Calibration(std::vector<std::string> names, Box box, bool keep = false);

  void add(const TrajectoryScore& score);
  // The same from a posterior; trajectories are numbered in the order they are added.
  void add(const Posterior& q, std::span<const double> truth, double typicality = 1);
  int64_t count() const { return nll_.count(); }
  const Box& box() const { return box_; }

  // Error when nothing was added.
  CalibrationReport report() const;

 private:
  struct Column {
    RunningMoments error, z, contraction, sd, kurtosis;
    FineHistogram pit, z_histogram{.low = -8, .high = 8, .cells = std::vector<int64_t>(1600, 0)};
    std::array<int64_t, 4> covered = {};
    int64_t outliers = 0;
  };

  std::vector<std::string> names_;
  Box box_;
  bool keep_;
  RunningMoments nll_, outside_, typicality_;
  int64_t atypical_ = 0;
  FineHistogram typicality_histogram_, joint_;
  std::array<int64_t, 4> joint_covered_ = {};
  std::vector<Column> columns_;
  std::vector<RunningMoments> correlations_;
  KeptScores kept_;
};

}  // namespace penn
