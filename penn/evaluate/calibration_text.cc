// A calibration for people (a table) and for programs (JSON with everything a page needs to draw).
#include "penn/evaluate/calibration_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "penn/evaluate/calibration.h"

namespace penn {
namespace {

using json = nlohmann::ordered_json;

json to_json(const Spread& s) {
  return {{"mean", s.mean}, {"sd", s.sd}};
}

json coverage_to_json(const ParameterCalibration& p) {
  json result = json::array();
  for (size_t i = 0; i < kCoverageLevels.size(); ++i)
    result.push_back({{"level", kCoverageLevels[i]}, {"fraction", p.coverage[i]}});
  return result;
}

// The width of a name on the screen: bytes that continue a UTF-8 character take no place.
size_t display_width(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace

std::string calibration_table(const CalibrationReport& report) {
  size_t width = 9;
  for (const ParameterCalibration& p : report.parameters) width = std::max(width, display_width(p.name));
  const auto padded = [&](const std::string& name) { return name + std::string(width - display_width(name), ' '); };
  std::string out = fmt::format("NLL of the truth  {:.4f} +- {:.4f}  (SD {:.3f})\n\n", report.nll.mean,
                                report.nll_error, report.nll.sd);
  out += fmt::format("{}  {:>17}  {:>9}  {:>7} {:>6}  {:>27}  {:>8}  {:>6}\n", padded(""), "|error|", "posterior", "z",
                     "", "coverage, %", "contrac-", "ranks");
  out += fmt::format("{}  {:>8} {:>8}  {:>9}  {:>7} {:>6}  {:>6} {:>6} {:>6} {:>6}  {:>8}  {:>6}\n",
                     padded("parameter"), "mean", "SD", "SD", "mean", "SD", "50", "80", "90", "95", "tion", "off by");
  for (const ParameterCalibration& p : report.parameters)
    out += fmt::format(
        "{}  {:>8.4g} {:>8.4g}  {:>9.4g}  {:>+7.3f} {:>6.3f}  {:>6.1f} {:>6.1f} {:>6.1f} {:>6.1f}  {:>8.3f}  "
        "{:>6.3f}{}\n",
        padded(p.name), p.error.mean, p.error.sd, p.posterior_sd, p.z.mean, p.z.sd, 100 * p.coverage[0],
        100 * p.coverage[1], 100 * p.coverage[2], 100 * p.coverage[3], p.contraction.mean, p.rank_distance,
        p.failed ? "  <-" : "");
  const ParameterCalibration& j = report.joint;
  out += fmt::format("{}  {:>44}  {:>6.1f} {:>6.1f} {:>6.1f} {:>6.1f}  {:>8}  {:>6.3f}{}\n", padded("joint"), "",
                     100 * j.coverage[0], 100 * j.coverage[1], 100 * j.coverage[2], 100 * j.coverage[3], "",
                     j.rank_distance, j.failed ? "  <-" : "");
  std::vector<PairCorrelation> pairs = report.correlations;
  std::stable_sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) {
    return std::abs(a.correlation.mean) > std::abs(b.correlation.mean);
  });
  if (!pairs.empty()) out += "\nstrongest couplings (mean and SD of the posterior correlation)\n";
  for (size_t i = 0; i < std::min<size_t>(pairs.size(), 6); ++i)
    out += fmt::format("  {}, {}  {:+.2f} ({:.2f})\n", report.parameters[static_cast<size_t>(pairs[i].first)].name,
                       report.parameters[static_cast<size_t>(pairs[i].second)].name, pairs[i].correlation.mean,
                       pairs[i].correlation.sd);
  out += fmt::format(
      "\n{}typicality below 0.01: {:.2f} % of the trajectories (1 % expected)\n\n",
      report.outside_mass > 0 ? fmt::format("mass outside the box {:.2f} %; ", 100 * report.outside_mass) : "",
      100 * report.atypical_fraction);
  for (const std::string& sentence : report.verdict) out += sentence + "\n";
  return out;
}

json calibration_to_json(const CalibrationReport& report) {
  json parameters = json::array(), correlations = json::array();
  for (const ParameterCalibration& p : report.parameters)
    parameters.push_back({{"name", p.name},
                          {"absolute_error", to_json(p.error)},
                          {"posterior_sd", p.posterior_sd},
                          {"z",
                           {{"mean", p.z.mean},
                            {"sd", p.z.sd},
                            {"mean_error", p.z_mean_error},
                            {"sd_error", p.z_sd_error},
                            {"beyond_6", p.outliers},
                            {"qq", p.qq}}},
                          {"coverage", coverage_to_json(p)},
                          {"ranks", p.ranks},
                          {"rank_distance", p.rank_distance},
                          {"contraction", to_json(p.contraction)},
                          {"failed", p.failed},
                          {"findings", p.findings}});
  for (const PairCorrelation& c : report.correlations)
    correlations.push_back({{"first", report.parameters[static_cast<size_t>(c.first)].name},
                            {"second", report.parameters[static_cast<size_t>(c.second)].name},
                            {"mean", c.correlation.mean},
                            {"sd", c.correlation.sd}});
  json result = {{"count", report.count},
                 {"nll", {{"mean", report.nll.mean}, {"sd", report.nll.sd}, {"error", report.nll_error}}},
                 {"parameters", parameters},
                 {"joint",
                  {{"coverage", coverage_to_json(report.joint)},
                   {"ranks", report.joint.ranks},
                   {"rank_distance", report.joint.rank_distance},
                   {"failed", report.joint.failed},
                   {"findings", report.joint.findings}}},
                 {"correlations", correlations},
                 {"outside_mass", report.outside_mass},
                 {"typicality",
                  {{"mean", report.typicality.mean},
                   {"sd", report.typicality.sd},
                   {"below_0.01", report.atypical_fraction},
                   {"histogram", report.typicality_histogram}}},
                 {"significance", report.significance},
                 {"failed", report.failed},
                 {"verdict", report.verdict}};
  if (!report.kept.truth.empty())
    result["trajectories"] = {
        {"truth", report.kept.truth}, {"mean", report.kept.mean}, {"sd", report.kept.sd}, {"pit", report.kept.pit}};
  return result;
}

}  // namespace penn
