// The answer around a posterior: numbers, warnings, JSON, combination, draws. Posteriors are given, so no network is
// needed.
#include "penn/answer/inference.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "base/files_for_tests.h"
#include "penn/answer/draws.h"
#include "penn/answer/inference_text.h"
#include "penn/base/csv.h"
#include "penn/model/parameter_box.h"
#include "penn/posterior/mixture_json.h"
#include "penn/posterior/normal.h"
#include "penn/posterior/truncated_mixture.h"
#include "penn/simulate/simulator.h"
#include "penn/system/parse_system.h"
#include "posterior/brute_force.h"

namespace penn {
namespace {

using namespace brute_force;

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

// A relaxation with two parameters in the boxes [0.1, 1] and [0.1, 10], one channel, trained on 100 to 1000 samples
// every 0.1, values in
// [-2, 2].
struct Model {
  System system = parse_system(R"toml(
name = "decay"
[parameters]
rate  = [0.1, 1]
noise = [0.1, 10]
[noise]
B = "gaussian()"
[equations]
x = "-rate*x + noise*B"
[initial]
x = 0
[observe]
x = "x"
[simulation]
step = 0.1
sampling = 0.1
length = 200
)toml",
                               "decay.toml");
  ModelInfo info;
  Model() {
    info.lengths = {100, 1000};
    info.sampling = {0.1, 0.1};
    info.value_low = {-2};
    info.value_high = {2};
  }
  ModelContext context() const { return {"decay", system, 0, info}; }
};

ObservedTrajectory wiggle(int64_t n = 200) {
  ObservedTrajectory t{.source = "bead.csv", .n = n, .z = {}, .sampling = 0.1, .has_time = true, .warnings = {}};
  for (int64_t i = 0; i < n; ++i) t.z.push_back(std::sin(0.1f * static_cast<float>(i)));
  return t;
}

GaussianMixture two_components() {
  return GaussianMixture::from_covariances({0.7, 0.3}, {{0.5, 4}, {0.6, 6}},
                                           {covariance_2d(0.05, 0.5, 0.3), covariance_2d(0.04, 0.4, -0.2)});
}

// The box of Model.
Estimate linear(GaussianMixture mixture, double typicality) {
  return {Posterior(std::move(mixture), Coordinate::kLinear, {{0.1, 0.1}, {1, 10}}), typicality};
}

std::string warnings_of(const ObservedTrajectory& t, double typicality = 0.5, const Model& model = {},
                        std::span<const Quantisation> quantisations = {}) {
  std::string text;
  for (const std::string& w :
       make_inference(model.context(), t, linear(two_components(), typicality), quantisations).warnings)
    text += w + "\n";
  return text;
}

TEST(inference_test, numbers_are_those_of_the_mixture) {
  const Model model;
  const GaussianMixture q = two_components();
  const Inference a = make_inference(model.context(), wiggle(), linear(q, 0.5));
  EXPECT_TRUE(a.warnings.empty()) << a.warnings[0];
  EXPECT_NEAR(a.mean[1], 0.7 * 4 + 0.3 * 6, 1e-12);
  EXPECT_NEAR(a.sd[1], std::sqrt(q.covariance()(1, 1)), 1e-12);
  EXPECT_NEAR(q.marginal_1d(0).cdf(a.median[0]), 0.5, 1e-9);
  EXPECT_NEAR(q.marginal_1d(1).cdf(a.quantiles[5][1]), 0.95, 1e-9);
  EXPECT_NEAR(a.verdict.parameters[1].contraction, 1 - a.sd[1] * a.sd[1] * 12 / (9.9 * 9.9), 1e-12);
  EXPECT_LT(a.outside_mass, 0.01);
}

TEST(inference_test, nothing_is_said_about_a_trajectory_like_the_training_data) {
  EXPECT_EQ(warnings_of(wiggle()), "");
}

TEST(inference_test, what_is_unlike_the_training_data_is_said) {
  EXPECT_HAS(warnings_of(wiggle(), 0.002), "does not look like the training data (typicality 0.002)");
  EXPECT_HAS(warnings_of(wiggle(), std::nan("")), "does not look like the training data");
  EXPECT_HAS(warnings_of(wiggle(50)), "50 samples; the model was trained on 100 to 1000");
  EXPECT_HAS(warnings_of(wiggle(2000)), "2000 samples");
  ObservedTrajectory t = wiggle();
  t.sampling = 0.102;
  EXPECT_HAS(warnings_of(t), "sampled every 0.102; the model was trained for 0.1");
  t.sampling = 0.1005;  // half a percent is nothing
  EXPECT_EQ(warnings_of(t), "");
  t = wiggle();
  for (float& z : t.z) z *= 10;
  EXPECT_HAS(warnings_of(t), "of the values of x lie outside the range of the training data (-2 to 2)");
  t = wiggle();
  t.z.assign(t.z.size(), 0.5f);
  EXPECT_HAS(warnings_of(t), "x is constant");
  t = wiggle();
  for (size_t i = 0; i < t.z.size(); ++i) t.z[i] = t.z[i - i % 4];
  EXPECT_HAS(warnings_of(t), "x repeats its last value in 75 %");
  t = wiggle();
  t.warnings = {"times are uneven"};
  EXPECT_HAS(warnings_of(t), "times are uneven");
}

TEST(inference_test, mass_outside_the_box_is_measured_and_said) {
  const Model model;
  const auto q =
      GaussianMixture::from_covariances({1}, {{1, 5}}, {covariance_2d(0.1, 0.5, 0)});  // half of it above rate = 1
  const Inference at_edge = make_inference(model.context(), wiggle(), linear(q, 0.5));
  EXPECT_NEAR(at_edge.outside_mass, 0.5, 1e-6);
  EXPECT_TRUE(at_edge.warnings.empty());  // what a right posterior of a true rate of 1 looks like

  const auto beyond = GaussianMixture::from_covariances({1}, {{1.1, 5}}, {covariance_2d(0.1, 0.5, 0)});  // one SD above
  const Inference a = make_inference(model.context(), wiggle(), linear(beyond, 0.5));
  EXPECT_NEAR(a.outside_mass, 0.8413, 1e-4);
  ASSERT_EQ(a.warnings.size(), 1u);
  EXPECT_HAS(a.warnings[0], "84 % of the posterior lies outside the box");
}

TEST(inference_test, where_the_answer_is_not_to_be_trusted_there_is_no_verdict) {
  const Model model;
  const auto narrow = GaussianMixture::from_covariances({1}, {{0.5, 5}}, {covariance_2d(0.01, 0.05, 0)});
  const auto beyond = GaussianMixture::from_covariances({1}, {{1.5, 5}}, {covariance_2d(0.01, 0.05, 0)});
  const auto verdict = [&](const ObservedTrajectory& t, const Estimate& estimate) {
    return make_inference(model.context(), t, estimate).verdict.text();
  };
  ObservedTrajectory slower = wiggle();
  slower.sampling *= 10;
  EXPECT_HAS(verdict(wiggle(), linear(narrow, 0.5)), "Identified");
  EXPECT_HAS(verdict(wiggle(), linear(narrow, 0.001)), "No verdict");
  EXPECT_HAS(verdict(slower, linear(narrow, 0.5)), "No verdict");
  EXPECT_HAS(verdict(wiggle(), linear(beyond, 0.5)), "No verdict");
}

TEST(inference_test, json_has_exactly_the_documented_keys_and_reads_back_as_the_mixture) {
  const Model model;
  const auto json = inference_to_json(make_inference(model.context(), wiggle(), linear(two_components(), 0.5)));
  std::set<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.insert(key);
  EXPECT_EQ(keys,
            (std::set<std::string>{"parameters",  "weights",      "means",      "covariances", "coordinates", "box",
                                   "mean",        "median",       "sd",         "correlation", "quantiles",   "modes",
                                   "contraction", "outside_mass", "typicality", "warnings",    "verdict",     "source",
                                   "n",           "sampling",     "model",      "version"}));
  EXPECT_EQ(json["source"], "bead.csv");
  EXPECT_EQ(json["covariances"].size(), 2u);
  EXPECT_EQ(json["covariances"][0][1].size(), 2u);
  EXPECT_EQ(json["quantiles"]["0.95"].size(), 2u);
  EXPECT_EQ(json["n"], 200);
  const NamedMixture back = mixture_from_json(nlohmann::json::parse(json.dump()));
  EXPECT_NEAR(back.mixture.log_density(std::vector<double>{0.5, 5}),
              two_components().log_density(std::vector<double>{0.5, 5}), 1e-9);
}

TEST(inference_test, table_shows_every_parameter_the_verdict_and_the_warnings) {
  const Model model;
  const std::string text = inference_table(make_inference(model.context(), wiggle(50), linear(two_components(), 0.5)));
  for (const char* part : {"bead.csv: 50 samples", "\nrate ", "\nnoise ", "strongest couplings", "weight 0.70",
                           "explanations fit", "warning: 50 samples"})
    EXPECT_HAS(text, part);
}

TEST(inference_test, combining_multiplies_the_evidence_and_counts_the_prior_once) {
  // Normal posteriors: precisions add, means are weighted by them.
  const Model model;
  int number = 0;
  const auto one = [&](double mean, double sd, double typicality) {
    ObservedTrajectory t = wiggle();
    t.z[0] += 0.01f * static_cast<float>(number);  // not the same trajectory
    t.source = std::to_string(number++) + ".csv";
    return make_inference(
        model.context(), t,
        linear(GaussianMixture::from_covariances({1}, {{0.5, mean}}, {covariance_2d(0.05, sd, 0)}), typicality));
  };
  const std::vector<Inference> single = {one(4, 0.5, 0.9), one(5, 1, 0.2), one(4.5, 0.5, 0.4)};
  const Inference all = combine_inferences(single);
  const double precision = 4 + 1 + 4;
  EXPECT_NEAR(all.mean[1], (4 * 4 + 1 * 5 + 4 * 4.5) / precision, 1e-9);
  EXPECT_NEAR(all.sd[1], 1 / std::sqrt(precision), 1e-9);
  EXPECT_EQ(all.sd.size(), 2u);
  EXPECT_EQ(all.n, 600);
  EXPECT_EQ(all.combined, 3);
  EXPECT_DOUBLE_EQ(all.typicality, 3 * 0.2);  // the smallest of three
  EXPECT_TRUE(all.warnings.empty()) << all.warnings[0];
  EXPECT_EQ(inference_to_json(all)["combined"], 3);
  EXPECT_EQ(inference_to_json(all)["source"], "3 trajectories");
  EXPECT_EQ(inference_to_json(all)["sources"], (nlohmann::ordered_json{"0.csv", "1.csv", "2.csv"}));
}

TEST(inference_test, in_probit_coordinates_numbers_json_and_combinations_are_those_of_the_box) {
  const Model model;
  const auto flat_and_narrow = GaussianMixture::from_covariances({1}, {{0, 0.5}}, {covariance_2d(1, 0.1, 0)});
  const auto one = [&](float shift) {
    ObservedTrajectory t = wiggle();
    t.z[0] += shift;
    return make_inference(model.context(), t,
                          {Posterior(flat_and_narrow, Coordinate::kProbit, {{0.1, 0.1}, {1, 10}}), 0.5});
  };
  const Inference a = one(0);
  EXPECT_NEAR(a.mean[0], 0.55, 1e-9);
  EXPECT_NEAR(a.sd[0], 0.9 / std::sqrt(12.0), 1e-9);
  EXPECT_NEAR(a.quantiles[1][0], 0.1 + 0.05 * 0.9, 1e-9);
  EXPECT_NEAR(a.median[1], 0.1 + 9.9 * normal_cdf(0.5), 1e-9);
  EXPECT_EQ(a.outside_mass, 0);
  EXPECT_HAS(a.verdict.text(), "Not identified: rate");
  EXPECT_EQ(inference_table(a).find("outside the box"), std::string::npos);
  const auto json = inference_to_json(a);
  EXPECT_EQ(json["coordinates"], (nlohmann::ordered_json{"probit", "probit"}));
  EXPECT_EQ(json["box"]["high"][1], 10);
  EXPECT_EQ(json["means"][0][1], 0.5);  // of the coordinate
  // Twice the evidence on the second, still none on the first: precision 100 + 100 - 1.
  const Inference both = combine_inferences(std::vector<Inference>{a, one(0.1f)});
  EXPECT_NEAR(both.sd[0], a.sd[0], 1e-9);
  EXPECT_NEAR(std::sqrt(both.posterior.mixture().covariance()(1, 1)), 1 / std::sqrt(199.0), 1e-9);
  EXPECT_TRUE(both.warnings.empty()) << both.warnings[0];
}

TEST(inference_test, a_trajectory_given_twice_is_noticed_whatever_its_name) {
  const Model model;
  const auto one = [&](const char* source, float shift) {
    ObservedTrajectory t = wiggle();
    t.source = source;
    t.z.back() += shift;
    return make_inference(model.context(), t, linear(two_components(), 0.5));
  };
  const auto text = [](const std::vector<Inference>& single) {
    std::string all;
    for (const std::string& w : combine_inferences(single).warnings) all += w + "\n";
    return all;
  };
  EXPECT_EQ(text({one("a", 0), one("b", 1e-6f), one("c", 0.1f)}).find("same trajectory"), std::string::npos);
  EXPECT_HAS(text({one("a", 0), one("b", 0.1f), one("c", 0)}),
             "c is the same trajectory as a: its evidence is counted more than once");
  EXPECT_HAS(text({one("a", 0), one("b", 0), one("c", 0)}),
             "b is the same trajectory as a, and 1 more are repeated so");
}

// An Ornstein-Uhlenbeck path of SD 0.5 and correlation r from sample to sample, recorded in steps of `step` SD: 0 for
// none.
std::string rounding_warnings(double r, double step) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  ObservedTrajectory t = wiggle(1000);
  double x = normal(random);
  for (float& z : t.z) {
    x = r * x + std::sqrt(1 - r * r) * normal(random);
    z = static_cast<float>(0.5 * (step > 0 ? std::round(x / step) * step : x));
  }
  std::vector<Quantisation> quantisations;
  dither(t.z, t.n, 1, quantisations);
  return warnings_of(t, 0.5, {}, quantisations);
}

