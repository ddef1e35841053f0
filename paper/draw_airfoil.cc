#include "paper/draw_airfoil.h"

#include <fmt/core.h>

#include "paper/draw.h"

namespace penn {
namespace {

struct Airfoil {  // places of the parameters
  enum Place { kU0, kBeta3, kGamma3, kX, kR, kA, kMu, kTau, kGauss, kLevy, kAlpha };
};
const char kAirfoilOfPaper[] = "20,000 trajectories of 1000 samples";

}  // namespace

PageData draw_airfoil_estimates(const PaperItem& item, Session& session) {
  PageData page(item, "Point estimates against true values of the eleven parameters.", session.options());
  const Estimator& model = page.use_model("airfoil", session);
  const Evaluation& evaluation = session.evaluation("airfoil");
  const std::string key = page.add_evaluation("airfoil", model, evaluation, all_parameters(model.system()), false);
  page.section("Estimates against truth",
               "Shade: number of trajectories. Lines: 5, 25, 50, 75, 95 % quantiles. Dashed: estimate = truth. The "
               "paper: U₀ and μ best, the four noise parameters practically unidentifiable.",
               estimates_panels(key, model.system().parameters.size()));
  add_error_table(page, model.system(), evaluation.report, {});
  say_trajectories(page, evaluation, kAirfoilOfPaper);
  page.headline("NLL, mean / SD", spread_text(evaluation.report.nll), "");
  return page;
}

PageData draw_airfoil_couplings(const PaperItem& item, Session& session) {
  PageData page(
      item,
      "Correlations between the eleven parameters: mean and SD over trajectories with parameters uniform in the box.",
      session.options());
  const Estimator& model = page.use_model("airfoil", session);
  const Evaluation& evaluation = session.evaluation("airfoil");
  add_couplings(page, model.system(), evaluation.report,
                {{"U0", "a_h", "-0.57"},
                 {"a_h", "mu", "0.47"},
                 {"U0", "beta3", "positive"},
                 {"U0", "gamma3", "positive"},
                 {"beta3", "gamma3", "positive (Figure 16)"},
                 {"x_phi", "r_phi", "positive"},
                 {"D_gauss", "D_levy", "-0.16"},
                 {"alpha", "D_levy", "0.12"}});
  say_trajectories(page, evaluation, kAirfoilOfPaper);
  page.headline("corr(U₀, a_h), corr(a_h, μ)",
                fmt::format("{:.2f}, {:.2f}", correlation_of(evaluation.report, "U0", "a_h"),
                            correlation_of(evaluation.report, "a_h", "mu")),
                "-0.57, 0.47");
  return page;
}

PageData draw_airfoil_densities(const PaperItem& item, Session& session) {
  PageData page(item, "Four trajectories of pitch and plunge, and the densities of four pairs of parameters.",
                session.options());
  add_pair_densities(page, session, "airfoil",
                     {.pairs = {{Airfoil::kU0, Airfoil::kA},
                                {Airfoil::kBeta3, Airfoil::kGamma3},
                                {Airfoil::kX, Airfoil::kR},
                                {Airfoil::kGauss, Airfoil::kLevy}},
                      .of_paper = {"strongly negative", "strongly positive", "strongly positive", "weakly negative"},
                      .with_trajectory = true});
  page.note(
      "The paper's caption speaks of four trajectories, its text of three, and it prints no parameters; these four are "
      "ours.");
  return page;
}

}  // namespace penn
