// Transition densities, linear states with stable and fractional noise, and measured noise, against formulas written by
// hand.
#include "penn/likelihood/exact_likelihood.h"

#include <gtest/gtest.h>

#include "brute_force.h"
#include "penn/likelihood/stable_density.h"
#include "penn/system/load_system.h"
#include "penn/system/parse_system.h"

namespace penn {
namespace {

using namespace brute_force;

System parse(const std::string& equations, const std::string& rest) {
  return parse_system(equations + rest, "test.toml");
}
// Any numbers will do for a trajectory: both sides are densities at the same point.
std::vector<float> wiggle(size_t n) {
  std::vector<float> z(n);
  for (size_t k = 0; k < n; ++k)
    z[k] = static_cast<float>(1.5 + 0.6 * std::sin(0.7 * static_cast<double>(k)) +
                              0.3 * std::sin(static_cast<double>(k * k)));
  return z;
}

const char* const kEveryStep = R"(
[simulation]
step = 0.1
sampling = 0.1
length = 30
)";

TEST(exact_likelihood_test, multiplicative_noises_that_are_shared) {
  const System system = parse(R"toml(
[parameters]
a = [0.5, 2]
b = [0.5, 2]
s = [0.1, 1]
[noise]
B = "gaussian()"
C = "gaussian()"
[equations]
x = "a*x - b*x*y + s*x*B"
y = "b*x*y - y + 0.2*y*B + 0.4*C"
[initial]
x = 1.5
y = { uniform = [1, 3] }
[observe]
y = "y"
x = "x"
)toml",
                              kEveryStep);
  std::vector<float> z = wiggle(60);
  const double theta[3] = {1.1, 0.7, 0.3};
  double expected = -std::log(2.0);  // y's first value
  for (size_t k = 0; k + 1 < 30; ++k) {
    const double y = z[2 * k], x = z[2 * k + 1];
    const double e = z[2 * k + 3] - x - 0.1 * (1.1 * x - 0.7 * x * y), f = z[2 * k + 2] - y - 0.1 * (0.7 * x * y - y);
    const double vx = 0.1 * 0.09 * x * x, c = 0.1 * 0.3 * x * 0.2 * y, vy = 0.1 * (0.04 * y * y + 0.16);
    expected += log_normal(e, 0, vx) + log_normal(f, c / vx * e, vy - c * c / vx);
  }
  EXPECT_NEAR(recognised(system, "every state observed").of(z, 0.1)->log_likelihood(theta), expected,
              1e-8 * std::abs(expected));
}

TEST(exact_likelihood_test, stable_noise_on_a_nonlinear_drift) {
  const System system = parse(R"toml(
[parameters]
a = [0.5, 2]
s = [0.1, 1]
alpha = [1.1, 2]
[noise]
L = "stable(alpha)"
B = "gaussian()"
[equations]
x = "a*x - x^3 + s*y*L"
y = "-y + B"
[initial]
x = 0
y = 1
[observe]
x = "x"
y = "y"
)toml",
                              std::string(kEveryStep) + "burn_in = 10\n");
  const std::vector<float> z = wiggle(60);
  const double theta[3] = {1.1, 0.3, 1.37};
  double expected = 0;
  for (size_t k = 0; k + 1 < 30; ++k) {
    const double x = z[2 * k], y = z[2 * k + 1], scale = 0.3 * y * std::pow(0.1, 1 / 1.37);
    expected +=
        std::log(stable_density_by_quadrature((z[2 * k + 2] - x - 0.1 * (1.1 * x - x * x * x)) / scale, 1.37) / scale);
    expected += log_normal(z[2 * k + 3], 0.9 * y, 0.1);
  }
  const std::string note = "given the first sample, whose distribution after the burn-in is not counted";
  EXPECT_NEAR(recognised(system, "every state observed", note).of(z, 0.1)->log_likelihood(theta), expected, 1e-6);
}

const char* const kRelaxation = R"toml(
[parameters]
a = [0.5, 2]
s = [0.1, 1]
p = [0.6, 0.95]
[noise]
N = "NOISE"
[equations]
x = "1 - a*x + s*N"
[initial]
x = 0.7
[observe]
x = "x"
[simulation]
step = 0.05
sampling = 0.15
burn_in = 4
length = 12
)toml";
System relaxation(const std::string& noise, std::string text = kRelaxation) {
  text.replace(text.find("NOISE"), 5, noise);
  return parse_system(text, "test.toml");
}