TEST(inference_test, rounding_as_coarse_as_the_data_is_never_silent) {
  for (const double r : {0.0, 0.5, 0.9, 0.99}) {
    EXPECT_EQ(rounding_warnings(r, 0), "") << r;
    for (const double step : {0.5, 1.0, 2.0, 3.0})
      EXPECT_HAS(rounding_warnings(r, step), "short times, is biased") << " r " << r << " step " << step;
    EXPECT_HAS(rounding_warnings(r, 20), "x is constant");
    const std::string fine = rounding_warnings(r, 0.02);  // small beside typical increments: said, and no more
    EXPECT_HAS(fine, "every value was spread over its step");
    EXPECT_EQ(fine.find("biased"), std::string::npos) << fine;
  }
}

TEST(inference_test, trajectories_that_disagree_are_told_apart) {
  const Model model;
  const auto one = [&](double mean) {
    return make_inference(
        model.context(), wiggle(),
        linear(GaussianMixture::from_covariances({1}, {{0.5, mean}}, {covariance_2d(0.05, 0.2, 0)}), 0.005));
  };
  const std::vector<Inference> single = {one(3), one(7)};
  std::string text;
  for (const std::string& w : combine_inferences(single).warnings) text += w + "\n";
  EXPECT_HAS(text, "the trajectories disagree");
  EXPECT_HAS(text, "bead.csv: this does not look like the training data");
}

