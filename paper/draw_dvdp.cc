#include "paper/draw_dvdp.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "paper/draw.h"
#include "paper/paper_numbers.h"

namespace penn {
namespace {

struct Dvdp {  // places of the parameters
  enum Place { kEps, kB0, kB1, kB2, kD1, kD2, kTau1, kTau2 };
};
const char kDvdpOfPaper[] = "10,000 trajectories of 500 samples";

}  // namespace

PageData draw_dvdp_estimates(const PaperItem& item, Session& session) {
  PageData page(item, "Point estimates against true values, and four maps of the mean absolute error.",
                session.options());
  const Estimator& model = page.use_model("dvdp", session);
  const Evaluation& evaluation = session.evaluation("dvdp");
  const std::string key = page.add_evaluation("dvdp", model, evaluation, all_parameters(model.system()), false);
  page.section("(a) Estimates against truth",
               "Shade: number of trajectories. Lines: 5, 25, 50, 75, 95 % quantiles. Dashed: estimate = truth. The "
               "paper: overestimated near the lower ends, underestimated near the upper ends, except τ₁ and τ₂.",
               estimates_panels(key, model.system().parameters.size()));
  page.section(
      "(b) Errors", "Of ε over (ε, β₀), of β₂ over (β₁, β₂), of D₁ over (D₁, τ₁), of D₂ over (D₁, D₂).",
      {error_panel(key, Dvdp::kEps, Dvdp::kEps, Dvdp::kB0), error_panel(key, Dvdp::kB2, Dvdp::kB1, Dvdp::kB2),
       error_panel(key, Dvdp::kD1, Dvdp::kD1, Dvdp::kTau1), error_panel(key, Dvdp::kD2, Dvdp::kD1, Dvdp::kD2)});
  add_error_table(page, model.system(), evaluation.report, {});
  say_trajectories(page, evaluation, kDvdpOfPaper);
  page.headline("NLL, mean / SD", spread_text(evaluation.report.nll), spread_text(kPaperCovariance[0].nll));
  return page;
}

PageData draw_dvdp_trajectories(const PaperItem& item, Session& session) {
  PageData page(item, "The three trajectories whose densities Figure 8 shows.", session.options());
  add_trajectories(page, session, "dvdp", test_trajectories("dvdp"), 3, false);
  page.note("The paper does not print the parameters of its three trajectories; these are ours.");
  return page;
}

PageData draw_dvdp_densities(const PaperItem& item, Session& session) {
  PageData page(item,
                "Densities of five pairs of parameters for the three trajectories of Figure 7; ellipses of components "
                "with weights above 0.01.",
                session.options());
  add_pair_densities(page, session, "dvdp",
                     {.pairs = {{Dvdp::kEps, Dvdp::kB0},
                                {Dvdp::kB1, Dvdp::kB2},
                                {Dvdp::kD1, Dvdp::kTau1},
                                {Dvdp::kD2, Dvdp::kTau2},
                                {Dvdp::kD1, Dvdp::kD2}},
                      .of_paper = {"about 0", "positive", "positive, narrow", "positive, narrow", "about 0"}});
  return page;
}

PageData draw_dvdp_calibration(const PaperItem& item, Session& session) {
  PageData page(item,
                "z-scores (estimate − truth) / SD: histograms over the four drift and the four noise parameters, and "
                "Q-Q plots of all eight.",
                session.options());
  const Estimator& model = page.use_model("dvdp", session);
  const Evaluation& evaluation = session.evaluation("dvdp");
  const std::string key = page.add_evaluation("dvdp", model, evaluation, all_parameters(model.system()), true);
  page.section("(a), (b) z-scores", "Grey: N(0, 1).",
               {z_panel("(a) ε, β₀, β₁, β₂", key, {Dvdp::kEps, Dvdp::kB0, Dvdp::kB1, Dvdp::kB2}),
                z_panel("(b) D₁, D₂, τ₁, τ₂", key, {Dvdp::kD1, Dvdp::kD2, Dvdp::kTau1, Dvdp::kTau2})});
  std::vector<Panel> qq;
  std::vector<PageData::Row> rows;
  double worst = 0;
  for (int k = Dvdp::kEps; k <= Dvdp::kTau2; ++k) {
    qq.push_back(qq_panel(key, k));
    const ParameterCalibration& p = evaluation.report.parameters[static_cast<size_t>(k)];
    double largest = 0;
    for (const auto& [normal, z] : p.qq)
      if (std::abs(normal) <= 2.5) largest = std::max(largest, std::abs(z - normal));
    worst = std::max(worst, largest);
    rows.push_back({{model.system().parameters[static_cast<size_t>(k)].label, fmt::format("{:.3f}", p.z.mean),
                     fmt::format("{:.3f}", p.z.sd), fmt::format("{:.2f}", largest),
                     fmt::format("{:.1f} %", 100 * p.coverage[2])}});
  }
  page.section("(c) Q-Q plots",
               "Quantiles of the z-scores against those of N(0, 1). Band: 99 % at each point. The paper: on the line "
               "within [−2.5, 2.5].",
               qq);
  page.table("In numbers",
             "Largest distance of the Q-Q curve from the line between −2.5 and 2.5. A posterior that is not Gaussian "
             "has z-scores that are not, however right it is; the intervals are the stricter test.",
             {"parameter", "mean of z", "SD of z", "largest distance", "90 % interval holds"}, rows);
  say_trajectories(page, evaluation, kDvdpOfPaper);
  page.headline("largest distance from N(0, 1), Q-Q within 2.5", fmt::format("{:.2f}", worst), "on the line");
  return page;
}

PageData draw_dvdp_couplings(const PaperItem& item, Session& session) {
  PageData page(
      item,
      "Correlations between the eight parameters: mean and SD over trajectories with parameters uniform in the box.",
      session.options());
  const Estimator& model = page.use_model("dvdp", session);
  const Evaluation& evaluation = session.evaluation("dvdp");
  add_couplings(page, model.system(), evaluation.report,
                {{"b1", "b2", "strongly positive"},
                 {"D1", "tau1", "strongly positive"},
                 {"D2", "tau2", "strongly positive"},
                 {"eps", "b1", "weakly negative"},
                 {"D1", "D2", "about 0"},
                 {"tau1", "tau2", "about 0"}});
  say_trajectories(page, evaluation, kDvdpOfPaper);
  page.headline("corr(D₁, τ₁), corr(D₂, τ₂)",
                fmt::format("{:.2f}, {:.2f}", correlation_of(evaluation.report, "D1", "tau1"),
                            correlation_of(evaluation.report, "D2", "tau2")),
                "strongly positive");
  return page;
}

}  // namespace penn
