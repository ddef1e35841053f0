#include "paper/draw_soup.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "paper/draw.h"
#include "penn/evaluate/exact_process.h"

namespace penn {
namespace {

constexpr int kCells = 96;      // of the grid a density is drawn on, per axis
constexpr double kReach = 4.2;  // standard deviations of the exact posterior that an axis shows

struct ExactPicture {
  std::vector<double> range;  // x0, x1, y0, y1
  std::vector<float> values;
  std::vector<double> mean, sd;
  double correlation = 0, log_density_at_truth = 0;
};

ExactPicture exact_picture(const OuProcess& process, const Answer& answer) {
  const OuPosterior exact(process, answer.observed.z.data(), answer.observed.n);
  ExactPicture picture;
  double mean[2], covariance[4];
  exact.moments(mean, covariance);
  picture.mean = {mean[0], mean[1]};
  picture.sd = {std::sqrt(covariance[0]), std::sqrt(covariance[3])};
  picture.correlation = covariance[1] / (picture.sd[0] * picture.sd[1]);
  picture.log_density_at_truth = exact.log_density(answer.test.theta.data());
  for (size_t k = 0; k < 2; ++k) {
    const double low = std::min(mean[k] - kReach * picture.sd[k], answer.test.theta[k] - picture.sd[k]);
    const double high = std::max(mean[k] + kReach * picture.sd[k], answer.test.theta[k] + picture.sd[k]);
    picture.range.push_back(std::max(low, process.low[k]));
    picture.range.push_back(std::min(high, process.high[k]));
  }
  const double hx = (picture.range[1] - picture.range[0]) / kCells, hy = (picture.range[3] - picture.range[2]) / kCells;
  for (int r = 0; r < kCells; ++r)
    for (int c = 0; c < kCells; ++c) {
      const double theta[2] = {picture.range[0] + (c + 0.5) * hx, picture.range[2] + (r + 0.5) * hy};
      picture.values.push_back(static_cast<float>(std::exp(exact.log_density(theta))));
    }
  return picture;
}

}  // namespace

PageData draw_exact(const PaperItem& item, Session& session) {
  PageData page(item,
                "The mixtures against the analytical posterior of the standard Ornstein-Uhlenbeck process: four "
                "trajectories, the exact density, and the mixture.",
                session.options());
  const Estimator& model = page.use_model("soup", session);
  const System& system = model.system();
  if (!system.exact.is_given())
    throw ModelError("the model's system declares no exact posterior", "train it on the shipped system soup");
  const OuProcess process = ou_process(system, system.exact.tau, system.exact.D);
  std::vector<Panel> trajectories, exact_panels, mixture_panels;
  std::vector<PageData::Row> rows;
  for (const TestTrajectory& test : test_trajectories("soup")) {
    const Answer answer = session.answer("soup", test);
    const ExactPicture exact = exact_picture(process, answer);
    const std::string key = page.add_posterior("soup " + test.name, model, answer);
    trajectories.push_back(trajectory_panel(fmt::format("(a{})", test.name), model, answer));
    exact_panels.push_back(density_panel(fmt::format("(b{}) exact", test.name), system, 0, 1, exact.range, kCells,
                                         exact.values, test.theta, exact.mean));
    mixture_panels.push_back(pair_panel(fmt::format("(c{}) mixture", test.name), key, 0, 1, 0.005, exact.range));
    const Inference& q = answer.inference;
    const auto value = [](double mean, double sd) { return fmt::format("{:.3f} ± {:.3f}", mean, sd); };
    rows.push_back(
        {{fmt::format("({}) exact", test.name), value(exact.mean[0], exact.sd[0]), value(exact.mean[1], exact.sd[1]),
          fmt::format("{:.2f}", exact.correlation), fmt::format("{:.3f}", -exact.log_density_at_truth)}});
    rows.push_back({{fmt::format("({}) mixture", test.name), value(q.mean[0], q.sd[0]), value(q.mean[1], q.sd[1]),
                     fmt::format("{:.2f}", q.correlation(0, 1)), surprise_text(answer, 3)}});
    rows.push_back({{fmt::format("({}) truth", test.name), fmt::format("{:.3f}", test.theta[0]),
                     fmt::format("{:.3f}", test.theta[1]), "", ""},
                    true});
  }
  page.section("(a) Trajectories", "", trajectories);
  page.section("(b) Exact posterior", "Regions of highest density with 50, 68 and 95 % of the probability.",
               exact_panels);
  page.section("(c) The mixture", "The same axes. Ellipses: 1 sigma of the components.", mixture_panels);
  page.table("In numbers", "", {"trajectory", "lg τ", "D", "correlation", "−ln q(truth)"}, rows);

  // All of the box: how far behind the exact posterior, in nats. The paper gives no such number.
  std::vector<PageData::Row> gaps;
  const auto add = [&](const std::string& name, const std::string& about) {
    const Evaluation& evaluation = session.evaluation(name);
    if (!evaluation.exact) return;
    page.use_model(name, session);
    gaps.push_back(
        {{about, fmt::format("{:.4f}", evaluation.report.nll.mean), fmt::format("{:.4f}", evaluation.exact->nll.mean),
          fmt::format("{:.4f} ± {:.4f}", evaluation.exact->gap.mean, evaluation.exact->gap_error)}});
    if (name == "soup")
      page.headline("distance from the exact posterior, nats",
                    fmt::format("{:.3f} ± {:.3f}", evaluation.exact->gap.mean, evaluation.exact->gap_error), "");
  };
  add("soup", "soup");
  if (session.has_model("soup-paper")) add("soup-paper", "soup-paper (the paper's network)");
  page.table(
      "Over the whole box",
      fmt::format("{} trajectories. The difference is the mean Kullback-Leibler divergence from the exact posterior.",
                  session.options().count),
      {"model", "NLL of the model", "NLL of the exact posterior", "difference"}, gaps);
  page.note("Parameters of the four trajectories are ours; the paper does not print its own.");
  page.note(
      "The exact posterior is that of the simulated process (Euler-Maruyama, ten steps per sample), not of the "
      "continuous one.");
  return page;
}

}  // namespace penn
