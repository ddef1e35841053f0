// Do likelihood and simulator belong together? At the true parameters the score s = d ln p / d theta has mean 0 and
// E[s^2 + s'] = 0 (Bartlett's identities), for any theta, so also on average over the prior. A wrong scale, power of
// the step, burn-in or sign breaks one of them. 400 trajectories, derivatives by differences over a thousandth of the
// range; 4 standard errors.
#include <gtest/gtest.h>

#include <cmath>

#include "penn/likelihood/exact_likelihood.h"
#include "penn/simulate/simulator.h"
#include "penn/system/parse_system.h"

namespace penn {
namespace {

void expect_bartlett(const std::string& text) {
  const System system = parse_system(text, "test.toml");
  std::string why_not;
  const auto exact = ExactLikelihood::recognise(system, 0, &why_not);
  ASSERT_TRUE(exact) << why_not;
  const Simulator simulator(system, 0, {.seed = 21, .kernel = KernelChoice::kLanes});
  const size_t count = 400, M = system.parameters.size(),
               values = static_cast<size_t>(simulator.length() * simulator.channels());
  std::vector<float> theta(count * M), z(count * values), sampling(count);
  simulator.run(0, static_cast<int64_t>(count), theta.data(), z.data(), sampling.data());
  for (size_t k = 0; k < M; ++k) {
    const Range range = system.parameters[k].range;
    const double h = 1e-3 * (range.high - range.low);
    double score = 0, score2 = 0, identity = 0, identity2 = 0;
    for (size_t i = 0; i < count; ++i) {
      const auto likelihood = exact->of({&z[i * values], values}, sampling[i]);
      std::vector<double> at(theta.begin() + static_cast<std::ptrdiff_t>(i * M),
                             theta.begin() + static_cast<std::ptrdiff_t>((i + 1) * M));
      const double centre = likelihood->log_likelihood(at), truth = at[k];
      at[k] = truth + h;
      const double up = likelihood->log_likelihood(at);
      at[k] = truth - h;
      const double down = likelihood->log_likelihood(at);
      const double s = (up - down) / (2 * h), b = s * s + (up - 2 * centre + down) / (h * h);
      ASSERT_TRUE(std::isfinite(s)) << "trajectory " << i;
      score += s, score2 += s * s, identity += b, identity2 += b * b;
    }
    EXPECT_LT(std::abs(score), 4 * std::sqrt(score2)) << system.parameters[k].name;
    EXPECT_LT(std::abs(identity), 4 * std::sqrt(identity2)) << system.parameters[k].name;
    EXPECT_GT(score2, 0) << system.parameters[k].name;
  }
}

TEST(score_test, oscillator_measured_with_noise) {
  expect_bartlett(R"toml(
[parameters]
k = [0.5, 2]
c = [0.2, 0.8]
s = [0.5, 1.5]
e = [0.1, 0.3]
[noise]
B = "gaussian()"
E = "gaussian()"
[equations]
x = "v"
v = "-k*x - c*v + s*B"
[initial]
x = { uniform = [-1, 1] }
v = 0
[observe]
y = "x + e*E"
[simulation]
step = 0.05
sampling = 0.25
burn_in = 100
length = 80
)toml");
}

TEST(score_test, relaxation_driven_by_stable_noise) {
  expect_bartlett(R"toml(
[parameters]
tau = [0.5, 3]
s = [0.5, 1.5]
alpha = [1.05, 1.95]
[noise]
L = "stable(alpha)"
[equations]
x = "(1 - x)/tau + s*L"
[initial]
x = 0
[observe]
x = "x"
[simulation]
step = 0.02
sampling = [0.1, 0.2]
burn_in = 5
length = 80
)toml");
}

TEST(score_test, relaxation_driven_by_fractional_and_white_noise) {
  expect_bartlett(R"toml(
[parameters]
tau = [0.5, 3]
s = [0.5, 1.5]
H = [0.1, 0.9]
[noise]
W = "fractional(H)"
B = "gaussian()"
[equations]
x = "-x/tau + s*W + 0.3*B"
[initial]
x = 0
[observe]
x = "x"
[simulation]
step = 0.05
sampling = 0.2
burn_in = 10
length = 60
)toml");
}

TEST(score_test, predator_and_prey_with_multiplicative_noise) {
  expect_bartlett(R"toml(
[parameters]
a = [0.6, 1.4]
b = [0.6, 1.4]
s = [0.05, 0.2]
[noise]
B = "gaussian()"
C = "gaussian()"
[equations]
x = "a*x - b*x*y + s*x*B"
y = "b*x*y - y + s*y*(0.5*B + C)"
[initial]
x = { uniform = [0.5, 1.5] }
y = 1
[observe]
y = "y"
x = "x"
[simulation]
step = 0.05
sampling = 0.05
length = 100
)toml");
}

TEST(score_test, double_well_driven_by_stable_noise) {
  expect_bartlett(R"toml(
[parameters]
a = [0.5, 2]
s = [0.1, 0.5]
alpha = [1.5, 1.95]
[noise]
L = "stable(alpha)"
[equations]
x = "a*tanh(2*x) - x + s*L"
[initial]
x = 0.5
[observe]
x = "x"
[simulation]
step = 0.05
sampling = 0.05
length = 100
)toml");
}

TEST(score_test, double_well_driven_by_fractional_noise) {
  expect_bartlett(R"toml(
[parameters]
a = [0.5, 2]
s = [0.3, 1]
H = [0.1, 0.9]
[noise]
W = "fractional(H)"
[equations]
x = "a*x - x^3 + s*W"
[initial]
x = 0.5
[observe]
x = "x"
[simulation]
step = 0.02
sampling = 0.02
length = 100
)toml");
}

TEST(score_test, fractional_noise_on_a_line) {
  expect_bartlett(R"toml(
[parameters]
H = [0.1, 0.9]
sigma = [0.5, 2]
slope = [-0.1, 0.1]
[noise]
W = "fractional(H)"
[observe]
y = "slope*t + sigma*W"
[simulation]
sampling = 0.5
length = 80
)toml");
}

}  // namespace
}  // namespace penn