TEST(inference_test, what_does_not_fit_together_has_no_combined_verdict) {
  const Model model;
  const auto one = [&](double centre, double sampling, int shift) {
    ObservedTrajectory t = wiggle();
    t.sampling = sampling;
    t.z[0] += 0.01f * static_cast<float>(shift);
    const auto q = GaussianMixture::from_covariances({1}, {{0.5, centre}}, {covariance_2d(0.05, 0.1, 0)});
    return make_inference(model.context(), t, linear(q, 0.5));
  };
  const double trained = model.context().info.sampling.low;
  const auto verdict = [](const std::vector<Inference>& single) { return combine_inferences(single).verdict.text(); };
  EXPECT_EQ(verdict({one(4, trained, 0), one(4.1, trained, 1)}).find("No verdict"), std::string::npos);
  EXPECT_HAS(verdict({one(4, trained, 0), one(6, trained, 1)}), "No verdict");  // 14 SDs apart
  const Inference mixed =
      combine_inferences(std::vector<Inference>{one(4, trained, 0), one(4.1, trained, 1), one(4, 7 * trained, 2)});
  EXPECT_HAS(mixed.verdict.text(), "No verdict");
  EXPECT_FALSE(mixed.trusted);
  EXPECT_HAS(inference_table(mixed), fmt::format("samples every {:.6g} to {:.6g}", trained, 7 * trained));
  // An untrusted first one among good ones leaves nothing behind.
  Inference first = one(4, trained, 0);
  first.trusted = false;
  EXPECT_TRUE(combine_inferences(std::vector<Inference>{first, one(4.1, trained, 1), one(4, trained, 2)}).trusted);
}

