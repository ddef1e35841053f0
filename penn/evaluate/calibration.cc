#include "penn/evaluate/calibration.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "penn/base/error.h"
#include "penn/evaluate/calibration_verdict.h"
#include "penn/model/typicality.h"
#include "penn/posterior/normal.h"

namespace penn {
namespace {

// Draws for the joint rank: with 127 the rank has 128 values, each equally likely for a correct posterior.
constexpr size_t kRankDraws = 127;
constexpr double kOutlier = 6;  // |z|

void count_coverage(double rank_from_centre, std::array<int64_t, 4>& covered) {
  for (size_t i = 0; i < kCoverageLevels.size(); ++i) covered[i] += rank_from_centre <= kCoverageLevels[i];
}

std::array<double, 4> fractions(const std::array<int64_t, 4>& covered, int64_t n) {
  std::array<double, 4> result;
  for (size_t i = 0; i < result.size(); ++i) result[i] = static_cast<double>(covered[i]) / static_cast<double>(n);
  return result;
}

Spread spread_of(const RunningMoments& moments) {
  return {moments.mean(), moments.sd()};
}

}  // namespace

double RunningMoments::sd() const {
  return count_ > 1 ? std::sqrt(squares_ / static_cast<double>(count_ - 1)) : 0;
}

void FineHistogram::add(double x) {
  const double n = static_cast<double>(cells.size());
  ++cells[static_cast<size_t>(std::clamp((x - low) / (high - low) * n, 0.0, n - 1))];
}

double FineHistogram::quantile(double p) const {
  int64_t total = 0;
  for (const int64_t c : cells) total += c;
  const double wanted = p * static_cast<double>(total), width = (high - low) / static_cast<double>(cells.size());
  double below = 0;
  for (size_t i = 0; i < cells.size(); ++i) {
    const double here = static_cast<double>(cells[i]);
    if (here > 0 && below + here >= wanted) return low + width * (static_cast<double>(i) + (wanted - below) / here);
    below += here;
  }
  return high;
}

double FineHistogram::distance_from_uniform() const {
  int64_t total = 0, below = 0;
  for (const int64_t c : cells) total += c;
  double distance = 0;
  for (size_t i = 0; i + 1 < cells.size(); ++i) {
    below += cells[i];
    distance = std::max(distance, std::abs(static_cast<double>(below) / static_cast<double>(total) -
                                           static_cast<double>(i + 1) / static_cast<double>(cells.size())));
  }
  return distance;
}

std::vector<int64_t> FineHistogram::coarse(int bins) const {
  std::vector<int64_t> result(static_cast<size_t>(bins), 0);
  for (size_t i = 0; i < cells.size(); ++i) result[i * static_cast<size_t>(bins) / cells.size()] += cells[i];
  return result;
}

TrajectoryScore score_posterior(const Posterior& q, std::span<const double> truth, double typicality, uint64_t seed) {
  const size_t M = q.dimension();
  TrajectoryScore score;
  score.truth.assign(truth.begin(), truth.end());
  score.typicality = typicality;
  const double log_density = q.log_density(truth);
  score.nll = -log_density;
  const DenseMatrix covariance = q.covariance();
  score.mean = q.mean();
  for (size_t k = 0; k < M; ++k) {
    const Marginal marginal = q.marginal(k);
    score.sd.push_back(std::sqrt(covariance(k, k)));
    score.pit.push_back(marginal.cdf(truth[k]));
    score.kurtosis.push_back(marginal.kurtosis());
  }
  for (size_t k = 0; k < M; ++k)
    for (size_t l = k + 1; l < M; ++l) score.correlation.push_back(covariance(k, l) / (score.sd[k] * score.sd[l]));
  DrawStream draws(seed);
  const std::vector<double> drawn =
      q.mixture().sample(kRankDraws, draws);  // in coordinates: there and back would cost more than all the rest
  const Box room = q.coordinate_box();
  size_t denser = 0, outside = 0;
  for (size_t i = 0; i < kRankDraws; ++i) {
    const std::span<const double> draw(&drawn[i * M], M);
    denser += q.log_density_at(draw) > log_density;
    outside += !room.contains(draw);
  }
  score.joint_rank = (static_cast<double>(denser) + draws.uniform()) / static_cast<double>(kRankDraws + 1);
  score.outside = static_cast<double>(outside) / static_cast<double>(kRankDraws);
  return score;
}

Calibration::Calibration(std::vector<std::string> names, Box box, bool keep)
    : names_(std::move(names)), box_(std::move(box)), keep_(keep) {
  check_box(box_, names_.size());
  columns_.resize(names_.size());
  correlations_.resize(names_.size() * (names_.size() - 1) / 2);
}

void Calibration::add(const Posterior& q, std::span<const double> truth, double typicality) {
  add(score_posterior(q, truth, typicality, static_cast<uint64_t>(count())));
}

void Calibration::add(const TrajectoryScore& score) {
  if (score.mean.size() != columns_.size())
    throw Error(
        fmt::format("a posterior of {} parameters where {} are calibrated", score.mean.size(), columns_.size()));
  nll_.add(score.nll);
  outside_.add(score.outside);
  typicality_.add(score.typicality);
  typicality_histogram_.add(score.typicality);
  atypical_ += score.typicality < kAtypical;
  joint_.add(score.joint_rank);
  count_coverage(score.joint_rank, joint_covered_);
  for (size_t k = 0; k < columns_.size(); ++k) {
    Column& column = columns_[k];
    const double error = score.mean[k] - score.truth[k], z = error / score.sd[k], width = box_.hi[k] - box_.lo[k];
    column.error.add(std::abs(error));
    column.z.add(z);
    column.z_histogram.add(z);
    column.outliers += std::abs(z) > kOutlier;
    column.sd.add(score.sd[k]);
    column.contraction.add(1 - 12 * score.sd[k] * score.sd[k] / (width * width));  // the prior variance is width^2 / 12
    column.kurtosis.add(score.kurtosis[k]);
    column.pit.add(score.pit[k]);
    count_coverage(2 * std::abs(score.pit[k] - 0.5), column.covered);
    if (keep_) {
      kept_.truth.push_back(static_cast<float>(score.truth[k]));
      kept_.mean.push_back(static_cast<float>(score.mean[k]));
      kept_.sd.push_back(static_cast<float>(score.sd[k]));
      kept_.pit.push_back(static_cast<float>(score.pit[k]));
    }
  }
  for (size_t i = 0; i < correlations_.size(); ++i) correlations_[i].add(score.correlation[i]);
}

CalibrationReport Calibration::report() const {
  if (count() == 0) throw Error("calibration needs at least one trajectory");
  CalibrationReport report;
  report.count = count();
  const double n = static_cast<double>(report.count);
  report.nll = spread_of(nll_);
  report.nll_error = report.nll.sd / std::sqrt(n);
  report.outside_mass = outside_.mean();
  report.typicality = spread_of(typicality_);
  report.atypical_fraction = static_cast<double>(atypical_) / n;
  report.typicality_histogram = typicality_histogram_.coarse(kRankBins);
  for (size_t k = 0; k < columns_.size(); ++k) {
    const Column& column = columns_[k];
    ParameterCalibration& p = report.parameters.emplace_back();
    p.name = names_[k];
    p.error = spread_of(column.error);
    p.z = spread_of(column.z);
    p.contraction = spread_of(column.contraction);
    p.posterior_sd = column.sd.mean();
    // Of a correct posterior: Var z = 1, Var z^2 = kurtosis - 1, and SD(z) = sqrt(mean z^2).
    p.z_mean_error = 1 / std::sqrt(n);
    p.z_sd_error = 0.5 * std::sqrt(std::max(column.kurtosis.mean() - 1, 0.0) / n);
    p.outliers = column.outliers;
    p.coverage = fractions(column.covered, report.count);
    p.rank_distance = column.pit.distance_from_uniform();
    p.ranks = column.pit.coarse(kRankBins);
    for (int i = 0; i <= 60; ++i) {  // from -3 to 3
      const double normal = -3 + 0.1 * i;
      p.qq.push_back({normal, column.z_histogram.quantile(normal_cdf(normal))});
    }
  }
  report.joint.name = "joint";
  report.joint.coverage = fractions(joint_covered_, report.count);
  report.joint.rank_distance = joint_.distance_from_uniform();
  report.joint.ranks = joint_.coarse(kRankBins);
  size_t pair = 0;
  for (int k = 0; k < static_cast<int>(columns_.size()); ++k)
    for (int l = k + 1; l < static_cast<int>(columns_.size()); ++l)
      report.correlations.push_back({k, l, spread_of(correlations_[pair++])});
  report.kept = kept_;
  judge_calibration(report);
  return report;
}

}  // namespace penn