// Asymmetric stable noise is not the symmetric one, whatever its beta; nor do jumps have a density here.
TEST(exact_likelihood_test, noises_without_a_known_density_are_refused) {
  for (const std::string noise : {"stable(2*p, 0)", "stable(1.5, p)", "compound_poisson(p)"}) {
    const System one_state = relaxation(noise);
    std::string every_step = kRelaxation, measured = kRelaxation;
    every_step.replace(every_step.find("step = 0.05"), 11, "step = 0.15");
    measured.replace(measured.find(" + s*N"), 6, "");
    measured.replace(measured.find("x = \"x\""), 7, "x = \"x + s*N\"");
    for (const System& system : {one_state, relaxation(noise, every_step), relaxation(noise, measured)}) {
      std::string why_not;
      EXPECT_FALSE(ExactLikelihood::recognise(system, 0, &why_not)) << noise;
      EXPECT_EQ(why_not.rfind("no density is known here for the noise 'N' = ", 0), 0u) << why_not;
    }
  }
}

// Steps of 0.05, three per sample, four samples of burn-in.
Samples relaxation_samples(double a, double scale, int burn_in = 4) {
  return [=](const std::vector<double>& noise) {
    std::vector<double> z;
    double x = 0.7;
    size_t j = 0;
    for (int k = -burn_in; k < 12; ++k) {
      if (k >= 0) z.push_back(x);
      for (int i = 0; i < 3; ++i) x += 0.05 * (1 - a * x) + scale * noise[j++];
    }
    return z;
  };
}

TEST(exact_likelihood_test, linear_state_with_fractional_noise_burn_in_and_several_steps) {
  const std::vector<float> z = wiggle(12);
  for (const double H : {0.62, 0.93}) {
    const double theta[3] = {1.2, 0.5, H};
    const auto K = [&](size_t i, size_t j) {
      return fractional_covariance(i > j ? static_cast<double>(i - j) : static_cast<double>(j - i), H);
    };
    const double expected = log_density(relaxation_samples(1.2, 0.5 * std::pow(0.05, H)), 48, K, z);
    EXPECT_NEAR(recognised(relaxation("fractional(p)"), "fractional").of(z, 0.15)->log_likelihood(theta), expected,
                1e-8 * std::abs(expected));
    const double smooth = log_density(
        relaxation_samples(1.2, 0.5 * std::pow(0.05, 1 - H)), 48,
        [&](size_t i, size_t j) {
          return fractional_covariance(std::abs(static_cast<double>(i) - static_cast<double>(j)), 1 - H);
        },
        z);
    EXPECT_NEAR(recognised(relaxation("fractional(1 - p)"), "fractional").of(z, 0.15)->log_likelihood(theta), smooth,
                1e-8 * std::abs(smooth));
  }
}

TEST(exact_likelihood_test, fractional_and_white_noise_add_up) {
  std::string text = kRelaxation;
  text.replace(text.find("s*N"), 3, "s*N + 0.4*B");
  text.replace(text.find("[noise]"), 7, "[noise]\nB = \"gaussian()\"");
  const std::vector<float> z = wiggle(12);
  const double theta[3] = {1.2, 0.5, 0.8};
  const auto K = [&](size_t i, size_t j) {  // of the sum of both increments
    const double lag = std::abs(static_cast<double>(i) - static_cast<double>(j));
    return 0.25 * std::pow(0.05, 1.6) * fractional_covariance(lag, 0.8) + (i == j ? 0.16 * 0.05 : 0);
  };
  EXPECT_NEAR(recognised(relaxation("fractional(p)", text), "fractional").of(z, 0.15)->log_likelihood(theta),
              log_density(relaxation_samples(1.2, 1), 48, K, z), 1e-8);
}

TEST(exact_likelihood_test, without_burn_in_the_first_value_is_known) {
  std::string text = kRelaxation;
  text.replace(text.find("burn_in = 4"), 11, "burn_in = 0");
  std::vector<float> z = wiggle(12);
  z[0] = 0.7f;
  const double theta[3] = {1.2, 0.5, 0.8};
  const auto K = [&](size_t i, size_t j) {
    return fractional_covariance(std::abs(static_cast<double>(i) - static_cast<double>(j)), 0.8);
  };
  EXPECT_NEAR(recognised(relaxation("fractional(p)", text), "fractional").of(z, 0.15)->log_likelihood(theta),
              log_density(relaxation_samples(1.2, 0.5 * std::pow(0.05, 0.8), 0), 36, K, z, 1),
              1e-5);  // 0.7 is no float
}

