// Judgement of a calibration. A deviation fails when it is both significant (more standard errors than sampling allows,
// all checks of the report together erring in 1 %) and large in practice: |mean z| > 0.07, SD of z outside
// [0.93, 1.07], the 90 % interval holding the truth less than 88 % or more than 92 % of the time, ranks more than 0.04
// from uniform. Significant but smaller is mentioned.
#include "penn/evaluate/calibration_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "penn/evaluate/calibration.h"
#include "penn/posterior/normal.h"

namespace penn {
namespace {

constexpr double kBiasTolerance = 0.07, kWidthTolerance = 0.07, kCoverageTolerance = 0.02, kRankTolerance = 0.04;
constexpr double kFalseAlarm = 0.01;        // of a whole report on a correct posterior
constexpr size_t kNinety = 2;               // place of 90 % in kCoverageLevels
constexpr double kAtypicalFraction = 0.05;  // of trajectories, worth a sentence; 0.01 is expected
constexpr double kLeak = 0.1;               // mean mass outside the box worth a sentence

enum class Size { kNone, kSlight, kFail };

// NaN, from a posterior that is no posterior, fails.
Size size_of(double deviation, double tolerance, double band) {
  if (std::isnan(deviation)) return Size::kFail;
  if (std::abs(deviation) <= band) return Size::kNone;
  return std::abs(deviation) > tolerance ? Size::kFail : Size::kSlight;
}

class Judge {
 public:
  Judge(const CalibrationReport& report)
      : n_(static_cast<double>(report.count)),
        k_(-normal_quantile(kFalseAlarm / (2 * checks(report)))),
        // Kolmogorov's tail 2 exp(-2 n d^2), at the level of one check.
        rank_band_(std::sqrt(std::log(2 * checks(report) / kFalseAlarm) / (2 * static_cast<double>(report.count)))) {}

  double significance() const { return k_; }
  double coverage_band() const { return k_ * std::sqrt(0.9 * 0.1 / n_); }

  void parameter(ParameterCalibration& p) {
    const Size bias = size_of(p.z.mean, kBiasTolerance, k_ * p.z_mean_error);
    note(p, bias, p.z.mean > 0 ? "biased (too high)" : "biased (too low)");
    const Size width = size_of(p.z.sd - 1, kWidthTolerance, k_ * p.z_sd_error);
    // A bias alone costs coverage: what is left after N(bias, 1) is a matter of width.
    const double edge = normal_quantile(0.95), shift = bias == Size::kNone ? 0 : p.z.mean;
    const double expected = normal_cdf(edge - shift) - normal_cdf(-edge - shift);
    const Size coverage = size_of(p.coverage[kNinety] - expected, kCoverageTolerance, coverage_band());
    const bool sd_narrow = p.z.sd > 1, coverage_narrow = p.coverage[kNinety] < expected;
    const Size worse = std::max(width, coverage);
    if (coverage > width &&
        (width == Size::kNone ||
         sd_narrow != coverage_narrow))  // the SD is right (or errs the other way), one interval is not
      note(p, worse,
           coverage_narrow ? "of the wrong shape (90 % interval too narrow)"
                           : "of the wrong shape (90 % interval too wide)");
    else if (width == coverage && sd_narrow != coverage_narrow)
      note(p, worse, sd_narrow ? "of the wrong shape (rare large misses)" : "of the wrong shape (tails too long)");
    else note(p, worse, sd_narrow ? "too narrow" : "too wide");
    const Size ranks = size_of(p.rank_distance, kRankTolerance, rank_band_);
    if (bias != Size::kFail && worse != Size::kFail &&
        (ranks == Size::kFail || (bias == Size::kNone && worse == Size::kNone)))
      note(p, ranks, "of the wrong shape (ranks not uniform)");
  }

