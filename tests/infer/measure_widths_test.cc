#include "penn/infer/measure_widths.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/files_for_tests.h"
#include "penn/base/error.h"
#include "penn/density/box_coordinates.h"
#include "penn/infer/evaluation.h"

namespace penn {
namespace {

struct Cases {
  std::vector<NormalMixture1d> laws;
  std::vector<double> truths;
};

// Laws of the truth, their SDs too large by the factor `wide`. In box coordinates of [0, 1], or as they are.
Cases gaussians(size_t n, double wide, bool in_box) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  Cases cases;
  for (size_t i = 0; i < n; ++i) {
    const double centre = 0.5 * normal(random), sd = 0.02 * std::exp(0.3 * normal(random)), u = centre + sd * normal(random);
    cases.laws.push_back({{0.0}, {centre}, {sd * wide}});
    cases.truths.push_back(in_box ? from_box_coordinate(u, 0, 1) : u);
  }
  return cases;
}

TEST(measure_widths_test, the_factor_undoes_what_was_too_wide_or_too_narrow) {
  for (const double wide : {0.8, 0.95, 1.1, 1.25})
    for (const Coordinate coordinate : {Coordinate::kLinear, Coordinate::kBox}) {
      const Cases cases = gaussians(20000, wide, coordinate == Coordinate::kBox);
      // Standard error 0.5 %.
      EXPECT_NEAR(width_factor(cases.laws, cases.truths, coordinate, 0, 1, 2) * wide, 1, 0.02) << wide;
    }
}

TEST(measure_widths_test, right_widths_stay_and_wild_ones_are_not_believed) {
  const Cases right = gaussians(20000, 1, false), wild = gaussians(5000, 5, false), few = gaussians(100, 1.02, false);
  EXPECT_NEAR(width_factor(right.laws, right.truths, Coordinate::kLinear, 0, 1, 1), 1, 0.01);
  EXPECT_GT(width_factor(wild.laws, wild.truths, Coordinate::kLinear, 0, 1, 1), 0.7);
  EXPECT_NEAR(width_factor(few.laws, few.truths, Coordinate::kLinear, 0, 1, 1), 1, 0.1);
}

// Two explanations far apart: most of the posterior's SD is the distance between them, which no factor may touch. What was wrong is found all the same.
TEST(measure_widths_test, the_distance_between_two_modes_is_not_taken_for_a_width) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  Cases cases;
  for (int i = 0; i < 20000; ++i) {
    const double left = normal(random), right = left + 8, truth = (random() % 2 ? left : right) + normal(random);
    cases.laws.push_back({{std::log(0.5), std::log(0.5)}, {left, right}, {1.2, 1.2}});
    cases.truths.push_back(truth);
  }
  EXPECT_NEAR(width_factor(cases.laws, cases.truths, Coordinate::kLinear, 0, 1, 2), 1 / 1.2, 0.05);
}

TEST(measure_widths_test, factors_between_lengths) {
  const WidthCorrection widths{.lengths = {100, 10000}, .factors = {0.9, 1.0, 1.0, 1.21}, .trajectories = 1};
  EXPECT_EQ(widths.at(100), (std::vector<double>{0.9, 1.0}));
  EXPECT_EQ(widths.at(3), (std::vector<double>{0.9, 1.0}));
  EXPECT_NEAR(widths.at(1000)[0], std::sqrt(0.9), 1e-12);
  EXPECT_NEAR(widths.at(1000)[1], 1.1, 1e-12);
  EXPECT_NEAR(widths.at(99999)[1], 1.21, 1e-12);
  const WidthCorrection single{.lengths = {100}, .factors = {0.9, 1.1}, .trajectories = 1};
  for (const int64_t n : {1, 100, 1000}) EXPECT_EQ(single.at(n), (std::vector<double>{0.9, 1.1}));
}

