// The Kalman filter against the density of the whole trajectory, the systems written a second time by hand.
#include <gtest/gtest.h>

#include "brute_force.h"
#include "penn/posterior/ou_posterior.h"
#include "penn/simulate/simulator.h"
#include "penn/system/load_system.h"
#include "penn/system/parse_system.h"

namespace penn {
namespace {

using namespace brute_force;

struct Case {
  System system;
  std::vector<float> theta, z;
  Case(const std::string& text, int64_t length) : system(parse_system(text, "test.toml")) {
    const Simulator simulator(system, 0, {.seed = 5, .length = length, .kernel = KernelChoice::kInterpreted});
    theta.resize(static_cast<size_t>(simulator.parameters()));
    z.resize(static_cast<size_t>(length * simulator.channels()));
    simulator.run(0, 1, theta.data(), z.data());
  }
};

const char* const kOscillator = R"toml(
[parameters]
k = [0.5, 2]
c = [0.1, 0.5]
s = [0.5, 1.5]
e = [0.05, 0.2]
[noise]
B = "gaussian()"
E = "gaussian()"
[equations]
x = "v"
v = "-k*x - c*v + 0.3*k + s*B"
[initial]
x = 0.5
v = "c"
[observe]
y = "x + e*E"
[simulation]
step = 0.05
sampling = 0.2
burn_in = 3
length = 12
)toml";

TEST(linear_gaussian_test, hidden_velocity_and_measurement_noise) {
  const Case c(kOscillator, 12);
  const auto likelihood = recognised(c.system, "Kalman").of(c.z, 0.2);
  for (const std::vector<double>& theta : {std::vector<double>{0.8, 0.2, 1.0, 0.1}, {1.7, 0.4, 0.6, 0.06}}) {
    const double k = theta[0], damping = theta[1], s = theta[2], e = theta[3];
    const Samples samples = [&](const std::vector<double>& noise) {
      std::vector<double> y;
      double x = 0.5, v = damping;
      size_t j = 0;
      for (int sample = -3; sample < 12; ++sample) {
        if (sample >= 0) y.push_back(x + e * noise[60 + static_cast<size_t>(sample)]);
        for (int i = 0; i < 4; ++i) {
          const double next = x + 0.05 * v;
          v += 0.05 * (-k * x - damping * v + 0.3 * k) + s * std::sqrt(0.05) * noise[j++];
          x = next;
        }
      }
      return y;
    };
    EXPECT_NEAR(likelihood->log_likelihood(theta), log_density(samples, 72, white, c.z), 1e-8);
  }
}

TEST(linear_gaussian_test, forcing_and_coefficients_that_depend_on_time) {
  const Case c(R"toml(
[parameters]
a = [0.5, 2]
s = [0.5, 1.5]
[noise]
B = "gaussian()"
C = "gaussian()"
[equations]
x = "-a*(1 + 0.5*sin(t))*x + cos(2*t) + s*(1 + 0.2*t)*B"
y = "x - y + 0.5*B + C"
[initial]
x = 1
y = 0
[observe]
sum = "x + 2*y + t"
x = "x"
[simulation]
step = 0.05
sampling = 0.1
burn_in = 2
length = 10
)toml",
               10);
  const double theta[2] = {0.9, 1.2};
  const Samples samples = [&](const std::vector<double>& noise) {
    std::vector<double> z;
    double x = 1, y = 0;
    for (int i = -4; i < 20; ++i) {
      const double t = 0.05 * i, B = std::sqrt(0.05) * noise[static_cast<size_t>(i + 4)],
                   C = std::sqrt(0.05) * noise[static_cast<size_t>(i + 28)];
      if (i >= 0 && i % 2 == 0) z.push_back(x + 2 * y + t), z.push_back(x);
      const double next = x + 0.05 * (-0.9 * (1 + 0.5 * std::sin(t)) * x + std::cos(2 * t)) + 1.2 * (1 + 0.2 * t) * B;
      y += 0.05 * (x - y) + 0.5 * B + C;
      x = next;
    }
    return z;
  };
  const auto likelihood = recognised(c.system, "Kalman").of(c.z, 0.1);
  EXPECT_NEAR(likelihood->log_likelihood(theta), log_density(samples, 48, white, c.z), 1e-8);
}