TEST(inference_test, a_stuck_sensor_has_no_verdict) {
  const Model model;
  ObservedTrajectory t = wiggle();
  for (size_t i = 1; i < t.z.size(); ++i)
    if (i % 5 != 0) t.z[i] = t.z[i - 1];
  EXPECT_HAS(make_inference(model.context(), t, linear(two_components(), 0.5)).verdict.text(), "No verdict");
}

TEST(inference_test, draws_have_a_head_and_the_log_density_of_the_truncated_posterior) {
  const Model model;
  const auto q = GaussianMixture::from_covariances({1}, {{0.95, 5}}, {covariance_2d(0.1, 0.5, 0.4)});
  const Inference a = make_inference(model.context(), wiggle(), linear(q, 0.5));
  const TestDirectory folder;
  write_draws(folder / "draws.csv", a, 500, 9);
  const std::string text = read_whole(folder / "draws.csv");
  EXPECT_HAS(text, "# num_samples = 500\n");
  EXPECT_HAS(text, "# seed = 9\n");
  EXPECT_HAS(text, "\nlp__,rate,noise\n");
  const CsvTable table = read_csv(folder / "draws.csv");
  ASSERT_EQ(table.rows, 500u);
  const TruncatedMixture truncated(q, a.box);
  double mean = 0;
  for (size_t i = 0; i < table.rows; ++i) {
    const std::vector<double> theta = {table.at(i, 1), table.at(i, 2)};
    ASSERT_TRUE(a.box.contains(theta));
    ASSERT_NEAR(table.at(i, 0), truncated.log_density(theta), 1e-9);
    mean += theta[1] / 500;
  }
  EXPECT_NEAR(mean, truncated.moments().mean[1], 0.11);  // five standard errors
  write_draws(folder / "again.csv", a, 500, 9);
  EXPECT_EQ(read_whole(folder / "again.csv"), text);
}

