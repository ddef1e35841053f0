#include "paper/draw_cfhn.h"

#include <fmt/core.h>

#include "paper/draw.h"

namespace penn {
namespace {

struct Cfhn {  // places of the parameters
  enum Place { kA1, kA2, kB1, kB2, kC1, kC2, kG1, kG2, kAlpha1, kAlpha2, kD1, kD2 };
};
constexpr double kCfhnThreshold = 0.01;

struct Seen {
  std::string model, letter, words;
};
const std::vector<Seen> kSeen = {{"cfhn-x1x2", "(a)", "both potentials"},
                                 {"cfhn-x1", "(b)", "x₁ only"},
                                 {"cfhn-mean", "(c)", "the mean (x₁ + x₂) / 2"}};

}  // namespace

PageData draw_cfhn_estimates(const PaperItem& item, Session& session) {
  PageData page(item,
                "Point estimates against true values of six parameters, with both potentials observed, with one, and "
                "with their mean.",
                session.options());
  const std::vector<int> shown = {Cfhn::kA1, Cfhn::kA2, Cfhn::kG1, Cfhn::kG2, Cfhn::kD1, Cfhn::kD2};
  std::vector<PageData::Row> rows;
  std::string nll;
  for (const Seen& seen : kSeen) {
    const Estimator& model = page.use_model(seen.model, session);
    const Evaluation& evaluation = session.evaluation(seen.model);
    const std::string key = page.add_evaluation(seen.model, model, evaluation, shown, false);
    page.section(fmt::format("{} Observed: {}", seen.letter, seen.words), "", estimates_panels(key, shown.size()));
    std::vector<std::string> cells = {seen.words};
    for (const int k : shown) cells.push_back(spread_text(evaluation.report.parameters[static_cast<size_t>(k)].error));
    cells.push_back(spread_text(evaluation.report.nll));
    rows.push_back({cells});
    nll += fmt::format("{}{:.2f}", nll.empty() ? "" : ", ", evaluation.report.nll.mean);
    if (seen.model == "cfhn-x1x2") say_trajectories(page, evaluation, "20,000 trajectories of 1500 samples");
  }
  std::vector<std::string> head = {"observed"};
  for (const int k : shown)
    head.push_back(session.estimator("cfhn-x1x2").system().parameters[static_cast<size_t>(k)].label);
  head.push_back("NLL");
  page.table("Mean / SD of the absolute error",
             "The paper prints no numbers here. It finds: with x₁ only, the second neuron much harder; with the mean, "
             "estimates of either neuron pulled to the average of both.",
             head, rows);
  page.note(
      "The paper shows a₁, a₂, D₁, D₂ and two parameters it does not name in the text; γ₁ and γ₂ are our choice.");
  page.headline("NLL, both / x₁ / mean", nll, "");
  return page;
}

PageData draw_cfhn_trajectories(const PaperItem& item, Session& session) {
  PageData page(item, "x₁ and x₂ of three trajectories: synchronised, opposite, and one chasing the other.",
                session.options());
  add_trajectories(page, session, "cfhn-x1x2", test_trajectories("cfhn"), 3, true);
  page.note(
      "α₁ = 1.414 and α₂ = 1.406 of TRAJ-3 are the paper's; it does not print the other values, which are ours, with "
      "the signs of the couplings it states.");
  return page;
}

PageData draw_cfhn_densities(const PaperItem& item, Session& session) {
  PageData page(item,
                "Densities of pairs of parameters for the three trajectories of Figure 12, each seen in three ways.",
                session.options());
  const std::vector<std::pair<Cfhn::Place, Cfhn::Place>> pairs = {
      {Cfhn::kC1, Cfhn::kD1}, {Cfhn::kC2, Cfhn::kD2},         {Cfhn::kA1, Cfhn::kA2}, {Cfhn::kB1, Cfhn::kB2},
      {Cfhn::kG1, Cfhn::kG2}, {Cfhn::kAlpha1, Cfhn::kAlpha2}, {Cfhn::kD1, Cfhn::kD2}};
  std::vector<PageData::Row> rows;
  char letter = 'a';
  size_t modes = 0;
  for (const TestTrajectory& test : test_trajectories("cfhn"))
    for (const Seen& seen : kSeen) {
      const Estimator& model = page.use_model(seen.model, session);
      const Answer answer = session.answer(seen.model, test);
      const std::string key = page.add_posterior(fmt::format("{} {}", seen.model, test.name), model, answer);
      std::vector<Panel> panels;
      for (const auto& [a, b] : pairs)
        panels.push_back(pair_panel(
            fmt::format("({}) {}, {}", letter, model.system().parameters[a].label, model.system().parameters[b].label),
            key, a, b, kCfhnThreshold));
      page.section(fmt::format("({}) {}, observed: {}", letter, test.name, seen.words),
                   parameters_text(model.system(), test.theta), panels);
      const Inference& q = answer.inference;
      double width[2] = {0, 0};
      for (size_t k = 0; k < q.sd.size(); ++k) width[k % 2] += q.sd[k] / (q.box.hi[k] - q.box.lo[k]) / 6;
      rows.push_back(
          {{fmt::format("({}) {}, {}", letter, test.name, seen.words), fmt::format("{:.1f} %", 100 * width[0]),
            fmt::format("{:.1f} %", 100 * width[1]), fmt::format("{:.2f}", q.correlation(Cfhn::kC1, Cfhn::kD1)),
            fmt::format("{:.2f}", q.correlation(Cfhn::kC2, Cfhn::kD2)), std::to_string(q.verdict.modes.size()),
            surprise_text(answer)}});
      if (seen.model == "cfhn-mean") modes = std::max(modes, q.verdict.modes.size());
      ++letter;
    }
  page.table(
      "In numbers",
      "SD: mean over the six parameters of a neuron, in fractions of their boxes. Modes: with at least 5 % of the "
      "weight. The paper: c and D negatively correlated; with x₁ only, the second neuron much wider; with the "
      "mean, two mirror modes.",
      {"", "SD, neuron 1", "SD, neuron 2", "corr(c₁, D₁)", "corr(c₂, D₂)", "modes", "−ln q(truth)"}, rows);
  page.note("The paper's text names the sixth pair once as (D₁, D₂) and once as (α₁, α₂); both are drawn.");
  page.headline("modes where only the mean is seen", std::to_string(modes), "2 mirror modes");
  return page;
}

}  // namespace penn
