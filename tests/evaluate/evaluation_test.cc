// Evaluation of "models" whose answer is known: soup has an exact posterior, and its normal approximation is nearly
// right for long trajectories.
#include "penn/evaluate/evaluation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/files_for_tests.h"
#include "penn/base/error.h"
#include "penn/evaluate/exact_process.h"
#include "penn/model/parameter_box.h"
#include "penn/simulate/write_dataset.h"
#include "penn/system/load_system.h"
#include "penn/system/parse_system.h"
#include "posterior/brute_force.h"

namespace penn {
namespace {

using namespace brute_force;

// Soup with a box of its own size: tau in [0.5, 1.5], D in [0.2, 1], so that the posterior of 2000 samples lies well
// inside.
struct Soup {
  System system = parse_system(R"toml(
name = "relaxation"
[parameters]
tau = [0.5, 1.5]
D   = [0.2, 1]
[noise]
B = "gaussian()"
[equations]
x = "-x/tau + sqrt(2*D/tau)*B"
[initial]
x = 0
[observe]
x = "x"
[simulation]
step = 0.02
sampling = 0.1
burn_in = 100
length = 2000
)toml",
                               "relaxation.toml");
  ModelInfo info;
  OuProcess process = ou_process(system, system.graph.symbol(SymbolKind::kParameter, 0),
                                 system.graph.symbol(SymbolKind::kParameter, 1));
  Soup() { info.lengths = {100, 4000}, info.sampling = {0.1, 0.1}, info.value_low = {-3}, info.value_high = {3}; }
  ModelContext context() const { return {"relaxation", system, 0, info}; }

