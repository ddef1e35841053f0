#include "paper/draw_oup.h"

#include <fmt/core.h>

#include "paper/draw.h"
#include "paper/paper_numbers.h"

namespace penn {
namespace {

struct Oup {  // places of the parameters
  enum Place { kTau, kFgn, kH, kLevy, kAlpha };
};
constexpr double kOupThreshold = 0.005;  // of a component's weight, as in the paper

// Weight of the components whose centre lies where only one of the noises is there: {fGn only, Levy only, both}.
std::array<double, 3> groups(const Posterior& q) {
  std::array<double, 3> weight = {};
  for (size_t j = 0; j < q.components(); ++j) {
    const std::vector<double> centre = q.component_centre(j);
    const double fraction = centre[Oup::kLevy] / (centre[Oup::kFgn] + centre[Oup::kLevy]);
    weight[fraction < 0.25 ? 0 : fraction > 0.75 ? 1 : 2] += q.weight(j);
  }
  return weight;
}

}  // namespace

PageData draw_oup_estimates(const PaperItem& item, Session& session) {
  PageData page(item, "Point estimates against true values, and the mean absolute errors over the true α and H.",
                session.options());
  const Estimator& model = page.use_model("oup", session);
  const Evaluation& evaluation = session.evaluation("oup");
  const std::string key = page.add_evaluation("oup", model, evaluation, all_parameters(model.system()), false);
  std::vector<Panel> estimates, errors;
  for (int k = Oup::kTau; k <= Oup::kAlpha; ++k)
    estimates.push_back(estimates_panel(key, k)), errors.push_back(error_panel(key, k, Oup::kAlpha, Oup::kH));
  page.section("(a) Estimates against truth",
               "Shade: number of trajectories. Lines: 5, 25, 50, 75, 95 % quantiles of the estimate at a true value. "
               "Dashed: estimate = truth.",
               estimates);
  page.section("(b) Errors over α and H",
               "The paper finds the errors of the two intensities largest in a T: H near 0.5, or α near 2.", errors);
  add_error_table(page, model.system(), evaluation.report, {kPaperOup.error.begin(), kPaperOup.error.end()});
  say_trajectories(
      page, evaluation,
      "80,000 trajectories in its figure; the errors are those of its Table 2 (N = 10, 20,000 trajectories)");
  page.headline("NLL, mean / SD", spread_text(evaluation.report.nll), spread_text(kPaperOup.nll));
  return page;
}

PageData draw_oup_trajectories(const PaperItem& item, Session& session) {
  PageData page(item, "The eight trajectories whose densities Figure 5 shows.", session.options());
  const Estimator& model = page.use_model("oup", session);
  std::vector<Panel> panels;
  for (const TestTrajectory& test : test_trajectories("oup")) {
    const Answer answer = session.answer("oup", test);
    panels.push_back(trajectory_panel(fmt::format("{} {} samples", test.name, answer.observed.n), model, answer));
    page.note_length(model, answer);
  }
  page.section("Trajectories", "", panels);
  page.note(
      "As stated in the paper: H = 0.5, α = 2, D_fGn + D_Lévy = 1 in (e) and (f); α = 1.9 in (d); (g), (b), (h) have "
      "the same parameters and 200, 1000, 10,000 samples. The other values are ours.");
  page.headline("trajectories", std::to_string(panels.size()), "8");
  return page;
}

PageData draw_oup_densities(const PaperItem& item, Session& session) {
  PageData page(item,
                "Densities of (D_Lévy, D_fGn) and of (α, H) for the eight trajectories of Figure 4; ellipses of "
                "components with weights above 0.005.",
                session.options());
  const Estimator& model = page.use_model("oup", session);
  std::vector<PageData::Row> rows, sums;
  for (const TestTrajectory& test : test_trajectories("oup")) {
    const Answer answer = session.answer("oup", test);
    const std::string key = page.add_posterior("oup " + test.name, model, answer);
    page.section(fmt::format("{} {}", test.name, test.about),
                 fmt::format("{}; {} samples.", parameters_text(model.system(), test.theta), answer.observed.n),
                 {pair_panel(test.name + " intensities", key, Oup::kLevy, Oup::kFgn, kOupThreshold),
                  pair_panel(test.name + " exponents", key, Oup::kAlpha, Oup::kH, kOupThreshold)});
    const Inference& q = answer.inference;
    std::vector<std::string> cells = {test.name, std::to_string(answer.observed.n)};
    for (const double sd : q.sd) cells.push_back(fmt::format("{:.3f}", sd));
    cells.push_back(fmt::format("{:.2f}", q.correlation(Oup::kFgn, Oup::kLevy)));
    cells.push_back(surprise_text(answer));
    rows.push_back({cells});
    if (test.theta[Oup::kH] == 0.5 && test.theta[Oup::kAlpha] == 2) {
      const auto weight = groups(q.posterior);
      const double sum = q.mean[Oup::kFgn] + q.mean[Oup::kLevy], sd = sd_of_sum(q, Oup::kFgn, Oup::kLevy);
      sums.push_back(
          {{test.name, fmt::format("{:.3f} ± {:.3f}", sum, sd),
            fmt::format("{:.3f} / {:.3f}", q.sd[Oup::kFgn], q.sd[Oup::kLevy]), fmt::format("{:.0f} %", 100 * weight[0]),
            fmt::format("{:.0f} %", 100 * weight[1]), fmt::format("{:.0f} %", 100 * weight[2])}});
      if (sums.size() == 1)
        page.headline("D_fGn + D_Lévy at H = 0.5, α = 2", fmt::format("{:.2f} ± {:.2f}", sum, sd), "on the line 1");
    }
  }
  page.table(
      "Widths",
      "SD of each parameter. The paper: narrower with length, (g), (b), (h); D_fGn and D_Lévy negatively correlated "
      "where α is near 2.",
      {"trajectory", "n", "SD lg τ", "SD D_fGn", "SD H", "SD D_Lévy", "SD α", "corr(D_fGn, D_Lévy)", "−ln q(truth)"},
      rows);
  page.table(
      "Where the two noises are one",
      "At H = 0.5 and α = 2 only D_fGn + D_Lévy = 1 shows. The paper finds three groups of components: fGn only, Lévy "
      "only, both. Groups here: by the fraction of D_Lévy in a component's centre, below 25 %, above 75 %, between.",
      {"trajectory", "D_fGn + D_Lévy", "SD of D_fGn / D_Lévy", "fGn only", "Lévy only", "both"}, sums);
  return page;
}

}  // namespace penn
