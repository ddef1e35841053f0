// The mixture of a raw output and its log density against the definition, differences, and where numbers end.
#include "penn/network/mixture_output.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "network/reference.h"
#include "penn/base/error.h"

namespace penn {
namespace {

using reference::as_doubles, reference::random_floats, reference::Row;

std::vector<MixtureShape> shapes() {
  std::vector<MixtureShape> list;
  for (const char* parameterisation : {"direct", "log_scale"})
    for (const auto& [M, N, full] :
         {std::tuple{1, 1, true}, {1, 4, true}, {2, 3, true}, {5, 10, true}, {3, 2, false}, {8, 5, false}})
      for (const bool floor : {false, true}) {
        MixtureShape s{M, N, full, parameterisation, {}};
        if (floor)
          for (int k = 0; k < M; ++k) s.precision_floor.push_back(0.25 * (1 + k % 3));
        list.push_back(s);
      }
  return list;
}

std::string name(const MixtureShape& s) {
  return s.parameterisation + " " + std::to_string(s.parameters) + " " + std::to_string(s.components) +
         (s.full ? " full" : " diagonal") + (s.precision_floor.empty() ? "" : " floor");
}

struct Rows {
  std::vector<float> raw, theta, gradient;
  std::vector<double> log_q, weights;
  std::vector<uint8_t> bad;
  Rows(const MixtureShape& s, size_t B, uint64_t seed)
      : raw(random_floats(B * static_cast<size_t>(s.size()), seed, 0.7)),
        theta(random_floats(B * static_cast<size_t>(s.parameters), seed + 1, 0.5)),
        gradient(raw.size()),
        log_q(B),
        weights(B * static_cast<size_t>(s.components)),
        bad(B) {}
  void compute(const MixtureShape& s, double auxiliary = 0) {
    mixture_rows(s, 0, static_cast<int64_t>(log_q.size()), raw.data(), theta.data(), auxiliary, log_q.data(),
                 bad.data(), weights.data(), gradient.data());
  }
  Row row(const MixtureShape& s, size_t b) const {
    return as_doubles(&raw[b * static_cast<size_t>(s.size())], static_cast<size_t>(s.size()));
  }
  Row theta_of(const MixtureShape& s, size_t b) const {
    return as_doubles(&theta[b * static_cast<size_t>(s.parameters)], static_cast<size_t>(s.parameters));
  }
};

TEST(mixture_output_test, log_density_follows_the_definition) {
  for (const MixtureShape& s : shapes()) {
    Rows rows(s, 11, 1);  // one block of eight rows and a part of one
    rows.compute(s);
    for (size_t b = 0; b < 11; ++b) {
      const double expected = reference::log_density(s, rows.row(s, b), rows.theta_of(s, b).data());
      EXPECT_NEAR(rows.log_q[b], expected, 1e-10 * (1 + std::fabs(expected))) << name(s);
      EXPECT_EQ(rows.bad[b], 0);
      double sum = 0;
      const reference::Mixture m = reference::mixture(s, rows.row(s, b));
      for (size_t j = 0; j < m.weights.size(); ++j) {
        EXPECT_NEAR(rows.weights[b * m.weights.size() + j], m.weights[j], 1e-13);
        sum += rows.weights[b * m.weights.size() + j];
      }
      EXPECT_NEAR(sum, 1, 1e-13);
    }
  }
}

// Central differences with h = 1e-5: truncation and rounding both near 1e-10 times the size of the function. The
// gradient is rounded to floats.
TEST(mixture_output_test, gradient_equals_finite_differences_with_and_without_the_auxiliary_term) {
  for (const MixtureShape& s : shapes())
    for (const double auxiliary : {0.0, 0.5}) {
      Rows rows(s, 2, 3);
      rows.compute(s, auxiliary);
      for (size_t b = 0; b < 2; ++b) {
        const Row theta = rows.theta_of(s, b);
        const auto objective = [&](const Row& raw) {
          return reference::log_density(s, raw, theta.data()) +
                 auxiliary * reference::mean_component_log_density(s, raw, theta.data());
        };
        for (size_t i = 0; i < static_cast<size_t>(s.size()); ++i) {
          Row raw = rows.row(s, b);
          raw[i] += 1e-5;
          const double above = objective(raw);
          raw[i] -= 2e-5;
          const double slope = (above - objective(raw)) / 2e-5;
          EXPECT_NEAR(rows.gradient[b * static_cast<size_t>(s.size()) + i], slope, 2e-7 * (1 + std::fabs(slope)))
              << name(s) << ", entry " << i;
        }
      }
    }
}

TEST(mixture_output_test, the_auxiliary_term_changes_the_gradient_and_not_the_value) {
  const MixtureShape s{3, 2, true, "log_scale", {1, 1, 1}};
  Rows with(s, 9, 5), without(s, 9, 5);
  with.compute(s, 0.5);
  without.compute(s);
  EXPECT_EQ(with.log_q, without.log_q);
  EXPECT_NE(with.gradient, without.gradient);
}

TEST(mixture_output_test, training_and_inference_mean_the_same_mixture) {
  for (const MixtureShape& s : shapes()) {
    Rows rows(s, 5, 7);
    rows.compute(s);
    for (size_t b = 0; b < 5; ++b) {
      const GaussianMixture q = mixture_of(s, &rows.raw[b * static_cast<size_t>(s.size())]);
      EXPECT_NEAR(q.log_density(rows.theta_of(s, b)), rows.log_q[b], 1e-9 * (1 + std::fabs(rows.log_q[b]))) << name(s);
    }
  }
}

TEST(mixture_output_test, scale_factors_widen_the_components_before_the_floor_limits_them) {
  MixtureShape s{2, 3, true, "log_scale", {}};
  const std::vector<float> raw = random_floats(static_cast<size_t>(s.size()), 8);
  const double factors[] = {1.3, 0.8}, floor[] = {1, 2};
  const GaussianMixture expected = mixture_of(s, raw.data()).with_scales(factors).with_precision_floor(floor);
  s.precision_floor = {1, 2};
  const GaussianMixture got = mixture_of(s, raw.data(), factors);
  for (size_t j = 0; j < 3; ++j)
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(got.factor(j)[i], expected.factor(j)[i]);
}

TEST(mixture_output_test, scales_are_exponentials_and_couplings_and_distances_are_relative_to_them) {
  const MixtureShape s{2, 2, true, "log_scale", {}};
  // logits, means, log scales (component by component), couplings
  const std::vector<float> raw = {0.1f, -0.2f, 0.5f, -0.5f, 0.25f, 0.75f, 3.0f, -1.0f, 7.0f, 20.0f, 1.5f, -2.0f};
  const GaussianMixture q = mixture_of(s, raw.data());
  const double expected[4] = {0.3 + std::exp(3.0), 0.3 + std::exp(-1.0), 0.3 + std::exp(7.0),
                              0.3 + std::exp(12.0)};  // the last is capped
  for (size_t j = 0; j < 2; ++j) {
    const double* u = q.factor(j);
    EXPECT_NEAR(u[0], expected[2 * j], 1e-12 * expected[2 * j]);
    EXPECT_NEAR(u[3], expected[2 * j + 1], 1e-12 * expected[2 * j + 1]);
    EXPECT_NEAR(u[1] / u[3], j == 0 ? 1.5 : -2.0, 1e-12);
  }
  EXPECT_EQ(q.component_mean(0)[0], 0.5);
  EXPECT_NEAR(q.component_mean(1)[0], 0.5 + 0.25 / expected[2], 1e-12);
  EXPECT_NEAR(q.component_mean(1)[1], -0.5 + 0.75 / expected[3], 1e-12);
}

TEST(mixture_output_test, a_raw_row_has_the_order_of_the_paper) {
  const MixtureShape s{3, 2, true, "direct", {}};
  std::vector<float> raw;
  for (int i = 0; i < s.size(); ++i) raw.push_back(0.1f * static_cast<float>(i));
  const GaussianMixture q = mixture_of(s, raw.data());
  EXPECT_NEAR(q.weight(1) / q.weight(0), std::exp(0.1), 1e-7);
  EXPECT_NEAR(q.component_mean(1)[0], 0.1 * (2 + 3), 1e-7);  // second component's first mean
  EXPECT_NEAR(q.factor(1)[8], std::log1p(std::exp(0.1 * (8 + 5))), 1e-7);
  EXPECT_NEAR(q.factor(1)[2], 0.1 * (14 + 3 + 1), 1e-6);  // u_13: second of (12, 13, 23)
  EXPECT_NEAR(q.factor(1)[5], 0.1 * (14 + 3 + 2), 1e-6);
  EXPECT_EQ(q.factor(1)[6], 0.0);
}

TEST(mixture_output_test, no_component_is_wider_than_its_parameterisation_or_floor_allows) {
  const std::vector<float> narrow = {0.0f, 0.0f, -80.0f};
  EXPECT_NEAR(std::sqrt(mixture_of({1, 1, true, "log_scale", {}}, narrow.data()).covariance()(0, 0)), 1 / 0.3, 1e-6);
  const MixtureShape s{6, 3, true, "direct", std::vector<double>(6, 0.25)};
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const GaussianMixture q =
        mixture_of(s, random_floats(static_cast<size_t>(s.size()), seed, 20).data());  // couplings that run away
    for (size_t j = 0; j < 3; ++j)
      for (size_t k = 0; k < 6; ++k) EXPECT_LT(q.component_covariance(j)(k, k), 4 + 1e-9);
  }
}

// Each row has one extreme entry. Whatever comes out is finite, and rows that carry nothing usable are counted.
TEST(mixture_output_test, extreme_entries_give_finite_numbers_or_a_counted_row) {
  for (const char* parameterisation : {"direct", "log_scale"})
    for (const std::vector<double>& floor : {std::vector<double>(), std::vector<double>{0.25, 2, 2}}) {
      const MixtureShape s{3, 4, true, parameterisation, floor};
      const size_t K = static_cast<size_t>(s.size());
      for (const float extreme : {1e3f, 1e6f, 1e12f, 1e20f, 1e30f, 3e38f})
        for (const float sign : {1.0f, -1.0f}) {
          Rows rows(s, K, 9);
          for (size_t k = 0; k < K; ++k) rows.raw[k * K + k] = sign * extreme;
          rows.compute(s, 0.5);
          int64_t bad = 0;
          for (size_t b = 0; b < K; ++b) {
            bad += rows.bad[b];
            EXPECT_TRUE(std::fabs(rows.log_q[b]) <= kMixtureLimit);
          }
          for (const float g : rows.gradient) EXPECT_TRUE(std::fabs(g) <= kMixtureLimit);
          EXPECT_LT(bad, static_cast<int64_t>(K));
          // Inference gives a mixture of finite numbers for every finite row.
          for (size_t b = 0; b < K; ++b) {
            const GaussianMixture q = mixture_of(s, &rows.raw[b * K]);
            double total = 0;
            for (size_t j = 0; j < 4; ++j) total += q.weight(j);
            EXPECT_NEAR(total, 1, 1e-12);
            EXPECT_TRUE(std::isfinite(q.log_density(Row(3, 0.5)))) << name(s) << " " << sign * extreme << " " << b;
            for (const double v : q.mean()) EXPECT_TRUE(std::isfinite(v));
          }
        }
    }
}

TEST(mixture_output_test, rows_that_are_not_finite_are_bad_and_the_others_as_without_them) {
  const float bad_values[] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                              -std::numeric_limits<float>::infinity()};
  for (const MixtureShape& s :
       {MixtureShape{2, 3, true, "direct", {}}, MixtureShape{2, 3, true, "log_scale", {1, 1}}}) {
    const size_t K = static_cast<size_t>(s.size());
    for (const float value : bad_values) {
      Rows rows(s, K + 4, 11),
          clean(s, K + 4, 11);  // rows 0 to K - 1: one entry of raw; then one of theta; two good rows
      for (size_t k = 0; k < K; ++k) rows.raw[k * K + k] = value;
      rows.theta[2 * K] = value;
      rows.theta[2 * K + 3] = value;
      rows.compute(s);
      clean.compute(s);
      for (size_t b = 0; b < K + 4; ++b) {
        const bool is_bad = b < K + 2;
        EXPECT_EQ(rows.bad[b], is_bad) << name(s) << ", row " << b << ", " << value;
        EXPECT_EQ(rows.log_q[b], is_bad ? 0 : clean.log_q[b]);
        for (size_t k = 0; k < K; ++k) EXPECT_EQ(rows.gradient[b * K + k], is_bad ? 0 : clean.gradient[b * K + k]);
      }
      // Without a gradient too.
      std::vector<uint8_t> bad(K + 4);
      mixture_rows(s, 0, static_cast<int64_t>(K + 4), rows.raw.data(), rows.theta.data(), 0, rows.log_q.data(),
                   bad.data(), nullptr, nullptr);
      for (size_t b = 0; b < K + 4; ++b)
        EXPECT_EQ(bad[b], b < K + 2) << name(s) << ", row " << b << ", " << value << ", no gradient";
    }
    std::vector<float> raw(K, 0.0f);
    raw[1] = bad_values[0];
    EXPECT_THROW(mixture_of(s, raw.data()), Error);
  }
}

