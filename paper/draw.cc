#include "paper/draw.h"

#include <fmt/core.h>

#include <cmath>
#include <map>

#include "paper/draw_ablation.h"
#include "paper/draw_airfoil.h"
#include "paper/draw_cfhn.h"
#include "paper/draw_dvdp.h"
#include "paper/draw_models.h"
#include "paper/draw_oup.h"
#include "paper/draw_soup.h"

namespace penn {

PageData draw_paper_item(const PaperItem& item, Session& session) {
  static const std::map<std::string, DrawPage> pages = {
      {"fig1", draw_architecture},       {"fig2", draw_exact},
      {"fig3", draw_oup_estimates},      {"fig4", draw_oup_trajectories},
      {"fig5", draw_oup_densities},      {"fig6", draw_dvdp_estimates},
      {"fig7", draw_dvdp_trajectories},  {"fig8", draw_dvdp_densities},
      {"fig9", draw_dvdp_calibration},   {"fig10", draw_dvdp_couplings},
      {"fig11", draw_cfhn_estimates},    {"fig12", draw_cfhn_trajectories},
      {"fig13", draw_cfhn_densities},    {"fig14", draw_airfoil_estimates},
      {"fig15", draw_airfoil_couplings}, {"fig16", draw_airfoil_densities},
      {"fig17", draw_loss_curves},       {"fig18", draw_ablation},
      {"fig19", draw_covariance},        {"tab1", draw_cost},
      {"tab2", draw_ablation_table},     {"tab3", draw_covariance_table},
  };
  return pages.at(item.name)(item, session);
}

void add_error_table(PageData& page, const System& system, const CalibrationReport& report,
                     const std::vector<Spread>& paper) {
  std::vector<PageData::Row> rows;
  for (size_t k = 0; k < report.parameters.size(); ++k) {
    const ParameterCalibration& p = report.parameters[k];
    const Range range = system.parameters[k].range;
    std::vector<std::string> cells = {system.parameters[k].label, spread_text(p.error)};
    if (!paper.empty()) cells.push_back(spread_text(paper[k]));
    cells.push_back(fmt::format("{:.1f} %", 100 * p.error.mean / (range.high - range.low)));
    cells.push_back(fmt::format("{:.2f}", p.contraction.mean));
    rows.push_back({cells});
  }
  std::vector<std::string> head = {"parameter", "ours: |error|, mean / SD"};
  if (!paper.empty()) head.push_back("paper: |error|, mean / SD");
  head.push_back("ours, fraction of the box");
  head.push_back("ours, contraction");
  page.table("Errors of the point estimates", "Contraction: 1 − variance / prior variance, averaged.", head, rows);
}

std::string thousands(int64_t n) {
  std::string text = std::to_string(n);
  for (size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
  return text;
}

void say_trajectories(PageData& page, const Evaluation& evaluation, const std::string& of_paper) {
  page.note(fmt::format("Ours: {} fresh trajectories of {} samples, parameters uniform in the box. Paper: {}.",
                        thousands(evaluation.report.count), evaluation.length, of_paper));
}

std::string surprise_text(const Answer& answer, int decimals) {
  const Posterior& q = answer.inference.posterior;
  for (size_t k = 0; k < q.dimension(); ++k)
    if (q.is_probit(k) && !(answer.test.theta[k] > q.box().lo[k] && answer.test.theta[k] < q.box().hi[k]))
      return "truth on an edge";
  return fmt::format("{:.{}f}", -q.log_density(answer.test.theta), decimals);
}

std::vector<int> all_parameters(const System& system) {
  std::vector<int> list;
  for (size_t k = 0; k < system.parameters.size(); ++k) list.push_back(static_cast<int>(k));
  return list;
}

std::vector<Panel> estimates_panels(const std::string& evaluation, size_t columns) {
  std::vector<Panel> panels;
  for (size_t k = 0; k < columns; ++k) panels.push_back(estimates_panel(evaluation, static_cast<int>(k)));
  return panels;
}

void add_trajectories(PageData& page, Session& session, const std::string& model,
                      const std::vector<TestTrajectory>& tests, int of_paper, bool overlay) {
  const Estimator& estimator = page.use_model(model, session);
  std::vector<Panel> panels;
  for (const TestTrajectory& test : tests) {
    const Answer answer = session.answer(model, test);
    panels.push_back(trajectory_panel(test.name + " " + test.about, estimator, answer, overlay));
    page.note_length(estimator, answer);
  }
  page.section("Trajectories", "", panels);
  page.headline("trajectories", std::to_string(panels.size()), std::to_string(of_paper));
}

void add_pair_densities(PageData& page, Session& session, const std::string& name, const DrawnPairs& drawn) {
  const Estimator& model = page.use_model(name, session);
  const System& system = model.system();
  const auto names = [&](std::pair<int, int> pair) {
    return fmt::format("{}, {}", system.parameters[static_cast<size_t>(pair.first)].label,
                       system.parameters[static_cast<size_t>(pair.second)].label);
  };
  std::vector<PageData::Row> rows;
  size_t inside = 0, all = 0;
  for (const TestTrajectory& test : test_trajectories(name)) {
    const Answer answer = session.answer(name, test);
    const Inference& q = answer.inference;
    const std::string key = page.add_posterior(fmt::format("{} {}", name, test.name), model, answer);
    std::vector<Panel> panels;
    std::vector<std::string> cells = {test.name};
    if (drawn.with_trajectory) panels.push_back(trajectory_panel(test.name + " trajectory", model, answer));
    for (const auto& pair : drawn.pairs) {
      panels.push_back(
          pair_panel(fmt::format("{} {}", test.name, names(pair)), key, pair.first, pair.second, drawn.threshold));
      cells.push_back(
          fmt::format("{:.2f}", q.correlation(static_cast<size_t>(pair.first), static_cast<size_t>(pair.second))));
    }
    cells.push_back(surprise_text(answer));
    rows.push_back({cells});
    page.section(fmt::format("{} {}", test.name, test.about),
                 drawn.with_trajectory ? "" : parameters_text(system, test.theta),
                 panels);  // the trajectory's panel says them
    for (size_t k = 0; k < q.sd.size(); ++k, ++all) inside += std::abs(q.mean[k] - test.theta[k]) < 2 * q.sd[k];
  }
  std::vector<std::string> head = {"trajectory"}, paper = {"paper"};
  for (const auto& pair : drawn.pairs) head.push_back(names(pair));
  paper.insert(paper.end(), drawn.of_paper.begin(), drawn.of_paper.end());
  head.push_back("−ln q(truth)");
  paper.push_back("");
  rows.push_back({paper, true});
  page.table("Correlations", "", head, rows);
  page.headline("true values within 2 SD", fmt::format("{} of {}", inside, all), "");
}

double sd_of_sum(const Inference& inference, size_t a, size_t b) {
  const DenseMatrix s = inference.posterior.covariance();
  return std::sqrt(s(a, a) + s(b, b) + 2 * s(a, b));
}

double correlation_of(const CalibrationReport& report, const std::string& a, const std::string& b) {
  for (const PairCorrelation& c : report.correlations) {
    const std::string& first = report.parameters[static_cast<size_t>(c.first)].name;
    const std::string& second = report.parameters[static_cast<size_t>(c.second)].name;
    if ((first == a && second == b) || (first == b && second == a)) return c.correlation.mean;
  }
  throw Error(fmt::format("no correlation of {} and {}", a, b));
}

void add_couplings(PageData& page, const System& system, const CalibrationReport& report,
                   const std::vector<std::array<const char*, 3>>& said) {
  page.section("Correlations", "",
               {matrix_panel("mean", system, correlation_matrix(report, false), true),
                matrix_panel("SD", system, correlation_matrix(report, true), false)});
  const auto label = [&](const char* name) {
    return system.parameters[static_cast<size_t>(system.parameter_index(name))].label;
  };
  std::vector<PageData::Row> rows;
  for (const auto& [a, b, paper] : said)
    rows.push_back(
        {{fmt::format("{}, {}", label(a), label(b)), fmt::format("{:.2f}", correlation_of(report, a, b)), paper}});
  page.table("What the paper says", "", {"pair", "ours, mean", "paper, mean"}, rows);
}

}  // namespace penn