  void joint(ParameterCalibration& p) {
    const Size coverage = size_of(p.coverage[kNinety] - 0.9, kCoverageTolerance, coverage_band());
    note(p, coverage, p.coverage[kNinety] < 0.9 ? "too narrow" : "too wide");
    const Size ranks = size_of(p.rank_distance, kRankTolerance, rank_band_);
    if (coverage != Size::kFail && (ranks == Size::kFail || coverage == Size::kNone))
      note(p, ranks, "of the wrong shape (ranks not uniform)");
  }

 private:
  // Mean, SD, coverage and ranks of every parameter; coverage and ranks of the joint posterior.
  static double checks(const CalibrationReport& report) {
    return 4.0 * static_cast<double>(report.parameters.size()) + 2;
  }

  void note(ParameterCalibration& p, Size size, const std::string& what) {
    if (size == Size::kNone) return;
    if (size == Size::kFail) p.failed = true;
    p.findings.push_back(size == Size::kFail ? what : "slightly " + what);
  }

  double n_, k_, rank_band_;
};

std::string joined(const std::vector<std::string>& parts, const char* between) {
  return fmt::format("{}", fmt::join(parts, between));
}

std::string sentence(const ParameterCalibration& p, const std::string& subject, bool joint) {
  std::string text =
      fmt::format("{} is {}: the 90 % {} hold the truth {:.1f} % of the time", subject, joined(p.findings, " and "),
                  joint ? "regions" : "intervals", 100 * p.coverage[kNinety]);
  if (!joint) text += fmt::format(", z-scores have mean {:+.3f} and SD {:.3f}", p.z.mean, p.z.sd);
  return text + ".";
}

}  // namespace

void judge_calibration(CalibrationReport& report) {
  Judge judge(report);
  report.significance = judge.significance();
  for (ParameterCalibration& p : report.parameters) judge.parameter(p);
  judge.joint(report.joint);
  std::vector<std::string> failures, remarks;
  const auto collect = [&](const ParameterCalibration& p, const std::string& subject, bool joint) {
    if (!p.findings.empty()) (p.failed ? failures : remarks).push_back(sentence(p, subject, joint));
  };
  for (const ParameterCalibration& p : report.parameters) collect(p, fmt::format("The posterior of {}", p.name), false);
  collect(report.joint, "The joint posterior", true);
  report.failed = !failures.empty();
  const double band = judge.coverage_band();
  report.verdict.push_back(fmt::format("Calibration {} ({} trajectories; 90 % coverage is checked to +-{:.1f} %).",
                                       report.failed               ? "FAILED"
                                       : band > kCoverageTolerance ? "not refuted"
                                                                   : "passed",
                                       report.count, 100 * std::max(band, kCoverageTolerance)));
  report.verdict.insert(report.verdict.end(), failures.begin(), failures.end());
  if (!failures.empty())
    report.verdict.push_back(
        "Do not trust the scales named here; train longer, or with more trajectories of this kind.");
  report.verdict.insert(report.verdict.end(), remarks.begin(), remarks.end());
  if (failures.empty() && !remarks.empty()) report.verdict.push_back("Measurable, but too small to matter in use.");
  for (const ParameterCalibration& p : report.parameters)
    if (p.outliers > 0)
      report.verdict.push_back(
          fmt::format("{} of {} truths lie more than 6 SD from the estimate of {}.", p.outliers, report.count, p.name));
  if (band > kCoverageTolerance)
    report.verdict.push_back(fmt::format(
        "{} trajectories are too few for the stated tolerances; {} or more are enough.", report.count,
        static_cast<int64_t>(std::ceil(static_cast<double>(report.count) * std::pow(band / kCoverageTolerance, 2)))));
  if (report.atypical_fraction > kAtypicalFraction)
    report.verdict.push_back(
        fmt::format("{:.0f} % of the trajectories do not look like the training data (1 % are expected): another "
                    "length, or other data than it was trained for?",
                    100 * report.atypical_fraction));
  if (report.outside_mass > kLeak)
    report.verdict.push_back(
        fmt::format("{:.1f} % of the posterior mass lies outside the box on average; draws are cut to the box.",
                    100 * report.outside_mass));
}

}  // namespace penn
