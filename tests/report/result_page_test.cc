// What a report carries beside the posterior: the trajectory, the truth, and the predictive fan when it was asked for. The model is the tiny one of the fuzzer.
#include "penn/report/result_page.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace penn {
namespace {

using nlohmann::json;

TEST(result_page_test, the_fan_of_the_predictive_check_is_in_the_page) {
  const Estimator estimator(open_model(std::string(PENN_SOURCE_DIR) + "/fuzz/corpus/model/tiny.safetensors"), 1);
  const std::string text = "0.1\n0.25\n-0.3\n0.4\n0.55\n0.61\n-0.7\n0.82\n-0.93\n0.14\n0.2\n0.31\n";
  auto observed = read_observations(InputFile(std::string_view(text), "folder/bead.csv"), observation_format(estimator));
  spread_roundings(estimator, observed);
  std::vector<Inference> answers = infer(estimator, "models/tiny.safetensors", observed);
  const json plain = json::parse(inference_json(estimator.system(), estimator.observation(), answers, observed, {0.5}));
  EXPECT_FALSE(plain["results"][0].contains("predictive"));
  EXPECT_EQ(plain["results"][0]["truth"], json::parse("[0.5]"));
  EXPECT_EQ(plain["title"], "tiny: bead.csv");

  // A posterior inside the box, whatever the tiny network says.
  DenseMatrix narrow(1, 1);
  narrow(0, 0) = 1e-4;
  const GaussianMixture posterior = GaussianMixture::from_covariances({1}, {{0.5}}, {narrow});
  answers[0].predictive = check_predictive(estimator.system(), estimator.observation(), posterior, observed[0].seen, 1, {.draws = 200, .threads = 1});
  const json predictive = json::parse(inference_json(estimator.system(), estimator.observation(), answers, observed, {}))["results"][0]["predictive"];
  ASSERT_EQ(predictive["t"].size(), 12u);
  EXPECT_EQ(predictive["t"][11], 11.0);
  double last = -1e9;
  for (const char* percent : {"5", "25", "50", "75", "95"}) {
    ASSERT_EQ(predictive["quantiles"][percent].size(), 1u);      // channels
    ASSERT_EQ(predictive["quantiles"][percent][0].size(), 12u);  // points
    EXPECT_GT(predictive["quantiles"][percent][0][3].get<double>(), last);
    last = predictive["quantiles"][percent][0][3];
  }
  // x = a B with a = 0.5: the 95 % point is 0.82; of 200 draws its standard error is 0.5 sqrt(0.05 0.95 / 200) / 0.103 = 0.075.
  EXPECT_NEAR(last, 0.5 * 1.645, 0.3);
  EXPECT_EQ(predictive["statistics"].size(), 5u);
}

}  // namespace
}  // namespace penn