TEST(mixture_output_test, all_scales_tiny_is_finite_and_falls_towards_wider) {
  const MixtureShape s{2, 3, true, "direct", {}};
  Rows rows(s, 1, 1);
  std::fill(rows.raw.begin(), rows.raw.end(), 0.0f);
  std::fill(rows.raw.begin() + 9, rows.raw.begin() + 15,
            1e4f);  // u = 10^4: standard deviation 10^-4, a thousand deviations away
  rows.theta = {0.1f, 0.1f};
  rows.compute(s);
  EXPECT_EQ(rows.bad[0], 0);
  EXPECT_NEAR(rows.log_q[0], -1e6, 1e3);  // (0.1 10^4)^2 / 2 for two parameters
  for (size_t i = 9; i < 15; ++i) EXPECT_LT(rows.gradient[i], 0);
}

TEST(mixture_output_test, a_row_does_not_depend_on_its_neighbours) {
  for (const MixtureShape& s : shapes()) {
    Rows all(s, 20, 13), parts(s, 20, 13);
    all.compute(s, 0.3);
    for (int64_t first = 0; first < 20; first += 3)
      mixture_rows(s, first, std::min<int64_t>(20, first + 3), parts.raw.data(), parts.theta.data(), 0.3,
                   parts.log_q.data(), parts.bad.data(), parts.weights.data(), parts.gradient.data());
    EXPECT_EQ(all.log_q, parts.log_q) << name(s);
    EXPECT_EQ(all.weights, parts.weights) << name(s);
    EXPECT_EQ(all.gradient, parts.gradient) << name(s);
  }
}

}  // namespace
}  // namespace penn