// Without a burn-in the first sample is the initial value: known, and no density. Position and velocity seen, one step
// per sample: the position is known beforehand and says nothing.
TEST(linear_gaussian_test, what_is_known_beforehand_does_not_count) {
  const Case c(R"toml(
[parameters]
k = [0.5, 2]
s = [0.5, 1.5]
[noise]
B = "gaussian()"
[equations]
x = "v"
v = "-k*x + s*B"
[initial]
x = 1
v = 0
[observe]
v = "v"
x = "x"
[simulation]
step = 0.1
sampling = 0.1
length = 20
)toml",
               20);
  const double theta[2] = {1.3, 0.8};
  double expected = 0;
  for (size_t k = 0; k + 1 < 20; ++k) {
    const double v = c.z[2 * k], x = c.z[2 * k + 1];
    expected += log_normal(c.z[2 * k + 2], v - 0.1 * 1.3 * x, 0.1 * 0.64);
  }
  EXPECT_NEAR(recognised(c.system, "Kalman").of(c.z, 0.1)->log_likelihood(theta), expected, 1e-8);
}

// The spread of a drawn first state is a density of its own.
TEST(linear_gaussian_test, uniform_start_that_is_seen) {
  const Case c(R"toml(
[parameters]
a = [0.5, 2]
[noise]
B = "gaussian()"
[equations]
x = "-a*x + B"
[initial]
x = { uniform = [-3, 1] }
[observe]
x = "x"
[simulation]
step = 0.05
sampling = 0.1
length = 15
)toml",
               15);
  const double a = 1.1, r = 1 - 0.05 * a;
  double expected = -std::log(4.0);
  for (size_t k = 0; k + 1 < 15; ++k) expected += log_normal(c.z[k + 1], r * r * c.z[k], 0.05 * (1 + r * r));
  EXPECT_NEAR(recognised(c.system, "Kalman").of(c.z, 0.1)->log_likelihood({&a, 1}), expected, 1e-8);
}

TEST(linear_gaussian_test, agrees_with_the_ornstein_uhlenbeck_posterior) {
  const SystemChoice choice = load_system("soup");
  const ExactLikelihood exact = recognised(choice.system, "Kalman");
  std::vector<float> theta(2 * 3), z(3 * 1000);
  Simulator(choice.system, 0, {.seed = 9, .kernel = KernelChoice::kLanes}).run(0, 3, theta.data(), z.data());
  OuProcess process{
      {-0.5, 0.01}, {1.5, 1}, [](const double t[2], double& tau, double& D) { tau = std::pow(10, t[0]), D = t[1]; },
      0.01,         10,       500};
  for (size_t i = 0; i < 3; ++i) {
    const OuPosterior posterior(process, &z[i * 1000], 1000);
    const auto likelihood = exact.of({&z[i * 1000], 1000}, 0.1);
    for (const double lg_tau : {-0.4, 0.3, 1.4})
      for (const double D : {0.05, 0.5, 0.9}) {
        const double at[2] = {lg_tau, D};
        EXPECT_NEAR(likelihood->log_likelihood(at), posterior.log_likelihood(at),
                    1e-7 * std::abs(posterior.log_likelihood(at)));
      }
  }
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(linear_gaussian_test, others_are_refused_with_a_reason) {
  const auto why = [](const std::string& text) { return reasons(parse_system(text, "test.toml")); };
  EXPECT_NE(why(with(kOscillator, "- c*v", "- c*v*abs(v)")).find("drift of 'v' is not linear"), std::string::npos);
  EXPECT_NE(why(with(kOscillator, "- c*v", "- c*sign(v)")).find("drift of 'v' is not linear"), std::string::npos);
  EXPECT_NE(why(with(kOscillator, "s*B", "s*x*B")).find("depends on the state"), std::string::npos);
  EXPECT_NE(why(with(kOscillator, "x + e*E", "x*exp(e*E)")).find("not linear in states and noises"), std::string::npos);
  EXPECT_NE(why(with(kOscillator, "x = 0.5", "x = { uniform = [-5, 5] }")).find("does not forget"), std::string::npos);
  EXPECT_EQ(why(with(with(kOscillator, "x = 0.5", "x = { uniform = [-1, 1] }"), "burn_in = 3", "burn_in = 300")),
            "recognised");
  // One step per sample: x_1 = x_0 + step v_0 is known, and v_0 = c. The first two samples would give c away.
  const std::string seen = with(with(kOscillator, "x + e*E", "x + 0*e*E"), "burn_in = 3", "burn_in = 0");
  EXPECT_EQ(why(seen), "recognised");
  EXPECT_NE(why(with(seen, "sampling = 0.2", "sampling = 0.05")).find("fixed by the parameters"), std::string::npos);
}

}  // namespace
}  // namespace penn