TEST(inference_test, draws_written_in_chunks_are_those_drawn_at_once_and_the_approximate_ones_are_counted_at_the_end) {
  const Model model;
  // Only 1 % of the mass is inside the box: rejection is given up.
  const auto q = GaussianMixture::from_covariances({1}, {{1.25, 5}}, {covariance_2d(0.1, 0.5, 0.8)});
  const Inference a = make_inference(model.context(), wiggle(), linear(q, 0.5));
  const TestDirectory folder;
  constexpr size_t n = 10000;  // three chunks of 4096, the last not full
  write_draws(folder / "draws.csv", a, n, 4);
  DrawStream stream(4);
  const TruncatedDraws whole = TruncatedMixture(q, a.box).sample(n, stream);
  EXPECT_EQ(whole.approximate, n);
  const CsvTable table = read_csv(folder / "draws.csv");
  ASSERT_EQ(table.rows, n);
  for (size_t i = 0; i < n; ++i)
    ASSERT_TRUE(table.at(i, 1) == whole.theta[2 * i] && table.at(i, 2) == whole.theta[2 * i + 1]) << i;
  EXPECT_TRUE(read_whole(folder / "draws.csv")
                  .ends_with("\n# 10000 draws come from the edge of the box, where they are approximate\n"));
}

}  // namespace
}  // namespace penn
