#include "paper/page_data.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "penn/base/files.h"
#include "penn/report/packed_table.h"
#include "penn/report/result_page.h"

namespace penn {
namespace {

Json parameter(const Parameter& p) {
  return {{"name", p.name}, {"label", p.label}, {"low", p.range.low}, {"high", p.range.high}};
}

double five_digits(double x) {
  return std::isfinite(x) ? std::stod(fmt::format("{:.5g}", x)) : x;
}

std::string command_of(const PaperItem& item, const ReproduceOptions& o) {
  const ReproduceOptions standard;
  std::string text = fmt::format("penn reproduce {} -o {}", item.name, shell_word(o.folder.string()));
  if (o.count != standard.count) text += fmt::format(" -n {}", o.count);
  if (o.seed != standard.seed) text += fmt::format(" --seed {}", o.seed);
  if (!item.trainings.empty() && o.minutes != standard.minutes) text += fmt::format(" --minutes {:g}", o.minutes);
  if (!o.models.empty()) text += fmt::format(" --models {}", shell_word(o.models));
  return text;
}

}  // namespace

PageData::PageData(const PaperItem& item, std::string caption, const ReproduceOptions& options)
    : json_(Json{{"kind", "reproduction"},
                 {"item", item.name},
                 {"number", item.number},
                 {"title", item.title},
                 {"headline", {{"what", ""}, {"ours", ""}, {"paper", ""}}},
                 {"caption", std::move(caption)},
                 {"command", command_of(item, options)},
                 {"version", version()},
                 {"notes", Json::array()},
                 {"models", Json::array()},
                 {"evaluations", Json::object()},
                 {"posteriors", Json::object()},
                 {"sections", Json::array()}}) {}

void PageData::headline(const std::string& what, const std::string& ours, const std::string& paper) {
  (*json_)["headline"] = {{"what", what}, {"ours", ours}, {"paper", paper}};
}

void PageData::note(const std::string& text) {
  Json& notes = (*json_)["notes"];
  if (std::find(notes.begin(), notes.end(), text) == notes.end()) notes.push_back(text);
}

void PageData::note_length(const Estimator& model, const Answer& answer) {
  const IntRange trained = model.info().lengths;
  if (answer.observed.n != answer.wanted)
    note(fmt::format("{}: {} samples instead of {}, which is too far from what the model was trained for.",
                     answer.test.name, answer.observed.n, answer.wanted));
  else if (answer.observed.n > trained.high)
    note(fmt::format("{}: {} samples, the model was trained on {} to {}.", answer.test.name, answer.observed.n,
                     trained.low, trained.high));
}

const Estimator& PageData::use_model(const std::string& name, Session& session) {
  const Estimator& model = session.estimator(name);
  for (const Json& known : (*json_)["models"])
    if (known.at("name") == name) return model;
  const ModelInfo& info = model.info();
  Json entry = {{"name", name},
                {"minutes", info.minutes},
                {"trajectories", info.trajectories},
                {"steps", info.steps},
                {"lengths", {info.lengths.low, info.lengths.high}},
                {"validation_nll", info.validation_nll},
                {"components", info.network.mixture.components},
                {"covariance", info.network.mixture.full ? "full" : "diagonal"}};
  for (const char* key : {"preset", "dataset"})
    if (info.training->contains(key)) entry[key] = info.training->at(key);
  (*json_)["models"].push_back(std::move(entry));
  return model;
}

void PageData::section(const std::string& heading, const std::string& note, std::vector<Panel> panels) {
  Json list = Json::array();
  for (Panel& panel : panels) list.push_back(std::move(*panel));
  (*json_)["sections"].push_back({{"heading", heading}, {"note", note}, {"panels", std::move(list)}});
}

void PageData::table(const std::string& heading, const std::string& note, const std::vector<std::string>& head,
                     const std::vector<Row>& rows) {
  Json list = Json::array();
  for (const Row& row : rows) list.push_back({{"cells", row.cells}, {"paper", row.is_paper}});
  section(heading, note, {Json{{"type", "table"}, {"head", head}, {"rows", list}}});
}

std::string PageData::add_evaluation(const std::string& name, const Estimator& model, const Evaluation& evaluation,
                                     const std::vector<int>& columns, bool with_sd) {
  const KeptScores& kept = evaluation.report.kept;
  const size_t M = model.system().parameters.size(), n = kept.truth.size() / M;
  Json entry = {{"n", n}, {"length", evaluation.length}, {"parameters", Json::array()}};
  for (const int k : columns)
    entry["parameters"].push_back(parameter(model.system().parameters[static_cast<size_t>(k)]));
  const auto chosen = [&](const std::vector<float>& all) {
    std::vector<float> values;
    values.reserve(n * columns.size());
    for (size_t i = 0; i < n; ++i)
      for (const int k : columns) values.push_back(all[i * M + static_cast<size_t>(k)]);
    return packed_table(values, n, columns.size());
  };
  entry["truth"] = chosen(kept.truth);
  entry["estimate"] = chosen(kept.mean);
  if (with_sd) entry["sd"] = chosen(kept.sd);
  (*json_)["evaluations"][name] = std::move(entry);
  return name;
}

std::string PageData::add_posterior(const std::string& key, const Estimator& model, const Answer& answer) {
  Json result = Json::parse(inference_json(model.system(), model.observation(), {answer.inference}, {answer.observed},
                                           answer.test.theta))
                    .at("results")
                    .at(0);
  Json kept;  // what the plots need; the trajectory has a panel of its own
  for (const char* field : {"parameters", "weights", "means", "factors", "log_weights", "coordinates", "truth", "n"})
    kept[field] = result.at(field);
  (*json_)["posteriors"][key] = std::move(kept);
  note_length(model, answer);
  return key;
}

Panel trajectory_panel(const std::string& title, const Estimator& model, const Answer& answer, bool overlay) {
  const Json result =
      Json::parse(inference_json(model.system(), model.observation(), {answer.inference}, {answer.observed}, {}))
          .at("results")
          .at(0);
  Json trajectory = result.at("trajectory");
  for (Json& channel : trajectory["values"])
    for (Json& value : channel) value = five_digits(value.get<double>());
  return Json{{"type", "trajectory"},
              {"title", title},
              {"note", parameters_text(model.system(), answer.test.theta)},
              {"overlay", overlay},
              {"trajectory", trajectory}};
}

Panel pair_panel(const std::string& title, const std::string& posterior, int x, int y, double threshold,
                 const std::vector<double>& range) {
  Json panel = {{"type", "pair"}, {"title", title}, {"posterior", posterior},
                {"x", x},         {"y", y},         {"threshold", threshold}};
  if (!range.empty()) panel["range"] = range;
  return panel;
}

Panel density_panel(const std::string& title, const System& system, int x, int y, const std::vector<double>& range,
                    int cells, const std::vector<float>& values, const std::vector<double>& truth,
                    const std::vector<double>& estimate) {
  return Json{
      {"type", "density"},
      {"title", title},
      {"parameters",
       {parameter(system.parameters[static_cast<size_t>(x)]), parameter(system.parameters[static_cast<size_t>(y)])}},
      {"range", range},
      {"truth", truth},
      {"estimate", estimate},
      {"values", packed_table(values, static_cast<size_t>(cells), static_cast<size_t>(cells))}};
}

Panel estimates_panel(const std::string& evaluation, int column) {
  return Json{{"type", "estimates"}, {"evaluation", evaluation}, {"k", column}};
}

Panel error_panel(const std::string& evaluation, int column, int x, int y) {
  return Json{{"type", "error_map"}, {"evaluation", evaluation}, {"k", column}, {"x", x}, {"y", y}};
}

Panel z_panel(const std::string& title, const std::string& evaluation, const std::vector<int>& columns) {
  return Json{{"type", "z"}, {"title", title}, {"evaluation", evaluation}, {"columns", columns}};
}

Panel qq_panel(const std::string& evaluation, int column) {
  return Json{{"type", "qq"}, {"evaluation", evaluation}, {"k", column}};
}

Panel matrix_panel(const std::string& title, const System& system, const std::vector<std::vector<double>>& matrix,
                   bool diverging) {
  Json parameters = Json::array(), rows = Json::array();
  for (const Parameter& p : system.parameters) parameters.push_back(parameter(p));
  for (const std::vector<double>& row : matrix) {
    Json cells = Json::array();
    for (const double v : row) cells.push_back(five_digits(v));
    rows.push_back(cells);
  }
  return Json{
      {"type", "matrix"}, {"title", title}, {"parameters", parameters}, {"matrix", rows}, {"diverging", diverging}};
}

Panel loss_panel(const std::string& title, const ModelInfo& info) {
  Json curve = Json::array();
  for (const LossPoint& p : info.curve)
    curve.push_back({{"minutes", five_digits(p.minutes)},
                     {"train", five_digits(p.train_nll)},
                     {"validation", five_digits(p.validation_nll)}});
  return Json{{"type", "loss"}, {"title", title}, {"curve", curve}};
}

Panel curves_panel(const std::string& title, const std::vector<NamedCurve>& curves) {
  Json list = Json::array();
  for (const NamedCurve& c : curves) {
    Json points = Json::array();
    for (const LossPoint& p : c.info->curve) points.push_back({p.trajectories, five_digits(p.validation_nll)});
    list.push_back({{"name", c.name}, {"points", points}});
  }
  return Json{
      {"type", "curves"}, {"title", title}, {"x", "trajectories seen"}, {"y", "validation NLL"}, {"curves", list}};
}

std::vector<std::vector<double>> correlation_matrix(const CalibrationReport& report, bool sd) {
  const size_t M = report.parameters.size();
  std::vector<std::vector<double>> matrix(M, std::vector<double>(M, 0));
  for (size_t k = 0; k < M; ++k) matrix[k][k] = sd ? 0 : 1;
  for (const PairCorrelation& c : report.correlations) {
    const size_t a = static_cast<size_t>(c.first), b = static_cast<size_t>(c.second);
    matrix[a][b] = matrix[b][a] = sd ? c.correlation.sd : c.correlation.mean;
  }
  return matrix;
}

std::string parameters_text(const System& system, const std::vector<double>& theta) {
  std::string text;
  for (size_t k = 0; k < theta.size(); ++k)
    text += fmt::format("{}{} = {:g}", k ? ", " : "", system.parameters[k].label, theta[k]);
  return text;
}

std::string spread_text(const Spread& spread, int decimals) {
  return fmt::format("{:.{}f} / {:.{}f}", spread.mean, decimals, spread.sd, decimals);
}

}  // namespace penn
