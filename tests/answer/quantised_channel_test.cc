// A channel that is quantised by nature, seen through sign(): rounding is no accident there, and nothing may be
// dithered. The network is the tiny model of the fuzz corpus, under another system: nothing here needs good estimates,
// only the same ones.
#include <gtest/gtest.h>

#include "base/files_for_tests.h"
#include "penn/answer/infer.h"
#include "penn/answer/inference.h"
#include "penn/evaluate/evaluation.h"
#include "penn/simulate/simulator.h"
#include "penn/simulate/write_dataset.h"
#include "penn/system/parse_system.h"

namespace penn {
namespace {

constexpr int64_t kCount = 20, kLength = 150;

Estimator sign_estimator(bool quantised) {
  Model model = open_model(std::filesystem::path(PENN_SOURCE_DIR) / "fuzz/corpus/model/tiny.safetensors");
  model.system = parse_system(R"toml(
name = "side"
[parameters]
a = [0, 1]
[noise]
B = "gaussian()"
[equations]
x = "-x + B"
[initial]
x = 0
[observe]
s = "sign(x - a)"
[simulation]
step = 0.1
sampling = 0.1
burn_in = 20
length = 150
)toml",
                              "side.toml");
  model.info.lengths = {100, 1000};
  model.info.sampling = {0.1, 0.1};
  model.info.value_low = {-1};
  model.info.value_high = {1};
  model.info.quantised = {quantised};
  return Estimator(std::move(model), 1);
}

struct Data {
  std::vector<float> theta = std::vector<float>(kCount), z = std::vector<float>(kCount * kLength);
  std::vector<ObservedTrajectory> observed;
};

Data simulate(const Simulator& simulator) {
  Data data;
  simulator.run(0, kCount, data.theta.data(), data.z.data());
  for (int64_t i = 0; i < kCount; ++i)
    data.observed.push_back({.source = "side",
                             .n = kLength,
                             .z = {data.z.begin() + i * kLength, data.z.begin() + (i + 1) * kLength},
                             .sampling = 0.1,
                             .warnings = {}});
  return data;
}

std::string warnings_of(const std::vector<Inference>& answers) {
  std::string text;
  for (const Inference& answer : answers)
    for (const std::string& warning : answer.warnings) text += warning + "\n";
  return text;
}

TEST(quantised_channel_test, signs_reach_the_network_as_they_are_and_are_not_called_rounded_or_stuck) {
  const Estimator estimator = sign_estimator(true);
  Data data = simulate(Simulator(estimator.system(), 0, {.seed = 3, .threads = 1}));
  const std::vector<Inference> answers = infer(estimator, "side", data.observed);
  const std::vector<float> sampling(kCount, 0.1f);
  const std::vector<Estimate> direct = estimator.estimate(data.z.data(), kCount, kLength, sampling.data());
  for (size_t i = 0; i < kCount; ++i) {
    EXPECT_EQ(as_seen(estimator.info(), data.observed[i]).z, data.observed[i].z);
    EXPECT_EQ(answers[i].mean, direct[i].posterior.mean());
  }
  EXPECT_EQ(warnings_of(answers).find("rounded"), std::string::npos) << warnings_of(answers);
}

TEST(quantised_channel_test, the_same_signs_are_flagged_where_the_training_data_were_not_quantised) {
  const Estimator estimator = sign_estimator(false);
  Data data = simulate(Simulator(estimator.system(), 0, {.seed = 3, .threads = 1}));
  size_t changed = 0, moving = 0;
  for (const ObservedTrajectory& o : data.observed) {
    changed += as_seen(estimator.info(), o).z != o.z;
    moving += o.z != std::vector<float>(kLength, o.z[0]);
  }
  EXPECT_GT(moving, 15u);
  EXPECT_EQ(changed, 0u);  // two values only: noise of ours would be all there is
  EXPECT_NE(warnings_of(infer(estimator, "side", data.observed)).find("s is rounded to steps of 2"), std::string::npos);
}

TEST(quantised_channel_test, evaluation_and_inference_see_the_same_signs) {
  const Estimator estimator = sign_estimator(true);
  const SimulatorOptions options{.seed = 3, .threads = 1};
  const Simulator simulator(estimator.system(), 0, options);
  const TestDirectory folder;
  write_dataset(simulator, options, "", folder / "set", {.count = kCount});
  const Evaluation result =
      evaluate(estimator, "side", {.data = (folder / "set").string(), .threads = 1, .keep = true});
  ASSERT_EQ(result.report.count, kCount);
  Data data = simulate(simulator);
  const std::vector<Inference> answers = infer(estimator, "side", data.observed);
  for (size_t i = 0; i < kCount; ++i)
    EXPECT_FLOAT_EQ(result.report.kept.mean[i], static_cast<float>(answers[i].mean[0])) << i;
}

}  // namespace
}  // namespace penn