TEST(measure_widths_test, a_damaged_correction_is_refused) {
  const nlohmann::json good = to_json(WidthCorrection{.lengths = {100, 200}, .factors = {0.9, 1.0, 1.0, 1.1}, .trajectories = 5});
  EXPECT_EQ(width_correction_from_json(good, 2).factors, (std::vector<double>{0.9, 1.0, 1.0, 1.1}));
  EXPECT_THROW(width_correction_from_json(good, 3), ModelError);
  for (const auto& [key, value] : std::vector<std::pair<std::string, nlohmann::json>>{
           {"lengths", {200, 100}}, {"lengths", {100, 100}}, {"lengths", {0, 100}}, {"lengths", nlohmann::json::array()}, {"factors", {0.9, 1.0, 1.0, -1.0}}, {"factors", {0.9, 1.0, 1.0, 0.0}}, {"factors", "x"}}) {
    nlohmann::json bad = good;
    bad[key] = value;
    EXPECT_THROW(width_correction_from_json(bad, 2), ModelError) << bad.dump();
  }
}

// A shipped model whose network is made to say posteriors a tenth too narrow: the biases of the diagonals' logarithms. Distances between components are told in widths and
// shrink with them; the correction, which leaves them, has to make the components wider by more than a tenth.
void save_narrowed(const std::filesystem::path& path, const ModelFile& model) {
  const size_t N = static_cast<size_t>(model.info.network.mixture.components), M = static_cast<size_t>(model.info.network.mixture.parameters);
  std::vector<std::vector<char>> values;
  std::vector<TensorView> tensors;
  for (const TensorInfo& t : model.file.tensors()) {
    values.emplace_back(t.end - t.begin);
    model.file.read_bytes(t, values.back().data());
    if (t.name == "network.decoder.last.bias")
      for (size_t i = N * (1 + M); i < N * (1 + 2 * M); ++i) reinterpret_cast<float*>(values.back().data())[i] += std::log(1.1f);
    tensors.push_back({t.name, t.type, t.shape, values.back().data()});
  }
  Metadata metadata = model.file.metadata();
  metadata.erase("widths");
  write_safetensors(path, metadata, std::move(tensors));
}

TEST(measure_widths_test, a_model_that_says_too_little_is_mended) {
  const TestDirectory folder;
  save_narrowed(folder / "narrow", open_model(find_model("soup")));
  const auto largest_sd = [&](const char* name) {
    const Evaluation e = evaluate(Estimator(open_model(folder / name), 2), name, {.count = 3000, .length = 1000, .threads = 2});
    return std::max(e.report.parameters[0].z.sd, e.report.parameters[1].z.sd);
  };
  EXPECT_GT(largest_sd("narrow"), 1.06);
  const WidthOptions options{.lengths = {1000}, .count = 3000, .threads = 2};
  const std::optional<WidthCorrection> widths = measure_widths(open_model(folder / "narrow"), options);
  ASSERT_TRUE(widths);
  for (const double factor : widths->factors) EXPECT_GT(factor, 1.1);
  save_with_widths(folder / "mended", open_model(folder / "narrow"), *widths);
  EXPECT_NEAR(largest_sd("mended"), 1, 0.04);
  // What a model already has is left out of account, and the same comes out.
  EXPECT_EQ(measure_widths(open_model(folder / "mended"), options)->factors, widths->factors);
}

TEST(measure_widths_test, can_be_stopped) {
  int64_t asked = 0;
  WidthOptions options{.lengths = {200, 400}, .count = 200, .threads = 1, .progress = [&](int64_t done, int64_t all) {
    EXPECT_EQ(all, 400);
    asked = done;
    return false;
  }};
  EXPECT_FALSE(measure_widths(open_model(find_model("soup")), options));
  EXPECT_EQ(asked, 200);
  options.count = 50;
  EXPECT_THROW(measure_widths(open_model(find_model("soup")), options), UsageError);
}

}  // namespace
}  // namespace penn
