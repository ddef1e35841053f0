// Figures 14 to 16: the airfoil.
#include <fmt/format.h>

#include "penn/reproduce/draw.h"

namespace penn {
namespace {

enum Index { kU0, kBeta3, kGamma3, kX, kR, kA, kMu, kTau, kGauss, kLevy, kAlpha };
constexpr double kThreshold = 0.01;
const char kOfPaper[] = "20,000 trajectories of 1000 samples";

}  // namespace

PageData draw_airfoil_estimates(const PaperItem& item, Session& session) {
  PageData page(item, "Point estimates against true values of the eleven parameters.", session.options());
  const Estimator& model = session.estimator("airfoil");
  const Evaluation& evaluation = session.evaluation("airfoil");
  page.use_model("airfoil", model);
  const std::string key = page.add_evaluation("airfoil", model, evaluation, all_parameters(model.system()), false);
  std::vector<Json> panels;
  for (int k = kU0; k <= kAlpha; ++k) panels.push_back(estimates_panel(key, k));
  page.section("Estimates against truth", "Shade: number of trajectories. Lines: 5, 25, 50, 75, 95 % quantiles. Dashed: estimate = truth. The paper: U₀ and μ best, the four noise parameters practically unidentifiable.", panels);
  add_error_table(page, model.system(), evaluation.report, {});
  say_trajectories(page, evaluation, kOfPaper);
  page.headline("NLL, mean / SD", spread_text(evaluation.report.nll), "");
  return page;
}

PageData draw_airfoil_couplings(const PaperItem& item, Session& session) {
  PageData page(item, "Correlations between the eleven parameters: mean and SD over trajectories with parameters uniform in the box.", session.options());
  const Estimator& model = session.estimator("airfoil");
  const Evaluation& evaluation = session.evaluation("airfoil");
  page.use_model("airfoil", model);
  add_couplings(page, model.system(), evaluation.report,
                {{"U0", "a_h", "-0.57"},         {"a_h", "mu", "0.47"},          {"U0", "beta3", "positive"},     {"U0", "gamma3", "positive"}, {"beta3", "gamma3", "positive"},
                 {"x_phi", "r_phi", "positive"}, {"D_gauss", "D_levy", "-0.16"}, {"alpha", "D_levy", "0.12"}});
  say_trajectories(page, evaluation, kOfPaper);
  page.headline("corr(U₀, a_h), corr(a_h, μ)", fmt::format("{:.2f}, {:.2f}", correlation_of(evaluation.report, "U0", "a_h"), correlation_of(evaluation.report, "a_h", "mu")), "-0.57, 0.47");
  return page;
}

PageData draw_airfoil_densities(const PaperItem& item, Session& session) {
  PageData page(item, "Four trajectories of pitch and plunge, and the densities of four pairs of parameters.", session.options());
  const Estimator& model = session.estimator("airfoil");
  page.use_model("airfoil", model);
  std::vector<PageData::Row> rows;
  int inside = 0;
  size_t all = 0;
  for (const TestTrajectory& test : test_trajectories("airfoil")) {
    const Answer answer = session.answer("airfoil", test);
    const std::string key = page.add_posterior("airfoil " + test.name, model, answer);
    DrawnPairs drawn = draw_pairs(model, answer, key, {{kU0, kA}, {kBeta3, kGamma3}, {kX, kR}, {kGauss, kLevy}}, kThreshold);
    drawn.panels.insert(drawn.panels.begin(), trajectory_panel(test.name + " pitch and plunge", model, answer));
    page.section(fmt::format("{} U₀ = {:g}", test.name, test.theta[kU0]), "", drawn.panels);
    drawn.cells.insert(drawn.cells.begin(), test.name);
    rows.push_back({drawn.cells});
    inside += count_within_two_sd(answer);
    all += test.theta.size();
  }
  rows.push_back({{"paper", "strongly negative", "strongly positive", "strongly positive", "weakly negative", ""}, true});
  page.table("Correlations", "", {"trajectory", "U₀, a_h", "β₃, γ₃", "x_φ, r_φ", "D_Gauss, D_Lévy", "−ln q(truth)"}, rows);
  page.note("The paper's caption speaks of four trajectories, its text of three, and it prints no parameters; these four are ours.");
  page.headline("true values within 2 SD", fmt::format("{} of {}", inside, all), "");
  return page;
}

}  // namespace penn