// alpha = 2 is Gaussian with twice the variance; the scales of Cauchy variables add.
TEST(exact_likelihood_test, linear_state_with_stable_noise) {
  const std::vector<float> z = wiggle(12);
  const double theta[3] = {1.2, 0.5, 0.8}, r = 1 - 0.05 * 1.2;
  EXPECT_NEAR(recognised(relaxation("stable(2 + 0*p)"), "stable").of(z, 0.15)->log_likelihood(theta),
              log_density(relaxation_samples(1.2, 0.5 * std::sqrt(2 * 0.05)), 48, white, z), 1e-6);
  const auto log_cauchy = [](double e, double scale) {
    return -std::log(std::numbers::pi * scale * (1 + e * e / (scale * scale)));
  };
  const double rest = 1 / 1.2;  // fixed point of the drift
  double start = 0, expected = 0;
  for (int i = 0; i < 12; ++i) start += 0.5 * 0.05 * std::pow(r, i);
  expected = log_cauchy(z[0] - rest - std::pow(r, 12) * (0.7 - rest), start);
  for (size_t k = 0; k + 1 < 12; ++k)
    expected += log_cauchy(z[k + 1] - rest - r * r * r * (z[k] - rest), 0.5 * 0.05 * (1 + r + r * r));
  EXPECT_NEAR(recognised(relaxation("stable(1 + 0*p)"), "stable").of(z, 0.15)->log_likelihood(theta), expected, 1e-5);
}

TEST(exact_likelihood_test, fractional_noise_on_a_nonlinear_drift) {
  const System system = parse(R"toml(
[parameters]
a = [0.5, 2]
H = [0.2, 0.9]
[noise]
W = "fractional(H)"
[equations]
x = "a*x - x^3 + cos(t) + 0.3*W"
[initial]
x = 1.5
[observe]
x = "x"
)toml",
                              kEveryStep);
  const std::vector<float> z = wiggle(30);
  const double theta[2] = {1.1, 0.7};
  const Samples residual_of = [&](const std::vector<double>& noise) { return noise; };
  std::vector<double> e;
  for (size_t k = 0; k + 1 < 30; ++k) {
    const double x = z[k];
    e.push_back(z[k + 1] - x - 0.1 * (1.1 * x - x * x * x + std::cos(0.1 * static_cast<double>(k))));
  }
  const auto K = [](size_t i, size_t j) {
    return 0.09 * std::pow(0.1, 1.4) *
           fractional_covariance(std::abs(static_cast<double>(i) - static_cast<double>(j)), 0.7);
  };
  EXPECT_NEAR(recognised(system, "every state observed").of(z, 0.1)->log_likelihood(theta),
              log_density(residual_of, 29, K, e), 1e-7);
}

TEST(exact_likelihood_test, measured_fractional_noise_on_a_line) {
  const System system = parse_system(R"toml(
[parameters]
H = [0.05, 0.95]
sigma = [0.5, 2]
slope = [-0.1, 0.1]
[noise]
W = "fractional(H)"
E = "gaussian()"
[observe]
y = "slope*t + sigma*W + 0.3*E"
[simulation]
sampling = 2
length = 40
)toml",
                                     "test.toml");
  const std::vector<float> z = wiggle(40);
  const double theta[3] = {0.3, 1.4, 0.02};
  const Samples samples = [](const std::vector<double>& noise) {
    std::vector<double> y = noise;
    for (size_t k = 0; k < y.size(); ++k) y[k] += 0.02 * 2 * static_cast<double>(k);
    return y;
  };
  const auto K = [](size_t i, size_t j) {
    return 1.96 * fractional_covariance(std::abs(static_cast<double>(i) - static_cast<double>(j)), 0.3) +
           (i == j ? 0.09 : 0);
  };
  EXPECT_NEAR(recognised(system, "measured noise").of(z, 2)->log_likelihood(theta), log_density(samples, 40, K, z),
              1e-8);
}

TEST(exact_likelihood_test, what_is_not_known_is_refused) {
  EXPECT_NE(reasons(find_system("oup")).find("stable noise is added to another noise"), std::string::npos);
  EXPECT_NE(reasons(find_system("dvdp")).find("the drift of 'y' is not linear"), std::string::npos);
  EXPECT_NE(reasons(find_system("cfhn")).find("the noise 'L1' is not gaussian()"), std::string::npos);
  EXPECT_NE(reasons(find_system("airfoil")).find("nuisance"), std::string::npos);
  EXPECT_NE(reasons(relaxation("stable(p/2)")).find("alpha of at least 0.5"), std::string::npos);
  const std::string cubic = R"toml(
[parameters]
a = [0.5, 2]
[noise]
B = "gaussian()"
L = "stable(1.5)"
[equations]
x = "a*x - x^3 + B + L"
y = "-a*y + B"
[initial]
x = 0
y = 0
[observe]
x = "x"
y = "y"
)toml";
  EXPECT_NE(reasons(parse(cubic, kEveryStep)).find("add up to no known density"), std::string::npos);
  std::string shared = cubic;
  shared.replace(shared.find(" + L"), 4, "");
  shared.replace(shared.find("L = \"stable(1.5)\""), 17, "");
  EXPECT_NE(reasons(parse(shared, kEveryStep)).find("share all their noises"), std::string::npos);
}

}  // namespace
}  // namespace penn
