// An inference for programs (JSON) and for people (a table and sentences).
#include "penn/answer/inference_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "penn/answer/inference.h"
#include "penn/base/files.h"
#include "penn/posterior/mixture_json.h"

namespace penn {
namespace {

using json = nlohmann::ordered_json;

constexpr double kCoupled = 0.3;  // |correlation| worth a line
constexpr size_t kMostCouplings = 6;

json matrix_to_json(const DenseMatrix& m) {
  json rows = json::array();
  for (size_t r = 0; r < m.rows; ++r) rows.push_back(std::vector<double>(m.row(r).begin(), m.row(r).end()));
  return rows;
}

json predictive_to_json(const PredictiveCheck& check) {
  json statistics = json::array();
  for (const PredictiveStatistic& s : check.statistics)
    statistics.push_back({{"name", s.name},
                          {"observed", s.observed},
                          {"low", s.low},
                          {"median", s.median},
                          {"high", s.high},
                          {"percentile", s.percentile}});
  return {{"simulated", check.simulated},
          {"failed", check.failed},
          {"length", check.length},
          {"statistics", statistics},
          {"warnings", check.warnings}};
}

}  // namespace

json inference_to_json(const Inference& a) {
  const nlohmann::json mixture = mixture_to_json(a.posterior.mixture(), a.parameters);
  json result;
  for (const char* key : {"parameters", "weights", "means", "covariances"}) result[key] = mixture.at(key);
  result["coordinates"] = coordinate_names(a.posterior.coordinates());
  result["box"] = {{"low", a.box.lo}, {"high", a.box.hi}};
  result["mean"] = a.mean;
  result["median"] = a.median;
  result["sd"] = a.sd;
  result["correlation"] = matrix_to_json(a.correlation);
  for (size_t i = 0; i < kQuantiles.size(); ++i) result["quantiles"][fmt::format("{}", kQuantiles[i])] = a.quantiles[i];
  result["modes"] = json::array();
  for (const Mode& mode : a.verdict.modes)
    result["modes"].push_back({{"theta", mode.theta}, {"weight", mode.weight}, {"log_density", mode.log_density}});
  result["contraction"] = json::array();
  for (const ParameterVerdict& p : a.verdict.parameters) result["contraction"].push_back(p.contraction);
  result["outside_mass"] = a.outside_mass;
  result["typicality"] = a.typicality;
  result["warnings"] = a.warnings;
  result["verdict"] = a.verdict.sentences;
  result["source"] = a.source;
  if (!a.sources.empty()) result["sources"] = a.sources;
  result["n"] = a.n;
  result["sampling"] = a.sampling;
  result["model"] = a.model;
  result["version"] = version();
  if (a.combined > 1) result["combined"] = a.combined;
  if (a.predictive) result["predictive"] = predictive_to_json(*a.predictive);
  return result;
}

std::string inference_table(const Inference& a) {
  size_t width = 9;
  for (const std::string& name : a.parameters) width = std::max(width, name.size());
  std::string out =
      fmt::format("{}: {} samples every {}{}, typicality {:.3f}{}\n", a.source, a.n,
                  a.sampling == a.sampling_high ? fmt::format("{:.6g}", a.sampling)
                                                : fmt::format("{:.6g} to {:.6g}", a.sampling, a.sampling_high),
                  a.sampling_assumed ? " (assumed: no time column, and no --sampling)" : "", a.typicality,
                  a.posterior.all_probit() ? "" : fmt::format(", {:.0f} % outside the box", 100 * a.outside_mass));
  if (!a.reading.empty()) out += a.reading + "\n";
  for (const std::string& warning : a.warnings) out += fmt::format("warning: {}\n", warning);
  out += "\n";
  out += fmt::format("{:<{}} {:>10} {:>10} {:>10} {:>10} {:>10}  {:>11}  {:>7}\n", "parameter", width, "mean", "median",
                     "SD", "5 %", "95 %", "contraction", "at edge");
  for (size_t k = 0; k < a.parameters.size(); ++k) {
    const ParameterVerdict& p = a.verdict.parameters[k];
    out += fmt::format("{:<{}} {:>10.4g} {:>10.4g} {:>10.3g} {:>10.4g} {:>10.4g}  {:>11.3f}  {:>5.1f} %\n",
                       a.parameters[k], width, a.mean[k], a.median[k], a.sd[k], a.quantiles[1][k], a.quantiles[5][k],
                       p.contraction, 100 * std::max(p.edge_low, p.edge_high));
  }
  struct Coupling {
    size_t k, l;
    double r;
  };
  std::vector<Coupling> couplings;
  for (size_t k = 0; k < a.parameters.size(); ++k)
    for (size_t l = k + 1; l < a.parameters.size(); ++l)
      if (std::abs(a.correlation(k, l)) >= kCoupled) couplings.push_back({k, l, a.correlation(k, l)});
  std::stable_sort(couplings.begin(), couplings.end(),
                   [](const Coupling& x, const Coupling& y) { return std::abs(x.r) > std::abs(y.r); });
  if (!couplings.empty()) out += "\nstrongest couplings (posterior correlation)\n";
  for (size_t i = 0; i < std::min(couplings.size(), kMostCouplings); ++i)
    out +=
        fmt::format("  {}, {}  {:+.2f}\n", a.parameters[couplings[i].k], a.parameters[couplings[i].l], couplings[i].r);
  out += "\nmodes\n";
  for (const Mode& mode : a.verdict.modes) {
    std::vector<std::string> values;
    for (size_t k = 0; k < a.parameters.size(); ++k)
      values.push_back(fmt::format("{} = {:.3g}", a.parameters[k], mode.theta[k]));
    out += fmt::format("  weight {:.2f}: {}\n", mode.weight, fmt::join(values, ", "));
  }
  out += "\n" + a.verdict.text();
  if (a.predictive) {
    out += fmt::format(
        "\nposterior predictive check, {} simulated trajectories\n{:<34} {:>10} {:>10} {:>10} {:>10}  {:>10}\n",
        a.predictive->simulated, "", "observed", "5 %", "50 %", "95 %", "percentile");
    for (const PredictiveStatistic& s : a.predictive->statistics)
      out += fmt::format("{:<34} {:>10.4g} {:>10.4g} {:>10.4g} {:>10.4g}  {:>10.1f}\n", s.name, s.observed, s.low,
                         s.median, s.high, s.percentile);
  }
  return out;
}

}  // namespace penn
