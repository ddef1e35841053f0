#include "paper/draw_ablation.h"

#include <fmt/core.h>

#include <cmath>

#include "paper/draw.h"
#include "paper/paper_numbers.h"

namespace penn {
namespace {

constexpr double kAblationThreshold = 0.005;

std::string minutes_text(double minutes) {
  const std::string number = fmt::format("{:g}", std::round(10 * minutes) / 10);
  return number + (number == "1" ? " minute" : " minutes");
}

// How long each was trained, once for the page: a kept model may have had another budget than the command names now.
void say_budget(PageData& page, Session& session, const PaperItem& item) {
  double least = 1e300, most = 0;
  for (const std::string& name : item.trainings) {
    const Estimator& model = page.use_model(name, session);
    least = std::min(least, model.info().minutes);
    most = std::max(most, model.info().minutes);
  }
  page.note(fmt::format(
      "Ours: the fast network, {} of training for each model on this machine. Paper: 2000 to 2500 epochs on an RTX "
      "4090. A short budget does not reach what the models can; --minutes gives more.",
      most - least < 0.05 * most + 0.05 ? minutes_text(most) : fmt::format("{:.1f} to {:.1f} minutes", least, most)));
}

std::string size_name(const Training& training) {
  return training.trajectories == 0 ? "always new" : thousands(training.trajectories);
}

}  // namespace

PageData draw_ablation(const PaperItem& item, Session& session) {
  PageData page(item,
                "Densities of (α, H) for one trajectory, and validation losses: (a) with 1, 2, 10 and 20 components, "
                "(b) with 1,000 to 100,000 training trajectories.",
                session.options());
  const TestTrajectory test = ablation_trajectory();
  std::vector<Panel> panels[2];
  std::vector<NamedCurve> curves[2];
  std::string ours;
  for (const std::string& name : item.trainings) {
    const Training& training = find_training(name);
    const Estimator& model = session.estimator(name);
    const size_t group = training.trajectories > 0;
    const std::string title = group ? "N_train = " + size_name(training) : fmt::format("N = {}", training.components);
    const Answer answer = session.answer(name, test);
    panels[group].push_back(pair_panel(title, page.add_posterior(name, model, answer), 4, 2, kAblationThreshold));
    curves[group].push_back({group ? size_name(training) : title, &model.info()});
    if (!group) ours += fmt::format("{}{:.2f}", ours.empty() ? "" : ", ", model.info().validation_nll);
  }
  for (const size_t group : {0, 1}) {
    panels[group].push_back(curves_panel(group ? "Validation loss by N_train" : "Validation loss", curves[group]));
    page.section(group ? "(b) Training trajectories" : "(a) Components",
                 group ? "N = 10." : "Always new trajectories; the paper: 300,000.", panels[group]);
  }
  say_budget(page, session, item);
  page.note(fmt::format("The trajectory: {}, as stated in the paper.",
                        parameters_text(session.estimator(item.trainings[0]).system(), test.theta)));
  page.headline("validation NLL for N = 1, 2, 10, 20", ours, "-5.37, -6.04, -6.50, -6.56");
  return page;
}

PageData draw_ablation_table(const PaperItem& item, Session& session) {
  PageData page(item,
                "Mean / SD of the absolute errors and of the NLL of the truth: (a) by the number of components N, (b) "
                "by the number of training trajectories.",
                session.options());
  const System* system = nullptr;
  std::vector<PageData::Row> rows[2];
  std::string ours;
  for (const PaperAblation& paper : kPaperAblation) {
    const std::string name(paper.training);
    const Training& training = find_training(name);
    const Estimator& model = session.estimator(name);
    system = &model.system();
    const CalibrationReport& report = session.evaluation(name).report;
    const size_t group = training.trajectories > 0;
    std::vector<std::string> cells = {"ours", std::to_string(training.components), size_name(training)},
                             of_paper = {"paper", paper.components, paper.trajectories};
    for (size_t k = 0; k < paper.error.size(); ++k) {
      cells.push_back(spread_text(report.parameters[k].error));
      of_paper.push_back(spread_text(paper.error[k]));
    }
    cells.push_back(spread_text(report.nll));
    of_paper.push_back(spread_text(paper.nll));
    rows[group].push_back({cells});
    rows[group].push_back({of_paper, true});
    if (name == "oup-components-10") ours = spread_text(report.nll);
  }
  std::vector<std::string> head = {"", "N", "N_train"};
  for (const Parameter& p : system->parameters) head.push_back("|error| of " + p.label);
  head.push_back("NLL");
  page.table("(a) Components", "", head, rows[0]);
  page.table("(b) Training trajectories", "", head, rows[1]);
  say_trajectories(page, session.evaluation(std::string(kPaperAblation[0].training)), "20,000 trajectories");
  say_budget(page, session, item);
  page.headline("NLL with N = 10, mean / SD", ours, spread_text(kPaperOup.nll));
  return page;
}

PageData draw_covariance(const PaperItem& item, Session& session) {
  PageData page(
      item,
      "Density of D₁ and τ₁ for trajectory (b) of Figure 7, with full and with diagonal covariances of the components.",
      session.options());
  const TestTrajectory& test = test_trajectories("dvdp")[1];
  std::vector<Panel> panels;
  std::vector<PageData::Row> rows;
  std::string ours;
  for (const PaperCovariance& paper : kPaperCovariance) {
    const std::string name(paper.training);
    const Estimator& model = session.estimator(name);
    const Answer answer = session.answer(name, test);
    panels.push_back(pair_panel(fmt::format("{}, N = {}", paper.covariance, paper.components),
                                page.add_posterior(name, model, answer), 4, 6, kAblationThreshold));
    rows.push_back({{fmt::format("{}, N = {}", paper.covariance, paper.components),
                     fmt::format("{:.2f}", answer.inference.correlation(4, 6)), surprise_text(answer)}});
    ours += fmt::format("{}{:.2f}", ours.empty() ? "" : ", ", answer.inference.correlation(4, 6));
  }
  page.section("D₁ and τ₁", parameters_text(session.estimator(item.trainings[0]).system(), test.theta), panels);
  page.table("For this trajectory",
             "The paper: a smooth ridge with full covariances, scattered masses along the axes with diagonal ones.",
             {"covariance", "corr(D₁, τ₁)", "−ln q(truth)"}, rows);
  say_budget(page, session, item);
  page.headline("corr(D₁, τ₁): full, diagonal 10, diagonal 30", ours, "");
  return page;
}

PageData draw_covariance_table(const PaperItem& item, Session& session) {
  PageData page(item,
                "Mean / SD of the NLL of the truth for the Duffing-van der Pol oscillator with full and with diagonal "
                "covariances.",
                session.options());
  std::vector<PageData::Row> rows;
  std::string ours, of_paper;
  for (const PaperCovariance& paper : kPaperCovariance) {
    const std::string name(paper.training);
    const CalibrationReport& report = session.evaluation(name).report;
    rows.push_back({{paper.covariance, paper.components, spread_text(report.nll), spread_text(paper.nll)}});
    ours += fmt::format("{}{:.2f}", ours.empty() ? "" : ", ", report.nll.mean);
    of_paper += fmt::format("{}{:.2f}", of_paper.empty() ? "" : ", ", paper.nll.mean);
  }
  page.table("NLL, mean / SD", "", {"covariance", "components", "ours", "paper"}, rows);
  say_trajectories(page, session.evaluation(std::string(kPaperCovariance[0].training)),
                   "a test set it does not describe");
  say_budget(page, session, item);
  page.headline("NLL: full, diagonal 10, diagonal 30", ours, of_paper);
  return page;
}

}  // namespace penn
