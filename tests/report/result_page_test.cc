// What a report carries beside the posterior: the trajectory, the truth, and the predictive fan when it was asked for.
// The model is the tiny one of the fuzzer.
#include "penn/report/result_page.h"
#include "penn/answer/infer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace penn {
namespace {

using nlohmann::json;

TEST(result_page_test, the_fan_of_the_predictive_check_is_in_the_page) {
  const Estimator estimator(open_model(std::string(PENN_SOURCE_DIR) + "/fuzz/corpus/model/tiny.safetensors"), 1);
  const std::string text = "0.1\n0.25\n-0.3\n0.4\n0.55\n0.61\n-0.7\n0.82\n-0.93\n0.14\n0.2\n0.31\n";
  auto observed =
      read_observations(InputFile(std::string_view(text), "folder/bead.csv"), observation_format(estimator));
  std::vector<Inference> answers = infer(estimator, "models/tiny.safetensors", observed);
  const json plain = json::parse(inference_json(estimator.system(), estimator.observation(), answers, observed, {0.5}));
  EXPECT_FALSE(plain["results"][0].contains("predictive"));
  EXPECT_EQ(plain["results"][0]["truth"], json::parse("[0.5]"));
  EXPECT_EQ(plain["title"], "tiny: bead.csv");

  // A posterior inside the box, whatever the tiny network says.
  DenseMatrix narrow(1, 1);
  narrow(0, 0) = 1e-4;
  const Posterior posterior(GaussianMixture::from_covariances({1}, {{0.5}}, {narrow}), Coordinate::kLinear,
                            answers[0].box);
  answers[0].predictive = check_predictive(estimator.system(), estimator.observation(), posterior,
                                           as_seen(estimator.info(), observed[0]).z, 1, {.draws = 200, .threads = 1});
  const json predictive = json::parse(
      inference_json(estimator.system(), estimator.observation(), answers, observed, {}))["results"][0]["predictive"];
  ASSERT_EQ(predictive["t"].size(), 12u);
  EXPECT_EQ(predictive["t"][11], 11.0);
  double last = -1e9;
  for (const char* percent : {"5", "25", "50", "75", "95"}) {
    ASSERT_EQ(predictive["quantiles"][percent].size(), 1u);      // channels
    ASSERT_EQ(predictive["quantiles"][percent][0].size(), 12u);  // points
    EXPECT_GT(predictive["quantiles"][percent][0][3].get<double>(), last);
    last = predictive["quantiles"][percent][0][3];
  }
  // x = a B with a = 0.5: the 95 % point is 0.82; of 200 draws its standard error is 0.5 sqrt(0.05 0.95 / 200) / 0.103
  // = 0.075.
  EXPECT_NEAR(last, 0.5 * 1.645, 0.3);
  EXPECT_EQ(predictive["statistics"].size(), 5u);
}

TEST(result_page_test, a_combined_answer_shows_the_trajectories_it_was_made_from) {
  const Estimator estimator(open_model(std::string(PENN_SOURCE_DIR) + "/fuzz/corpus/model/tiny.safetensors"), 1);
  std::vector<ObservedTrajectory> observed;
  for (int i = 0; i < 15; ++i) {
    ObservedTrajectory one;
    one.source = "run" + std::to_string(i) + ".csv", one.n = 12, one.sampling = 1;
    for (int t = 0; t < 12; ++t) one.z.push_back(static_cast<float>(std::sin(0.7 * t + i)));
    observed.push_back(one);
  }
  const Inference combined = combine_inferences(infer(estimator, "tiny", observed));
  const json result =
      json::parse(inference_json(estimator.system(), estimator.observation(), {combined}, observed, {}))["results"][0];
  EXPECT_EQ(result["sources"].size(), 15u);
  ASSERT_EQ(result["trajectory"].size(), 12u);  // of many the first
  EXPECT_NEAR(result["trajectory"][3]["values"][0][2], std::sin(0.7 * 2 + 3), 1e-5);
}

TEST(result_page_test, an_evaluation_carries_every_trajectory_and_the_numbers_of_each_parameter) {
  const Estimator estimator(open_model(std::string(PENN_SOURCE_DIR) + "/fuzz/corpus/model/tiny.safetensors"), 1);
  const EvaluationOptions options{.count = 300, .threads = 1, .keep = true};
  const Evaluation evaluation = evaluate(estimator, "tiny", options);
  const std::string page = evaluation_page(estimator, evaluation, "tiny", options);
  const std::string open = "<script type=\"application/json\" id=\"penn-data\">";
  const size_t begin = page.find(open);
  ASSERT_NE(begin, std::string::npos);
  const json data = json::parse(page.substr(begin + open.size(), page.find("</script>", begin) - begin - open.size()));
  EXPECT_EQ(data["kind"], "evaluation");
  EXPECT_EQ(data["count"], 300);
  for (const char* table : {"truth", "estimate", "sd", "pit"}) {
    EXPECT_EQ(data[table]["shape"], json::parse("[300, 1]")) << table;
    EXPECT_EQ(data[table]["float32"].get<std::string>().size(), 1600u) << table;  // 300 floats of 4 bytes, in base64
  }
  EXPECT_FALSE(data.contains("trajectories"));
  ASSERT_EQ(data["parameters"].size(), 1u);
  for (const char* field : {"name", "label", "low", "high", "z", "coverage", "ranks"})
    EXPECT_TRUE(data["parameters"][0].contains(field)) << field;
}

TEST(result_page_test, a_jump_of_one_sample_shows_however_long_the_trajectory) {
  const Estimator estimator(open_model(std::string(PENN_SOURCE_DIR) + "/fuzz/corpus/model/tiny.safetensors"), 1);
  for (const int64_t n : {int64_t{2000}, int64_t{2001}, int64_t{9999}})
    for (const int64_t at : {int64_t{0}, int64_t{777}, int64_t{1001}, n - 1}) {
      ObservedTrajectory observed;
      observed.source = "long.csv", observed.n = n, observed.sampling = 0.1;
      observed.z.resize(static_cast<size_t>(n));
      for (int64_t i = 0; i < n; ++i)
        observed.z[static_cast<size_t>(i)] = static_cast<float>(std::sin(0.01 * static_cast<double>(i)));
      observed.z[static_cast<size_t>(at)] = 30;
      const auto answers = infer(estimator, "tiny", {observed});
      const auto page =
          nlohmann::json::parse(inference_json(estimator.system(), estimator.observation(), answers, {observed}, {}));
      const auto& trajectory = page.at("results").at(0).at("trajectory");
      const std::vector<double> values = trajectory.at("values").at(0);
      EXPECT_LE(values.size(), 2000u);
      const auto largest = std::max_element(values.begin(), values.end());
      EXPECT_EQ(*largest, 30);
      EXPECT_EQ(std::count(values.begin(), values.end(), 30), 1);
      const double step = trajectory.at("sampling");  // near its time, and the whole as long as it was
      EXPECT_NEAR(static_cast<double>(largest - values.begin()) * step, 0.1 * static_cast<double>(at),
                  0.1 * static_cast<double>(n) / 1000 + 0.05);
      EXPECT_NEAR(static_cast<double>(values.size()) * step, 0.1 * static_cast<double>(n),
                  0.1 * static_cast<double>(n) / 500);
      EXPECT_EQ(trajectory.contains("thinned"), n > 2000);
    }
}

}  // namespace
}  // namespace penn
