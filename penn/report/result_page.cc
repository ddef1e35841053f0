#include "penn/report/result_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "penn/answer/inference_text.h"
#include "penn/report/packed_table.h"
#include "penn/report/page_json.h"
#include "penn/report/posterior_page.h"

namespace penn {
namespace {

using json = nlohmann::ordered_json;

// Doubles as they are: the page computes with these, and a covariance has already lost the digits of nearly singular
// components.
json factors_of(const GaussianMixture& q) {
  json list = json::array();
  for (size_t j = 0; j < q.components(); ++j) {
    json matrix = json::array();
    for (size_t r = 0; r < q.dimension(); ++r)
      matrix.push_back(std::vector<double>(q.factor(j) + r * q.dimension(), q.factor(j) + (r + 1) * q.dimension()));
    list.push_back(matrix);
  }
  return list;
}

json observed_json(const ObservedTrajectory& observed, const Observation& observation) {
  return trajectory_json(observed.z.data(), observed.n, observed.sampling, observation);
}

// Quantiles of simulated trajectories against time, four digits: this is a picture.
void add_fan(json& predictive, const PredictiveFan& fan, double sampling) {
  const auto rounded = [](double x) { return std::isfinite(x) ? std::stod(fmt::format("{:.4g}", x)) : x; };
  json t = json::array();
  for (const int64_t sample : fan.samples)
    t.push_back(std::stod(fmt::format("{:.8g}", static_cast<double>(sample) * sampling)));
  predictive["t"] = t;
  for (size_t q = 0; q < fan.quantiles.size(); ++q) {
    json channels = json::array();
    for (const std::vector<double>& values : fan.quantiles[q]) {
      json row = json::array();
      for (const double v : values) row.push_back(rounded(v));
      channels.push_back(row);
    }
    predictive["quantiles"][fmt::format("{}", kFanPercent[q])] = channels;
  }
}

constexpr size_t kMostDrawn = 12;  // of trajectories that were combined: the page stays small

// "oup: bead.csv", whatever folders the two are in.
std::string title_of(const std::vector<Inference>& answers) {
  const auto last_part = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
  std::string model = last_part(answers[0].model);
  if (model.ends_with(".safetensors")) model.erase(model.rfind('.'));
  return answers.size() == 1 ? fmt::format("{}: {}", model, last_part(answers[0].source))
                             : fmt::format("{}: {} trajectories", model, answers.size());
}

}  // namespace

std::string inference_json(const System& system, int observation, const std::vector<Inference>& answers,
                           const std::vector<ObservedTrajectory>& observed, const std::vector<double>& truth) {
  json results = json::array();
  for (size_t i = 0; i < answers.size(); ++i) {
    json result = inference_to_json(answers[i]);
    result["name"] = answers[i].source;
    result["parameters"] = parameters_json(system);
    result["factors"] = factors_of(answers[i].posterior.mixture());
    json log_weights = json::array();
    for (size_t j = 0; j < answers[i].posterior.components(); ++j)
      log_weights.push_back(answers[i].posterior.mixture().log_weight(j));
    result["log_weights"] = log_weights;
    if (!truth.empty()) result["truth"] = truth;
    if (answers[i].predictive) add_fan(result["predictive"], answers[i].predictive->fan, answers[i].sampling);
    if (answers[i].combined > 1 && answers.size() == 1) {
      json& list = result["trajectory"] = json::array();  // in the order of the sources
      for (const ObservedTrajectory& one : std::span(observed).first(std::min(observed.size(), kMostDrawn)))
        list.push_back(observed_json(one, system.observations[static_cast<size_t>(observation)]));
    } else if (answers.size() == observed.size())
      result["trajectory"] = observed_json(observed[i], system.observations[static_cast<size_t>(observation)]);
    results.push_back(std::move(result));
  }
  const json page = {{"kind", "posterior"}, {"title", title_of(answers)}, {"results", results}};
  return page.dump(-1, ' ', false, json::error_handler_t::replace);  // names of files may be no UTF-8
}

std::string inference_page(const System& system, int observation, const std::vector<Inference>& answers,
                           const std::vector<ObservedTrajectory>& observed, const std::vector<double>& truth) {
  return posterior_page(inference_json(system, observation, answers, observed, truth), title_of(answers));
}

std::string evaluation_page(const Estimator& estimator, const Evaluation& evaluation, const std::string& model_name,
                            const EvaluationOptions& options) {
  json page = {{"kind", "evaluation"}};
  page.update(evaluation_to_json(evaluation, model_name, options));
  json boxes = parameters_json(estimator.system());
  for (json& box : boxes)  // the statistics of each parameter stay beside its box
    for (const json& entry : page.at("parameters"))
      if (entry.is_object() && entry.value("name", "") == box.at("name")) box.update(entry);
  page["parameters"] = boxes;
  page.erase("trajectories");
  const KeptScores& kept = evaluation.report.kept;
  const size_t M = boxes.size(), n = kept.truth.size() / M;
  page["truth"] = packed_table(kept.truth, n, M);
  page["estimate"] = packed_table(kept.mean, n, M);
  page["sd"] = packed_table(kept.sd, n, M);
  page["pit"] = packed_table(kept.pit, n, M);
  json curve = json::array();
  for (const LossPoint& p : estimator.info().curve)
    curve.push_back({{"minutes", p.minutes}, {"train", p.train_nll}, {"validation", p.validation_nll}});
  page["curve"] = curve;
  return posterior_page(page.dump(-1, ' ', false, json::error_handler_t::replace),
                        fmt::format("Evaluation of {}", model_name));
}

}  // namespace penn
