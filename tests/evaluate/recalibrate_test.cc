#include "penn/evaluate/recalibrate.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <cmath>
#include <random>

#include "penn/base/error.h"
#include "penn/evaluate/evaluation.h"
#include "penn/model/network_posterior.h"
#include "penn/posterior/probit_coordinates.h"

namespace penn {
namespace {

// Distributions of one parameter and its true values. In probit coordinates of [0, 1], or as they are.
struct Cases {
  Coordinate coordinate = Coordinate::kLinear;
  std::vector<std::vector<double>> weights, means, sds;
  std::vector<float> truths;

  void add(std::vector<double> w, std::vector<double> m, std::vector<double> s, double truth) {
    weights.push_back(std::move(w)), means.push_back(std::move(m)), sds.push_back(std::move(s));
    truths.push_back(
        static_cast<float>(coordinate == Coordinate::kProbit ? from_probit_coordinate(truth, 0, 1) : truth));
  }
  double factor() const {
    return fit_scale_factors(
        static_cast<int64_t>(truths.size()),
        [&](int64_t task, std::span<const double> factors) {
          const size_t i = static_cast<size_t>(task);
          std::vector<std::vector<double>> centres;
          std::vector<DenseMatrix> covariances;
          for (size_t j = 0; j < means[i].size(); ++j) {
            centres.push_back({means[i][j]});
            covariances.emplace_back(1, 1);
            covariances.back()(0, 0) = std::pow(sds[i][j] * factors[0], 2);
          }
          return Posterior(GaussianMixture::from_covariances(weights[i], centres, covariances), coordinate,
                           Box{{0.0}, {1.0}});
        },
        truths, 2)[0];
  }
};

// Right distributions with SDs too large by the factor `wide`; `far` of a thousand have their truth 40 SDs off.
Cases gaussians(size_t n, double wide, Coordinate coordinate = Coordinate::kLinear, size_t far = 0) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  Cases cases;
  cases.coordinate = coordinate;
  for (size_t i = 0; i < n; ++i) {
    const double centre = 0.5 * normal(random), sd = 0.02 * std::exp(0.3 * normal(random));
    cases.add({1.0}, {centre}, {sd * wide}, centre + sd * (i % 1000 < far ? 40 : normal(random)));
  }
  return cases;
}

TEST(recalibrate_test, the_factor_undoes_what_was_too_wide_or_too_narrow) {
  for (const double wide : {0.8, 0.95, 1.1, 1.25})
    for (const Coordinate coordinate : {Coordinate::kLinear, Coordinate::kProbit})
      EXPECT_NEAR(gaussians(20000, wide, coordinate).factor() * wide, 1, 0.02) << wide;  // standard error 0.5 %
}

TEST(recalibrate_test, right_widths_stay_and_wild_ones_are_not_believed) {
  EXPECT_NEAR(gaussians(20000, 1).factor(), 1, 0.01);
  EXPECT_NEAR(gaussians(5000, 5).factor(), 1 / kLargestScaleFactor, 0.01);
}

// A factor within its sampling error is taken for 1. 200 trajectories give a scale to 5 %.
TEST(recalibrate_test, few_trajectories_tell_little) {
  EXPECT_EQ(gaussians(200, 1).factor(), 1);
  EXPECT_LT(gaussians(200, 1.25).factor(), 0.9);
}

// One in a thousand is 40 SDs off. Their squares alone, 1.6, would need scales 60 % larger; the middle of the
// distribution is right.
TEST(recalibrate_test, outliers_do_not_decide) {
  EXPECT_NEAR(gaussians(20000, 1, Coordinate::kLinear, 1).factor(), 1, 0.03);
}

// Two explanations far apart: most of the posterior's SD is the distance between them, which no factor may touch. What
// was wrong is found all the same.
TEST(recalibrate_test, the_distance_between_two_modes_is_not_taken_for_a_width) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  Cases cases;
  for (int i = 0; i < 20000; ++i) {
    const double left = normal(random), right = left + 8;
    cases.add({0.5, 0.5}, {left, right}, {1.2, 1.2}, (random() % 2 ? left : right) + normal(random));
  }
  EXPECT_NEAR(cases.factor(), 1 / 1.2, 0.05);
}

// Each parameter has the factor of its own.
TEST(recalibrate_test, parameters_are_not_mixed_up) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  const size_t n = 10000;
  std::vector<float> truths;
  for (size_t i = 0; i < 2 * n; ++i) truths.push_back(static_cast<float>(normal(random)));
  const auto posterior = [](int64_t, std::span<const double> factors) {
    DenseMatrix covariance(2, 2);
    covariance(0, 0) = std::pow(1.2 * factors[0], 2), covariance(1, 1) = std::pow(0.85 * factors[1], 2);
    return Posterior(GaussianMixture::from_covariances({1.0}, {{0.0, 0.0}}, {covariance}), Coordinate::kLinear,
                     Box{{-9.0, -9.0}, {9.0, 9.0}});
  };
  const std::vector<double> factors = fit_scale_factors(static_cast<int64_t>(n), posterior, truths, 2);
  EXPECT_NEAR(factors[0], 1 / 1.2, 0.02);
  EXPECT_NEAR(factors[1], 1 / 0.85, 0.03);
}