  // The normal distribution with the exact mean, and the exact covariance times width^2.
  EstimateBatch normal_approximation(double width) const {
    return [this, width](const TrajectoryBatch& batch) {
      std::vector<Estimate> estimates;
      for (int64_t i = 0; i < batch.count; ++i) {
        double mean[2], c[4];
        OuPosterior(process, &batch.z[static_cast<size_t>(i * batch.length)], batch.length, 32).moments(mean, c);
        for (double& v : c) v *= width * width;
        estimates.push_back({Posterior(GaussianMixture::from_covariances({1}, {{mean[0], mean[1]}},
                                                                         {matrix(2, {c[0], c[1], c[2], c[3]})}),
                                       Coordinate::kLinear, parameter_box(system)),
                             0.5});
      }
      return estimates;
    };
  }
};

TEST(evaluation_test, nearly_exact_posteriors_pass_and_lie_close_behind_the_exact_one) {
  const Soup soup;
  const Evaluation result =
      evaluate(soup.context(), soup.normal_approximation(1), {.count = 600, .exact = soup.process});
  EXPECT_FALSE(result.report.failed) << result.report.verdict[1];
  EXPECT_EQ(result.report.count, 600);
  EXPECT_EQ(result.length, 2000);
  ASSERT_TRUE(result.exact);
  // The gap is what skewness and the edges of the box cost: measured 0.076 +- 0.018 nats here; in expectation it cannot
  // be below 0.
  EXPECT_GT(result.exact->gap.mean, -3 * result.exact->gap_error);
  EXPECT_LT(result.exact->gap.mean, 0.13);
  EXPECT_NEAR(result.exact->nll.mean + result.exact->gap.mean, result.report.nll.mean, 1e-9);
}

TEST(evaluation_test, posteriors_half_as_wide_fail_and_cost_what_theory_says) {
  const Soup soup;
  const Evaluation result =
      evaluate(soup.context(), soup.normal_approximation(0.5), {.count = 600, .exact = soup.process});
  EXPECT_TRUE(result.report.failed);
  EXPECT_EQ(result.report.parameters[0].findings[0], "too narrow");
  // KL of N(0, 1) against N(0, 1/4) in two dimensions: (4 - 1) - 2 ln 2 = 1.61 nats; its standard error here 0.14.
  EXPECT_NEAR(result.exact->gap.mean, 3 - 2 * std::log(2), 0.45);
}

TEST(evaluation_test, the_same_seed_gives_the_same_numbers_on_any_number_of_threads_and_another_seed_others) {
  const Soup soup;
  const auto nll = [&](uint64_t seed, int threads) {
    return evaluate(soup.context(), soup.normal_approximation(1),
                    {.count = 60, .length = 200, .seed = seed, .threads = threads})
        .report.nll.mean;
  };
  EXPECT_EQ(nll(1, 1), nll(1, 2));
  EXPECT_NE(nll(1, 1), nll(2, 1));
}

TEST(evaluation_test, given_trajectories_are_scored_and_cut_to_the_length_asked_for) {
  const Soup soup;
  const TestDirectory folder;
  const SimulatorOptions options{.seed = 5, .threads = 1, .length = 500};
  const Simulator simulator(soup.system, 0, options);
  write_dataset(simulator, options, "", folder / "set", {.count = 40});
  const std::string data = (folder / "set").string();
  EXPECT_EQ(evaluate(soup.context(), soup.normal_approximation(1), {.data = data}).report.count, 40);
  EXPECT_EQ(evaluate(soup.context(), soup.normal_approximation(1), {.data = data}).length, 500);
  EXPECT_EQ(evaluate(soup.context(), soup.normal_approximation(1), {.count = 7, .data = data}).report.count, 7);
  const Evaluation shorter =
      evaluate(soup.context(), soup.normal_approximation(1), {.data = data, .length = 300, .keep = true});
  EXPECT_EQ(shorter.length, 300);
  std::vector<float> theta(40 * 2), z(40 * 500);
  simulator.run(0, 40, theta.data(), z.data());
  EXPECT_EQ(shorter.report.kept.truth, theta);
  double mean[2], covariance[4];
  OuPosterior(soup.process, &z[39 * 500], 300, 32)
      .moments(mean, covariance);  // the first 300 samples of the last trajectory
  EXPECT_NEAR(shorter.report.kept.mean[78], mean[0], 1e-6);
  EXPECT_THROW(evaluate(soup.context(), soup.normal_approximation(1), {.data = data, .length = 501}), UsageError);
  EXPECT_THROW(evaluate(soup.context(), soup.normal_approximation(1), {.data = "nowhere"}), DataError);
}

TEST(evaluation_test, a_stop_keeps_what_was_done) {
  const Soup soup;
  const Evaluation result = evaluate(soup.context(), soup.normal_approximation(1),
                                     {.count = 3000, .length = 2000, .progress = [](int64_t) { return false; }});
  EXPECT_FALSE(result.is_complete);
  EXPECT_GT(result.report.count, 0);
  EXPECT_LT(result.report.count, 3000);
  EXPECT_FALSE(evaluation_to_json(result, "m", {})["complete"].get<bool>());
  EXPECT_EQ(evaluation_to_json(result, "m", {})["training"]["lengths"],
            (nlohmann::ordered_json{soup.context().info.lengths.low, soup.context().info.lengths.high}));
}

TEST(evaluation_test, json_and_text_have_the_gap) {
  const Soup soup;
  const EvaluationOptions options{.count = 20, .length = 200, .exact = soup.process};
  const Evaluation result = evaluate(soup.context(), soup.normal_approximation(1), options);
  EXPECT_EQ(evaluation_to_json(result, "m", options)["exact"]["gap"]["mean"], result.exact->gap.mean);
  EXPECT_NE(evaluation_text(result, "m").find("nats behind"), std::string::npos);
}

TEST(evaluation_test, exact_posteriors_stop_when_the_time_is_up) {
  const Soup soup;
  const Box box = parameter_box(soup.system);
  ExactGapMeter meter(*ExactLikelihood::recognise(soup.system, 0), box, -1);
  const std::vector<float> z(100, 0.1f);
  const std::vector<double> truth = {0.5, 0.5};
  const Posterior q = soup.normal_approximation(1)(
                              {.count = 1, .length = 100, .channels = 1, .theta = {}, .z = z, .sampling = {0.1f}})[0]
                          .posterior;
  const std::optional<double> nothing = meter.log_posterior_of(z, 0.1, truth, q, 1);
  EXPECT_FALSE(nothing.has_value());
  meter.add(nothing, 0);
  EXPECT_TRUE(meter.result().is_late);
  EXPECT_EQ(meter.result().refused, 0);
  EXPECT_NE(exact_gap_text(meter.result()).find("not compared"), std::string::npos);
}

// The same gap from the text of the system alone: no trajectory's may differ by more than both integrals' errors.
TEST(evaluation_test, the_gap_is_found_from_the_equations) {
  const Soup soup;
  const Evaluation all = evaluate(soup.context(), soup.normal_approximation(1),
                                  {.count = 30, .length = 300, .exact = soup.process, .gap_count = 100});
  ASSERT_TRUE(all.gap && all.exact);
  EXPECT_EQ(all.gap->count, 30);
  EXPECT_EQ(all.gap->refused, 0);
  EXPECT_NEAR(all.gap->nll, all.exact->nll.mean, 2e-3);
  EXPECT_NEAR(all.gap->mean, all.exact->gap.mean, 2e-3);
  EXPECT_NEAR(all.gap->error, all.exact->gap_error, 2e-3);
  EXPECT_GT(all.gap->upper_decile, all.gap->mean);
  const EvaluationOptions options{.count = 30, .length = 300, .gap_count = 12};
  const Evaluation some = evaluate(soup.context(), soup.normal_approximation(1), options);
  ASSERT_TRUE(some.gap);
  EXPECT_EQ(some.gap->count, 12);
  EXPECT_EQ(evaluation_to_json(some, "m", options)["exact_gap"]["mean"], some.gap->mean);
  EXPECT_NE(evaluation_text(some, "m").find("on the first 12 trajectories; the model is"), std::string::npos);
}

TEST(evaluation_test, only_processes_with_a_known_posterior_are_taken_as_exact) {
  const System oup = load_system("oup").system;
  EXPECT_NE(error_text<SystemError>([&] { ou_process(oup, 0, 0); }).find("two parameters"), std::string::npos);
  // tau and D exchanged: two parameters and one noise, but not the process.
  System system = Soup().system;
  const NodeId tau = system.graph.symbol(SymbolKind::kParameter, 0), D = system.graph.symbol(SymbolKind::kParameter, 1);
  EXPECT_NE(error_text<SystemError>([&] { ou_process(system, D, tau); }).find("the drift is another"),
            std::string::npos);
  EXPECT_NO_THROW(ou_process(system, tau, D));
}

}  // namespace
}  // namespace penn
