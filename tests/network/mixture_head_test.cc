// The fused mixture log density against plain tensor operations, an independent double-precision formula, and finite
// differences; and its behaviour where numbers end.
#include "penn/network/mixture_head.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace penn {
namespace {

const MixtureShape kShapes[] = {{1, 1, true},   {1, 4, true},  {2, 3, true},  {5, 10, true},
                                {12, 10, true}, {3, 2, false}, {8, 30, false}, {1, 2, true, {0.25}},
                                {5, 10, true, {0.25, 2, 0.5, 2, 0.25}}, {12, 10, true, std::vector<double>(12, 0.25)}, {3, 2, false, {1, 2, 0.25}}};

double determinant(std::vector<double> a, int n) {  // by elimination; a is positive definite
  double product = 1;
  for (int k = 0; k < n; ++k) {
    product *= a[k * n + k];
    for (int i = k + 1; i < n; ++i)
      for (int l = n - 1; l >= k; --l) a[i * n + l] -= a[i * n + k] / a[k * n + k] * a[k * n + l];
  }
  return product;
}

// The mixture written out with covariance matrices: no softmax trick, no logsumexp, no triangular solve.
double density_by_definition(const double* y, const double* theta, const MixtureShape& s) {
  const int M = s.parameters, N = s.components;
  double weights = 0, sum = 0;
  for (int j = 0; j < N; ++j) weights += std::exp(y[j]);
  for (int j = 0; j < N; ++j) {
    std::vector<double> U(M * M, 0.0), P(M * M, 0.0);
    int index = N + 2 * N * M + j * s.upper();
    for (int k = 0; k < M; ++k) U[k * M + k] = std::log1p(std::exp(y[N + N * M + j * M + k]));
    if (s.full)
      for (int k = 0; k < M; ++k)
        for (int l = k + 1; l < M; ++l) U[k * M + l] = y[index++];
    for (int a = 0; a < M; ++a)
      for (int b = 0; b < M; ++b)
        for (int k = 0; k < M; ++k) P[a * M + b] += U[k * M + a] * U[k * M + b];
    if (!s.least_precision.empty())
      for (int a = 0; a < M; ++a) P[a * M + a] += s.least_precision[a];
    double quadratic = 0;
    for (int a = 0; a < M; ++a)
      for (int b = 0; b < M; ++b)
        quadratic += (theta[a] - y[N + j * M + a]) * P[a * M + b] * (theta[b] - y[N + j * M + b]);
    sum += std::exp(y[j]) / weights * std::sqrt(determinant(P, M)) * std::pow(2 * M_PI, -0.5 * M) * std::exp(-0.5 * quadratic);
  }
  return std::log(sum);
}

torch::Tensor free_vectors(int64_t batch, const MixtureShape& s, torch::ScalarType type, double spread = 0.7) {
  return (spread * torch::randn({batch, s.size()}, torch::kDouble)).to(type);
}

TEST(mixture_head_test, log_density_follows_the_definition_in_double) {
  torch::manual_seed(1);
  for (const MixtureShape& s : kShapes) {
    const torch::Tensor y = free_vectors(7, s, torch::kDouble), theta = torch::rand({7, s.parameters}, torch::kDouble);
    const MixtureDensity q = mixture_log_density(y, theta, s);
    for (int b = 0; b < 7; ++b) {
      const double expected = density_by_definition(y[b].data_ptr<double>(), theta[b].data_ptr<double>(), s);
      EXPECT_NEAR(q.log_density[b].item<double>(), expected, 1e-9 * (1 + std::fabs(expected)))
          << s.parameters << " " << s.components;
    }
    EXPECT_EQ(q.bad.sum().item<int64_t>(), 0);
  }
}

TEST(mixture_head_test, value_and_gradient_equal_the_tensor_reference) {
  torch::manual_seed(2);
  for (const MixtureShape& s : kShapes)
    for (const auto& [type, lesson] : {std::pair(torch::kFloat, 0.0), std::pair(torch::kDouble, 0.0), std::pair(torch::kDouble, 0.5)}) {
      const double tolerance = type == torch::kFloat ? 2e-5 : 1e-11;
      const torch::Tensor start = free_vectors(33, s, type), theta = torch::rand({33, s.parameters}, type);
      const torch::Tensor weight = torch::randn({33}, type);
      const torch::Tensor y = start.clone().requires_grad_(), z = start.clone().requires_grad_();
      const torch::Tensor fast = mixture_log_density(y, theta, s, lesson).log_density;
      const torch::Tensor slow = mixture_log_density_reference(z, theta, s, lesson);
      EXPECT_LT(((fast - slow).abs() / (1 + slow.abs())).max().item<double>(), tolerance);
      (fast * weight).sum().backward();
      (slow * weight).sum().backward();
      EXPECT_LT((y.grad() - z.grad()).abs().max().item<double>(), tolerance * z.grad().abs().max().item<double>())
          << s.parameters << " " << s.components << " " << s.full;
    }
}

// Central differences with h = 1e-5 in double: truncation and rounding both near 1e-10 times the size of the function.
TEST(mixture_head_test, gradient_equals_finite_differences) {
  torch::manual_seed(3);
  for (const MixtureShape& s : {MixtureShape{1, 2, true}, MixtureShape{3, 2, true}, MixtureShape{4, 3, false}, MixtureShape{4, 2, true, {0.25, 2, 1, 0.5}}, MixtureShape{3, 2, false, {0.5, 2, 0.25}}}) {
    const torch::Tensor theta = torch::rand({1, s.parameters}, torch::kDouble);
    const torch::Tensor y = free_vectors(1, s, torch::kDouble).requires_grad_();
    mixture_log_density(y, theta, s).log_density.sum().backward();
    const double h = 1e-5;
    for (int k = 0; k < s.size(); ++k) {
      torch::Tensor plus = y.detach().clone(), minus = plus.clone();
      plus[0][k] += h;
      minus[0][k] -= h;
      const double slope = (density_by_definition(plus.data_ptr<double>(), theta.data_ptr<double>(), s) -
                            density_by_definition(minus.data_ptr<double>(), theta.data_ptr<double>(), s)) /
                           (2 * h);
      EXPECT_NEAR(y.grad()[0][k].item<double>(), slope, 1e-8 * (1 + std::fabs(slope))) << "entry " << k;
    }
  }
}

// The lesson's part of the gradient alone, against differences of the mean log density of the components, each a mixture of its own.
TEST(mixture_head_test, every_component_learns_its_lesson_and_the_value_stays) {
  torch::manual_seed(6);
  const MixtureShape s{3, 2, true, {0.25, 2, 1}}, one{3, 1, true, {0.25, 2, 1}};
  const int M = 3, N = 2;
  const torch::Tensor theta = torch::rand({1, M}, torch::kDouble), start = free_vectors(1, s, torch::kDouble);
  const torch::Tensor with = start.clone().requires_grad_(), without = start.clone().requires_grad_();
  const torch::Tensor a = mixture_log_density(with, theta, s, 0.5).log_density, b = mixture_log_density(without, theta, s).log_density;
  EXPECT_EQ(a.item<double>(), b.item<double>());
  a.sum().backward();
  b.sum().backward();
  const auto mean_of_components = [&](const torch::Tensor& y) {
    double sum = 0;
    for (int j = 0; j < N; ++j) {
      const torch::Tensor alone = torch::cat({torch::zeros({1, 1}, torch::kDouble), y.slice(1, N + j * M, N + (j + 1) * M), y.slice(1, N + N * M + j * M, N + N * M + (j + 1) * M),
                                              y.slice(1, N + 2 * N * M + j * s.upper(), N + 2 * N * M + (j + 1) * s.upper())}, 1).contiguous();
      sum += density_by_definition(alone.data_ptr<double>(), theta.data_ptr<double>(), one) / N;
    }
    return sum;
  };
  for (int k = 0; k < s.size(); ++k) {
    torch::Tensor plus = start.clone(), minus = start.clone();
    plus[0][k] += 1e-5;
    minus[0][k] -= 1e-5;
    const double slope = 0.5 * (mean_of_components(plus) - mean_of_components(minus)) / 2e-5;
    EXPECT_NEAR((with.grad() - without.grad())[0][k].item<double>(), slope, 1e-8 * (1 + std::fabs(slope))) << "entry " << k;
  }
}

TEST(mixture_head_test, parameters_follow_the_order_of_the_free_vector) {
  const MixtureShape s{3, 2, true};
  const torch::Tensor y = torch::arange(0, s.size(), torch::kDouble).view({1, s.size()}) * 0.1;
  const MixtureParameters p = mixture_parameters(y, s);
  EXPECT_NEAR(p.weights.sum().item<double>(), 1.0, 1e-14);
  EXPECT_NEAR((p.weights[0][1] / p.weights[0][0]).item<double>(), std::exp(0.1), 1e-12);
  EXPECT_NEAR(p.means[0][1][0].item<double>(), 0.1 * (2 + 3), 1e-12);  // second component's first mean
  EXPECT_NEAR(p.factors[0][1][2][2].item<double>(), std::log1p(std::exp(0.1 * (8 + 5))), 1e-12);
  EXPECT_NEAR(p.factors[0][1][0][2].item<double>(), 0.1 * (14 + 3 + 1), 1e-12);  // u_13: second of (12, 13, 23)
  EXPECT_NEAR(p.factors[0][1][1][2].item<double>(), 0.1 * (14 + 3 + 2), 1e-12);
  EXPECT_EQ(p.factors[0][1][2][0].item<double>(), 0.0);
}

// Each row has one extreme entry. Whatever comes out is finite, and rows that carry nothing usable are counted.
TEST(mixture_head_test, extreme_entries_give_finite_numbers_or_a_counted_row) {
  torch::manual_seed(4);
  for (const std::vector<double>& least_precision : {std::vector<double>(), std::vector<double>{0.25, 2, 2}}) {
    const MixtureShape s{3, 4, true, least_precision};
    for (const float extreme : {1e3f, 1e6f, 1e12f, 1e20f, 1e30f, 3e38f}) {
      for (const float sign : {1.0f, -1.0f}) {
        const torch::Tensor start = free_vectors(s.size(), s, torch::kFloat);
        for (int k = 0; k < s.size(); ++k) start[k][k] = sign * extreme;
        const torch::Tensor y = start.clone().requires_grad_();
        const MixtureLoss result = mixture_loss(y, torch::rand({s.size(), 3}), s);
        result.loss.backward();
        EXPECT_TRUE(std::isfinite(result.loss.item<float>())) << sign * extreme;
        EXPECT_TRUE(torch::isfinite(y.grad()).all().item<bool>()) << sign * extreme;
        EXPECT_EQ(result.good + result.bad, s.size());
        EXPECT_GT(result.good, 0);
        EXPECT_LT(result.loss.abs().item<double>(), 1e12);
      }
    }
  }
}

TEST(mixture_head_test, no_component_is_wider_than_the_least_precision_allows) {
  torch::manual_seed(9);
  const MixtureShape s{6, 3, true, std::vector<double>(6, 0.25)};
  const MixtureParameters p = mixture_parameters(free_vectors(50, s, torch::kDouble, 20), s);  // couplings that run away
  const torch::Tensor inverse = torch::linalg_inv(p.factors), covariances = torch::matmul(inverse, inverse.transpose(-1, -2));
  EXPECT_LT(torch::diagonal(covariances, 0, -2, -1).max().item<double>(), 4 + 1e-9);
}

TEST(mixture_head_test, all_variances_tiny_is_finite_and_falls_towards_wider) {
  const MixtureShape s{2, 3, true};
  torch::Tensor y = torch::zeros({1, s.size()});
  y.slice(1, 3 + 6, 3 + 12).fill_(1e4);  // u = 10^4: standard deviation 10^-4, a thousand deviations away
  y.requires_grad_();
  const MixtureLoss result = mixture_loss(y, torch::full({1, 2}, 0.1), s);
  result.loss.backward();
  EXPECT_EQ(result.bad, 0);
  EXPECT_NEAR(result.loss.item<double>(), 1e6, 1e3);              // (0.1 10^4)^2 / 2 for two parameters
  EXPECT_GT(y.grad().slice(1, 9, 15).min().item<float>(), 0.0f);  // descent lowers gamma
}

TEST(mixture_head_test, rows_that_are_not_finite_are_skipped_and_counted) {
  torch::manual_seed(5);
  const MixtureShape s{2, 3, true};
  const torch::Tensor start = free_vectors(4, s, torch::kFloat), theta = torch::rand({4, 2});
  start[1][5] = std::numeric_limits<float>::quiet_NaN();
  start[2][0] = std::numeric_limits<float>::infinity();
  const torch::Tensor y = start.clone().requires_grad_();
  const MixtureLoss result = mixture_loss(y, theta, s);
  result.loss.backward();
  EXPECT_EQ(result.bad, 2);
  const torch::Tensor keep = torch::tensor({0, 3});
  const torch::Tensor expected =
      -mixture_log_density_reference(start.index_select(0, keep), theta.index_select(0, keep), s).mean();
  EXPECT_NEAR(result.loss.item<float>(), expected.item<float>(), 1e-5f);
  EXPECT_EQ(y.grad()[1].abs().max().item<float>(), 0.0f);
  EXPECT_GT(y.grad()[0].abs().max().item<float>(), 0.0f);

  const torch::Tensor none = torch::full({2, s.size()}, std::numeric_limits<float>::quiet_NaN()).requires_grad_();
  const MixtureLoss empty = mixture_loss(none, torch::rand({2, 2}), s);
  EXPECT_EQ(empty.good, 0);
  EXPECT_EQ(empty.loss.item<float>(), 0.0f);
}

TEST(mixture_head_test, wrong_sizes_are_refused) {
  EXPECT_THROW(mixture_loss(torch::zeros({2, 7}), torch::zeros({2, 2}), {2, 3, true}), c10::Error);
  EXPECT_THROW(mixture_loss(torch::zeros({2, 18}), torch::zeros({3, 2}), {2, 3, true}), c10::Error);
}

}  // namespace
}  // namespace penn