// What the combination of trajectories relies on (mixture_product.h): whatever the factors, no component is wider than
// the prior.
TEST(recalibrate_test, no_component_becomes_wider_than_the_box) {
  const Model model = open_model(find_model("cfhn-mean"));
  const MixtureShape& shape = model.info.network.mixture;
  std::mt19937_64 random(3);
  std::normal_distribution<float> normal(0, 1.5f);
  std::vector<float> raw(static_cast<size_t>(shape.size()));
  const std::vector<double> wider(static_cast<size_t>(shape.parameters), kLargestScaleFactor);
  for (int i = 0; i < 20; ++i) {
    for (float& x : raw) x = normal(random);
    const Posterior before = posterior_of(model, raw, {}), after = posterior_of(model, raw, wider);
    for (size_t j = 0; j < before.components(); ++j)
      for (size_t k = 0; k < before.dimension(); ++k) {
        const double narrow = before.mixture().component_covariance(j)(k, k),
                     wide = after.mixture().component_covariance(j)(k, k);
        EXPECT_GE(wide, narrow);
        EXPECT_LE(wide, 1 / shape.precision_floor[k] + 1e-9);  // all in probit coordinates
      }
  }
}

TEST(recalibrate_test, factors_between_lengths) {
  const Recalibration recalibration{.lengths = {100, 10000}, .factors = {0.9, 1.0, 1.0, 1.21}, .trajectories = 1};
  EXPECT_EQ(recalibration.at(100), (std::vector<double>{0.9, 1.0}));
  EXPECT_EQ(recalibration.at(3), (std::vector<double>{0.9, 1.0}));
  EXPECT_NEAR(recalibration.at(1000)[0], std::sqrt(0.9), 1e-12);
  EXPECT_NEAR(recalibration.at(1000)[1], 1.1, 1e-12);
  EXPECT_NEAR(recalibration.at(99999)[1], 1.21, 1e-12);
  const Recalibration single{.lengths = {100}, .factors = {0.9, 1.1}, .trajectories = 1};
  for (const int64_t n : {1, 100, 1000}) EXPECT_EQ(single.at(n), (std::vector<double>{0.9, 1.1}));
}

TEST(recalibrate_test, a_damaged_correction_is_refused) {
  const nlohmann::json good =
      to_json(Recalibration{.lengths = {100, 200}, .factors = {0.9, 1.0, 1.0, 1.1}, .trajectories = 5});
  EXPECT_EQ(recalibration_from_json(good, 2).factors, (std::vector<double>{0.9, 1.0, 1.0, 1.1}));
  EXPECT_THROW(recalibration_from_json(good, 3), ModelError);
  for (const auto& [key, value] :
       std::vector<std::pair<std::string, nlohmann::json>>{{"lengths", {200, 100}},
                                                           {"lengths", {100, 100}},
                                                           {"lengths", {0, 100}},
                                                           {"lengths", nlohmann::json::array()},
                                                           {"factors", {0.9, 1.0, 1.0, -1.0}},
                                                           {"factors", {0.9, 1.0, 1.0, 0.0}},
                                                           {"factors", "x"}}) {
    nlohmann::json bad = good;
    bad[key] = value;
    EXPECT_THROW(recalibration_from_json(bad, 2), ModelError) << bad.dump();
  }
}

// A shipped model whose network is made to say posteriors a tenth too narrow: the biases of the diagonals' logarithms.
// Distances between components are encoded in scales and shrink with them; recalibration, which leaves them, has to
// make the components wider by more than a tenth.
Model narrowed(Model model) {
  const size_t N = static_cast<size_t>(model.info.network.mixture.components),
               M = static_cast<size_t>(model.info.network.mixture.parameters);
  const WeightBlock& bias = model.network.blocks().back();
  EXPECT_EQ(bias.name, "decoder.last.bias");
  for (size_t i = N * (1 + M); i < N * (1 + 2 * M); ++i) model.network.weights()[bias.offset + i] += std::log(1.1f);
  model.info.recalibration = {};
  return model;
}

TEST(recalibrate_test, a_model_that_says_too_little_is_mended) {
  const Model narrow = narrowed(open_model(find_model("soup")));
  const auto largest_sd = [&](const Model& model) {
    const Evaluation e = evaluate(Estimator(model, 2), "soup", {.count = 3000, .length = 1000, .threads = 2});
    return std::max(e.report.parameters[0].z.sd, e.report.parameters[1].z.sd);
  };
  EXPECT_GT(largest_sd(narrow), 1.06);
  const RecalibrationOptions options{.lengths = {1000}, .count = 3000, .threads = 2};
  const std::optional<Recalibration> measured = recalibrate(narrow, options);
  ASSERT_TRUE(measured);
  for (const double factor : measured->factors) EXPECT_GT(factor, 1.1);
  Model mended = narrow;
  mended.info.recalibration = *measured;
  EXPECT_NEAR(largest_sd(mended), 1, 0.04);
  // What a model already has is left out of account, and the same comes out.
  EXPECT_EQ(recalibrate(mended, options)->factors, measured->factors);
}

TEST(recalibrate_test, can_be_stopped) {
  int64_t asked = 0;
  RecalibrationOptions options{
      .lengths = {200, 400}, .count = 400, .threads = 1, .progress = [&](int64_t done, int64_t all) {
        EXPECT_EQ(all, 400);
        asked = done;
        return false;
      }};
  EXPECT_FALSE(recalibrate(open_model(find_model("soup")), options));
  EXPECT_EQ(asked, 200);
  options.count = 100;  // 50 of each length
  EXPECT_THROW(recalibrate(open_model(find_model("soup")), options), UsageError);
}

}  // namespace
}  // namespace penn
