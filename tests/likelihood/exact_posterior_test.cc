// The evidence where it is known: Gaussian likelihoods in a box, two mirror modes, a ridge, posteriors at an edge; and
// of real systems.
#include "penn/likelihood/exact_posterior.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "penn/likelihood/grid_quadrature.h"
#include "penn/posterior/draw_stream.h"
#include "penn/posterior/normal.h"
#include "penn/posterior/ou_posterior.h"
#include "penn/simulate/simulator.h"
#include "penn/system/load_system.h"

namespace penn {
namespace {

class Function final : public TrajectoryLikelihood {
 public:
  explicit Function(std::function<double(std::span<const double>)> f) : f_(std::move(f)) {}
  double log_likelihood(std::span<const double> theta) override { return f_(theta); }

 private:
  std::function<double(std::span<const double>)> f_;
};

double log_normal(double x, double mean, double sd) {
  return -0.5 * std::pow((x - mean) / sd, 2) - std::log(sd) - kHalfLogTwoPi;
}
double mass(double lo, double hi, double mean, double sd) {
  return normal_cdf((hi - mean) / sd) - normal_cdf((lo - mean) / sd);
}

// Products of normal densities in a box: the evidence is a product of normal masses over its widths. Narrow, wide, and
// at an edge.
TEST(exact_posterior_test, gaussian_likelihoods_in_a_box) {
  const Box box{{0, -2, 10}, {1, 3, 30}};
  for (const auto& [mean, sd] : std::vector<std::pair<std::vector<double>, std::vector<double>>>{
           {{0.3, 0.5, 20}, {1e-4, 0.01, 0.3}}, {{0.5, 0, 15}, {0.2, 2, 8}}, {{-0.05, 3, 11}, {0.05, 0.4, 0.5}}}) {
    for (size_t M = 1; M <= 3; ++M) {
      const Box part{{box.lo.begin(), box.lo.begin() + static_cast<std::ptrdiff_t>(M)},
                     {box.hi.begin(), box.hi.begin() + static_cast<std::ptrdiff_t>(M)}};
      double expected = 0;
      for (size_t k = 0; k < M; ++k)
        expected += std::log(mass(part.lo[k], part.hi[k], mean[k], sd[k]) / (part.hi[k] - part.lo[k]));
      Function likelihood([&, mean = mean, sd = sd](std::span<const double> theta) {
        double sum = 0;
        for (size_t k = 0; k < M; ++k) sum += log_normal(theta[k], mean[k], sd[k]);
        return sum;
      });
      const Evidence evidence = evidence_by_quadrature(likelihood, part);
      EXPECT_EQ(evidence.why_not, "");
      EXPECT_EQ(evidence.modes, 1);
      EXPECT_NEAR(evidence.log_value, expected, 1e-3) << "M " << M << ", " << evidence.evaluations << " evaluations";
      std::vector<double> inside = part.lo;
      for (size_t k = 0; k < M; ++k) inside[k] = std::min(std::max(mean[k], part.lo[k]), part.hi[k]);
      double density = 0;  // of the truncated normal
      for (size_t k = 0; k < M; ++k)
        density += log_normal(inside[k], mean[k], sd[k]) - std::log(mass(part.lo[k], part.hi[k], mean[k], sd[k]));
      EXPECT_NEAR(log_posterior(likelihood, part, evidence, inside), density, 1e-3);
    }
  }
}

// A likelihood that sees only |theta_0|: two mirror modes, narrow enough to be two regions. Each holds half.
TEST(exact_posterior_test, two_mirror_modes) {
  const Box box{{-2, 0}, {2, 1}};
  for (const double sd : {0.003, 0.05, 0.3}) {  // the widest are one region
    Function likelihood([&](std::span<const double> theta) {
      return log_normal(std::abs(theta[0]), 1.1, sd) + log_normal(theta[1], 0.4, 0.02);
    });
    const Evidence evidence = evidence_by_quadrature(likelihood, box);
    const double expected = std::log(2 * mass(0, 2, 1.1, sd) / 4 * mass(0, 1, 0.4, 0.02));
    EXPECT_EQ(evidence.why_not, "");
    EXPECT_EQ(evidence.modes, sd < 0.1 ? 2 : 1) << sd;
    EXPECT_NEAR(evidence.log_value, expected, 1e-3) << sd;
  }
}

// A thin curved ridge: theta_1 close to theta_0^2. In theta_1 it is a normal integral for every theta_0.
TEST(exact_posterior_test, curved_ridge) {
  const Box box{{-1, -3}, {1, 3}};
  Function likelihood([&](std::span<const double> theta) {
    return log_normal(theta[0], 0.1, 0.3) + log_normal(theta[1], theta[0] * theta[0], 0.01);
  });
  const Evidence evidence = evidence_by_quadrature(likelihood, box);
  EXPECT_EQ(evidence.why_not, "");
  EXPECT_NEAR(evidence.log_value, std::log(mass(-1, 1, 0.1, 0.3) / 12), 1e-3) << evidence.evaluations;
}

TEST(exact_posterior_test, strong_correlation_in_three_parameters) {
  const Box box{{-5, -5, -5}, {5, 5, 5}};  // theta_0 + theta_1 and theta_1 + theta_2 are known well, theta_1 less so
  Function likelihood([](std::span<const double> t) {
    return log_normal(t[0] + t[1], 0.3, 0.002) + log_normal(t[1] + t[2], 0.1, 0.004) + log_normal(t[1], 0, 0.1);
  });
  const Evidence evidence = evidence_by_quadrature(likelihood, box);
  EXPECT_EQ(evidence.why_not, "");
  EXPECT_NEAR(evidence.log_value, -3 * std::log(10.0), 1e-3) << evidence.evaluations;
}

// The weights of draws from a normal density twice as wide as the posterior: their effective number is known.
TEST(exact_posterior_test, importance_sampling_and_its_effective_number) {
  const size_t M = 4, n = 20000;
  const Box box{std::vector<double>(M, -50.0), std::vector<double>(M, 50.0)};
  Function likelihood([&](std::span<const double> theta) {
    double sum = 0;
    for (size_t k = 0; k < M; ++k) sum += log_normal(theta[k], 0.5, 1);
    return sum;
  });
  EXPECT_NE(evidence_by_quadrature(likelihood, box).why_not, "");
  const auto sample = [&](double sd, double shift) {
    DrawStream stream(3);
    std::vector<double> draws, logs;
    for (size_t i = 0; i < n; ++i) {
      logs.push_back(0);
      for (size_t k = 0; k < M; ++k) {
        const double z = stream.normal();
        draws.push_back(0.5 + shift + sd * z);
        logs.back() += log_normal(z, 0, 1) - std::log(sd);
      }
    }
    return evidence_by_sampling(likelihood, box, draws, logs);
  };
  const Evidence good = sample(1.5, 0);
  // E w^2 = prod s^2 / sqrt(2 s^2 - 1) per parameter, here 2.25 / sqrt(3.5).
  EXPECT_NEAR(good.effective / n, std::pow(2.25 / std::sqrt(3.5), -4.0), 0.02);
  EXPECT_NEAR(good.log_value, -4 * std::log(100.0), 4 * good.error);
  EXPECT_LT(good.error, 0.01);
  EXPECT_EQ(good.why_not, "");
  EXPECT_NE(sample(0.5, 5).why_not.find("effective draws of 20000"), std::string::npos);
}

TEST(exact_posterior_test, agrees_with_the_ornstein_uhlenbeck_posterior) {
  const SystemChoice choice = load_system("soup");
  const auto exact = ExactLikelihood::recognise(choice.system, 0);
  const Box box{{-0.5, 0.01}, {1.5, 1}};
  OuProcess process{
      {-0.5, 0.01}, {1.5, 1}, [](const double t[2], double& tau, double& D) { tau = std::pow(10, t[0]), D = t[1]; },
      0.01,         10,       500};
  for (const int64_t length : {50, 1000}) {
    const size_t n = static_cast<size_t>(length);
    std::vector<float> theta(2 * 10), z(10 * n);
    Simulator(choice.system, 0, {.seed = 9, .length = length, .kernel = KernelChoice::kLanes})
        .run(0, 10, theta.data(), z.data());
    for (size_t i = 0; i < 10; ++i) {
      const auto likelihood = exact->of({&z[i * n], n}, 0.1);
      const Evidence evidence = evidence_by_quadrature(*likelihood, box);
      const std::vector<double> truth = {theta[2 * i], theta[2 * i + 1]};
      EXPECT_EQ(evidence.why_not, "");
      EXPECT_NEAR(log_posterior(*likelihood, box, evidence, truth),
                  OuPosterior(process, &z[i * n], length).log_density(truth.data()), 2e-3)
          << length << ": " << i << ", " << evidence.evaluations << " evaluations";
    }
  }
}

}  // namespace
}  // namespace penn
