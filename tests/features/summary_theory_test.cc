// The statistics where theory knows the answer, and the symmetries they must have.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

#include "penn/features/definitions.h"
#include "penn/features/measure_scaling.h"
#include "penn/features/summary.h"
#include "penn/noise/gaussian.h"
#include "penn/simulate/simulator.h"
#include "penn/system/load_system.h"

namespace penn {
namespace {

// Means of the features over trajectories, by name.
struct Features {
  std::map<std::string, double> mean, sd;
  double operator[](const std::string& name) const {
    EXPECT_EQ(mean.count(name), 1u) << name;
    return mean.at(name);
  }
};

Features features(const std::vector<float>& z, int64_t B, int64_t n, const SummaryScaling& scaling,
                  const std::vector<std::string>& channels = {"x"}) {
  SummaryOptions options;
  options.channels = channels;
  const Summary summary(options, scaling);
  std::vector<float> out(static_cast<size_t>(B * summary.size()));
  summary.compute(z.data(), B, n, out.data());
  Features result;
  for (int64_t f = 0; f < summary.size(); ++f) {
    double sum = 0, squares = 0;
    for (int64_t b = 0; b < B; ++b) sum += out[b * summary.size() + f];
    const double mean = sum / static_cast<double>(B);
    for (int64_t b = 0; b < B; ++b) squares += std::pow(out[b * summary.size() + f] - mean, 2);
    result.mean[summary.names()[f]] = mean;
    result.sd[summary.names()[f]] = std::sqrt(squares / static_cast<double>(std::max<int64_t>(B - 1, 1)));
  }
  return result;
}

double normal(int64_t trajectory, uint32_t stream, int64_t t) {
  return gaussian_reference({11, static_cast<uint64_t>(trajectory), 0}, stream, static_cast<uint64_t>(t));
}

// B trajectories of n values made one after the other: next(trajectory, t, values so far).
std::vector<float> trajectories(int64_t B, int64_t n,
                                const std::function<double(int64_t, int64_t, const std::vector<double>&)>& next) {
  std::vector<float> z;
  for (int64_t b = 0; b < B; ++b) {
    std::vector<double> x;
    for (int64_t t = 0; t < n; ++t) x.push_back(next(b, t, x));
    z.insert(z.end(), x.begin(), x.end());
  }
  return z;
}

double integrate_normal(const std::function<double(double)>& f) {
  double sum = 0;
  for (double g = -8; g < 8; g += 1e-3) sum += f(g + 5e-4) * std::exp(-0.5 * (g + 5e-4) * (g + 5e-4));
  return sum * 1e-3 / std::sqrt(2 * M_PI);
}

const double kLogSize = -0.5 * (0.5772156649 + std::log(2.0));  // E ln|g|, g ~ N(0, 1)

// 200 trajectories of 1000: a mean of terms with deviation 1 is good to 0.0022, 0.01 is 4.5 times that.
TEST(summary_theory_test, white_noise_has_known_distribution_and_no_memory) {
  const int64_t B = 200, n = 1000;
  const auto z = trajectories(B, n, [](int64_t b, int64_t t, const auto&) { return normal(b, 0, t); });
  const Features f = features(z, B, n, {{ChannelScale{}}});
  EXPECT_NEAR(f["x lag 0 log scale"], kLogSize, 0.01);
  EXPECT_NEAR(f["x lag 0 log spread"], M_PI / std::sqrt(8.0), 0.01);
  EXPECT_NEAR(f["x lag 0 log rms"], 0, 0.01);
  for (const char* lag : {"1", "4", "64", "256"}) {
    EXPECT_NEAR(f["x lag " + std::string(lag) + " log scale"], kLogSize + 0.5 * std::log(2.0), 0.015);
    EXPECT_NEAR(f["x lag " + std::string(lag) + " log rms"], 0.5 * std::log(2.0), 0.01);
    EXPECT_NEAR(f["x lag " + std::string(lag) + " asymmetry"], 0, 0.04);
  }
  const double growth = integrate_normal([](double g) { return std::log1p(g * g / std::exp(2 * kLogSize)); });
  EXPECT_NEAR(f["x lag 0 growth"], growth, 0.01);
  for (const int k : kValueAutocorrelationLags)
    EXPECT_NEAR(f["x value autocorrelation " + std::to_string(k)], 0, 0.01) << k;
  for (const int k : kCentredAutocorrelationLags)
    EXPECT_NEAR(f["x centred value autocorrelation " + std::to_string(k)], -1.0 / n, 0.01) << k;
  // Weights that depend on the increment pull the robust slope towards 0, so neighbouring innovations keep some
  // correlation.
  for (size_t i = 1; i < kClippedAutocorrelationLags.size(); ++i)
    EXPECT_NEAR(f["x clipped innovation autocorrelation " + std::to_string(kClippedAutocorrelationLags[i])], 0, 0.01)
        << i;
  for (const int k : {2, 5, 16, 64}) EXPECT_NEAR(f["x increment autocorrelation " + std::to_string(k)], 0, 0.01) << k;
  EXPECT_NEAR(std::sinh(f["x slope"]) / 30, -1, 0.01);
}

TEST(summary_theory_test, fractions_are_the_distribution_function_of_the_normal_distribution) {
  const int64_t B = 200, n = 1000;
  const auto z =
      trajectories(B, n, [](int64_t b, int64_t t, const auto& x) { return (t ? x.back() : 0) + normal(b, 0, t); });
  const Features f = features(z, B, n, {{ChannelScale{.location = 0, .value = 30}}});
  int compared = 0;
  for (const auto& [name, value] : f.mean) {
    if (name.find("x lag 1 fraction below") == std::string::npos &&
        name.find("x innovation fraction") == std::string::npos)
      continue;
    for (int i = 0; i < kFractions; ++i) {
      const double low = kKnots[i], high = kKnots[i + 1], middle = std::exp((low + high) / 2);
      if (std::fabs(std::stod(name.substr(name.rfind(' '))) / middle - 1) > 0.01) continue;
      const double below = integrate_normal(
          [&](double g) { return std::clamp((high - std::log(std::fabs(g)) + kLogSize) / (high - low), 0.0, 1.0); });
      EXPECT_NEAR(value, std::sqrt(name.find("below") != std::string::npos ? below : std::max(1 - below, 0.0)), 0.01)
          << name;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 6 + kFractions);
}

// Given x in a bin, white noise has E[a] = -2 x, Var[a] = 2 + 4 Var[x], E[j^2] = 11 + 9 x^2, E[j j'] = -6 - 9 x^2
// (second and third difference a and j). Without the condition Var[j] = 20. Logarithms of averages over about 100
// samples are biased by a few %.
TEST(summary_theory_test, differences_of_white_noise_given_the_value) {
  const int64_t B = 200, n = 1000, bins = SummaryOptions{}.bins;
  const auto z = trajectories(B, n, [](int64_t b, int64_t t, const auto&) { return normal(b, 0, t); });
  const Features f = features(z, B, n, {{ChannelScale{.location = 0, .value = 2}}});
  double square = 0;
  for (int bin = 0; bin < bins; ++bin) {
    const auto hat = [&](double g) {
      return std::max(0.0, 1 - std::fabs((std::clamp(g / 2, -1.2, 1.2) / 1.2 + 1) / 2 * (bins - 1) - bin));
    };
    const double W = integrate_normal(hat), x = integrate_normal([&](double g) { return hat(g) * g; }) / W;
    const double xx = integrate_normal([&](double g) { return hat(g) * g * g; }) / W;
    const std::string name = "x bin " + std::to_string(bin + 1) + " ";
    square += W * std::exp(f[name + "log 3rd difference square"]);
    if (W * n < 40) continue;
    EXPECT_NEAR(f[name + "log fraction"], std::log(W), 0.02);
    EXPECT_NEAR(f[name + "2nd difference"], -2 * x, 0.05);
    EXPECT_NEAR(f[name + "log 2nd difference square"], std::log(2 + 4 * (xx - x * x)), 0.06);
    EXPECT_NEAR(f[name + "log 3rd difference square"], std::log(11 + 9 * xx), 0.06);
    EXPECT_NEAR(f[name + "3rd difference autocorrelation"], -(6 + 9 * xx) / (11 + 9 * xx), 0.03);
    EXPECT_NEAR(f[name + "2nd difference on velocity"], 0, 11 / std::sqrt(W * n * B));  // 4.5 deviations
  }
  EXPECT_NEAR(square, 20, 0.8);
}

TEST(summary_theory_test, rms_of_a_random_walk_grows_as_the_root_of_the_lag) {
  const int64_t B = 100, n = 2000;
  const auto z =
      trajectories(B, n, [](int64_t b, int64_t t, const auto& x) { return (t ? x.back() : 0) + normal(b, 0, t); });
  const Features f = features(z, B, n, {{ChannelScale{.location = 0, .value = 32}}});
  for (const int k : {1, 4, 16})
    EXPECT_NEAR(f["x lag " + std::to_string(k) + " log rms"] + std::log(32.0), 0.5 * std::log(k), 0.02) << k;
  for (const int k : {1, 2, 8, 64}) EXPECT_NEAR(f["x increment autocorrelation " + std::to_string(k)], 0, 0.01) << k;
  // Means of neighbouring blocks of k: Var of their difference is (2 k^2 + 1)/(3 k).
  for (const int k : {2, 8, 16})
    EXPECT_NEAR(f["x block " + std::to_string(k) + " log scale"] + std::log(32.0),
                kLogSize + 0.5 * std::log((2.0 * k * k + 1) / (3.0 * k)), 0.03)
        << k;
}

// Euler-Maruyama makes the sampled process an AR(1) process with factor (1 - dt/tau)^10; the slope is that less 1. The
// deviation of an estimate from B n samples is sqrt((1 - factor^2)/(B n)), its bias 2/n.
TEST(summary_theory_test, slope_of_soup_is_its_relaxation) {
  const SystemChoice choice = load_system("soup");
  for (const double lg_tau : {-0.5, 0.0, 0.7}) {
    const int64_t B = 60, n = 2000;
    const Simulator simulator(choice.system, choice.observation,
                              {.seed = 2, .length = n, .fixed = {{"lg_tau", lg_tau}, {"D", 0.5}}});
    std::vector<float> theta(static_cast<size_t>(B * simulator.parameters())), z(static_cast<size_t>(B * n));
    simulator.run(0, B, theta.data(), z.data());
    const Features f = features(z, B, n, {{ChannelScale{}}});
    const double factor = std::pow(1 - 0.01 / std::pow(10, lg_tau), 10),
                 tolerance = 4.5 * std::sqrt((1 - factor * factor) / static_cast<double>(B * n)) + 2.0 / n;
    EXPECT_NEAR(std::sinh(f["x slope"]) / 30, factor - 1, tolerance) << lg_tau;
    EXPECT_NEAR(std::sinh(f["x slope, fine"]) / 300, factor - 1, tolerance) << lg_tau;
  }
}

// An oscillator with second difference a = -k y - k3 y^3 - c v + s0 g + s1 y g', v = y(t) - y(t-1): the regression on
// what was known before must find k, k3 and c. The central velocity hardly sees damping, since a stationary oscillator
// runs backwards as well as forwards; but its residual has the sizes of the two noises.
TEST(summary_theory_test, regression_finds_the_oscillator_and_its_two_noises) {
  const int64_t B = 40, n = 2000;
  const double k = 0.05, k3 = 0.02, c = 0.03, s0 = 0.01, s1 = 0.02;
  const auto z = trajectories(B, n, [&](int64_t b, int64_t t, const auto& x) {
    if (t < 2) return 1 + 0.01 * static_cast<double>(b);
    const double y = x[t - 1], before = x[t - 2];
    return 2 * y - before - k * y - k3 * y * y * y - c * (y - before) + s0 * normal(b, 0, t) + s1 * y * normal(b, 1, t);
  });
  const ChannelScale unit{.location = 0, .value = 0.5, .velocity = 0.1, .second = 0.02, .third = 0.02};
  const Features f = features(z, B, n, {{unit}});
  const auto coefficient = [&](const char* of, const char* term) {
    return std::sinh(f["x " + std::string(of) + " on " + term]);
  };
  EXPECT_NEAR(coefficient("2nd difference", "u"), -k * unit.value / unit.second, 0.04);
  EXPECT_NEAR(coefficient("2nd difference", "u^3"), -k3 * std::pow(unit.value, 3) / unit.second, 0.04);
  EXPECT_NEAR(coefficient("2nd difference", "w-"), -c * unit.velocity / unit.second, 0.03);
  EXPECT_LT(std::fabs(coefficient("2nd difference", "w")),
            c * unit.velocity / unit.second / 3);  // 0 without the second noise
  EXPECT_NEAR(coefficient("2nd difference", "1"), 0, 0.02);
  EXPECT_NEAR(coefficient("2nd difference", "u w-"), 0, 0.03);
  double yy = 0;
  for (const float y : z) yy += static_cast<double>(y) * y / static_cast<double>(z.size());
  const double size = s0 * s0 + s1 * s1 * yy;
  EXPECT_NEAR(f["x residual log size"], 0.5 * std::log(size) - std::log(unit.second), 0.05);
  for (const int lag : {1, 3, 13}) EXPECT_NEAR(f["x residual autocorrelation " + std::to_string(lag)], 0, 0.02) << lag;
  EXPECT_NEAR(std::sinh(f["x residual added noise autocorrelation 0"]) / 4, s0 * s0 / size, 0.06);
  EXPECT_NEAR(std::sinh(f["x residual multiplied noise autocorrelation 0"]) / 4,
              s1 * s1 * unit.value * unit.value / size, 0.06);
  EXPECT_NEAR(std::sinh(f["x residual added noise autocorrelation 5"]) / 4, 0, 0.03);
  EXPECT_NEAR(std::sinh(f["x residual roughness at 0"]) / 10, 2 * s0 * s0 / size, 0.1);
}

// Root of the mean square of a coefficient's error, which varies from one trajectory to the next: log-normally, nearly.
double error(const Features& f, const std::string& name) {
  return std::exp(f["x log error of " + name] + std::pow(f.sd.at("x log error of " + name), 2));
}

// What the regressions call the error of a coefficient is its spread from one trajectory to the next. 400 of them tell
// a spread to 3.5 %. The first regression weighs increments d by w = 1/(1 + (d / 4 s)^2), s their geometric mean, and
// tells the error as if w were given: the spread is smaller, by sqrt(E w^2 d^2 / E w d^2).
TEST(summary_theory_test, errors_of_coefficients_are_their_spread) {
  const int64_t B = 400, n = 2000;
  const auto relaxation = trajectories(B, n, [&](int64_t b, int64_t t, const auto& x) {
    return t == 0 ? normal(b, 0, t) : 0.9 * x[t - 1] + 0.436 * normal(b, 0, t);
  });
  const Features f = features(relaxation, B, n, {{ChannelScale{}}});
  const auto weight = [](double g) { return 1 / (1 + std::pow(g / (4 * std::exp(kLogSize)), 2)); };
  const double weighed = std::sqrt(integrate_normal([&](double g) { return std::pow(weight(g) * g, 2); }) /
                                   integrate_normal([&](double g) { return weight(g) * g * g; }));
  for (const std::string term : {"1", "u", "u^2", "u^3"}) {
    const std::string name = "increment on " + term;
    const double slope = 3 / std::cosh(f["x " + name]);  // of asinh(3 b)
    EXPECT_NEAR(f.sd.at("x " + name) / slope / error(f, name), weighed, 0.12) << name;
  }
  const auto oscillator = trajectories(B, n, [&](int64_t b, int64_t t, const auto& x) {
    if (t < 2) return 0.5;
    return 2 * x[t - 1] - x[t - 2] - 0.05 * x[t - 1] - 0.03 * (x[t - 1] - x[t - 2]) + 0.02 * normal(b, 0, t);
  });
  const ChannelScale unit{.location = 0, .value = 0.5, .velocity = 0.1, .second = 0.02, .third = 0.02};
  const Features g = features(oscillator, B, n, {{unit}});
  for (const std::string term : {"1 (past)", "u (past)", "u^2 (past)", "u^3 (past)", "w-", "u w-"}) {
    const std::string name = "2nd difference on " + term;
    const double slope = 1 / std::cosh(g["x " + name]);  // of asinh(b)
    EXPECT_NEAR(g.sd.at("x " + name) / slope / error(g, name), 1, 0.12) << name;
  }
}

std::vector<float> two_channels(int64_t B, int64_t n) {
  const SystemChoice choice = load_system("cfhn:x1x2");
  const Simulator simulator(choice.system, choice.observation, {.seed = 4, .length = n});
  std::vector<float> theta(static_cast<size_t>(B * simulator.parameters())), z(static_cast<size_t>(B * n * 2));
  simulator.run(0, B, theta.data(), z.data());
  return z;
}

// Powers of two change no bit: everything is in units of the scale.
TEST(summary_theory_test, units_do_not_matter) {
  std::vector<float> z = two_channels(9, 200);
  SummaryScaling scaling = measure_scaling(z.data(), 9, 200, 2);
  const Features before = features(z, 9, 200, scaling, {"a", "b"});
  for (const double factor : {0x1p20, 0x1p-40}) {
    std::vector<float> scaled = z;
    for (float& x : scaled) x *= static_cast<float>(factor);
    SummaryScaling units = scaling;
    for (ChannelScale& c : units.channels)
      for (double* unit : {&c.location, &c.value, &c.velocity, &c.second, &c.third}) *unit *= factor;
    EXPECT_EQ(features(scaled, 9, 200, units, {"a", "b"}).mean, before.mean);
  }
}

// z -> -z turns odd statistics round, mirrors the bins and leaves the rest alone.
TEST(summary_theory_test, reflection_mirrors_the_statistics) {
  const int64_t B = 16, n = 300;
  std::vector<float> z = two_channels(B, n);
  SummaryScaling scaling = measure_scaling(z.data(), B, n, 2);
  for (ChannelScale& c : scaling.channels) c.location = 0;
  const Features before = features(z, B, n, scaling, {"a", "b"});
  for (float& x : z) x = -x;
  const Features after = features(z, B, n, scaling, {"a", "b"});
  for (const char* odd : {"a mean", "a asymmetry", "a rest point", "a lag 0 asymmetry", "a lag 8 asymmetry",
                          "a innovation asymmetry", "a first", "a 2nd difference on 1", "a 2nd difference on u^2",
                          "a increment on u^2", "a increment on u^2 of b", "a 2nd difference on u w"})
    EXPECT_NEAR(after[odd], -before[odd], 1e-3 * (1 + std::fabs(before[odd]))) << odd;
  EXPECT_NEAR(after["a minimum"], -before["a maximum"], 1e-5);
  for (const char* even :
       {"a log spread", "a lag 4 log scale", "a lag 1 fraction above 3.86", "a increment autocorrelation 3",
        "a centred value autocorrelation 5", "a slope", "a residual log scale", "a 2nd difference on u",
        "a 2nd difference on u of b", "a and b value correlation 4", "a and b value correlation -4"})
    EXPECT_NEAR(after[even], before[even], 1e-3 * (1 + std::fabs(before[even]))) << even;
  EXPECT_NEAR(after["a bin 2 log fraction"], before["a bin 8 log fraction"], 1e-4);
  EXPECT_NEAR(after["a bin 2 2nd difference"], -before["a bin 8 2nd difference"], 1e-4);
  EXPECT_NEAR(after["a cell 1,3 2nd difference"], -before["a cell 6,4 2nd difference"], 1e-4);
  EXPECT_NEAR(after["a and b cell 1,4 2nd difference of b"], -before["a and b cell 5,2 2nd difference of b"], 1e-4);
}

TEST(summary_theory_test, exchanging_channels_exchanges_their_statistics) {
  const int64_t B = 16, n = 300;
  std::vector<float> z = two_channels(B, n);
  SummaryScaling scaling = measure_scaling(z.data(), B, n, 2);
  const Features before = features(z, B, n, scaling, {"a", "b"});
  for (size_t i = 0; i < z.size(); i += 2) std::swap(z[i], z[i + 1]);
  std::swap(scaling.channels[0], scaling.channels[1]);
  const Features after = features(z, B, n, scaling, {"b", "a"});
  int compared = 0;
  for (const auto& [name, value] : before.mean) {
    if (name.find(" and ") != std::string::npos) continue;
    EXPECT_NEAR(after[name], value, 1e-5 * (1 + std::fabs(value))) << name;
    ++compared;
  }
  EXPECT_GT(compared, 1000);
  EXPECT_NEAR(after["b and a value correlation -8"], before["a and b value correlation 8"], 1e-5);
  EXPECT_NEAR(after["b and a increment correlation 2"], before["a and b increment correlation -2"], 1e-5);
  EXPECT_NEAR(after["b and a cell 2,4 2nd difference of a"], before["a and b cell 4,2 2nd difference of a"], 1e-5);
}

// The second channel repeats the first four samples later.
TEST(summary_theory_test, correlation_finds_who_follows) {
  const int64_t B = 20, n = 1000;
  std::vector<float> z;
  for (int64_t b = 0; b < B; ++b)
    for (int64_t t = 0; t < n; ++t)
      z.push_back(static_cast<float>(normal(b, 0, t + 4))), z.push_back(static_cast<float>(normal(b, 0, t)));
  const Features f = features(z, B, n, {{ChannelScale{}, ChannelScale{}}}, {"a", "b"});
  EXPECT_NEAR(f["a and b value correlation -4"], 1, 0.01);  // b follows a
  EXPECT_NEAR(f["a and b increment correlation -4"], 1, 0.01);
  for (const char* none :
       {"a and b value correlation 4", "a and b value correlation 0", "a and b value correlation -8"})
    EXPECT_NEAR(f[none], 0, 0.03);
}

// A window on a periodic signal: where it begins does not matter, up to the fraction of its ends.
TEST(summary_theory_test, the_start_of_a_periodic_signal_does_not_matter) {
  const int64_t n = 8000;
  const auto signal = [](int64_t t) {
    return std::sin(2 * M_PI * static_cast<double>(t) / 40) +
           0.3 * std::cos(2 * M_PI * static_cast<double>(t) / 20 + 1) + 0.7;
  };
  std::vector<float> early, late;
  for (int64_t t = 0; t < n; ++t)
    early.push_back(static_cast<float>(signal(t))), late.push_back(static_cast<float>(signal(t + 13)));
  const SummaryScaling scaling = measure_scaling(early.data(), 1, n, 1);
  const Features a = features(early, 1, n, scaling), b = features(late, 1, n, scaling);
  int compared = 0;
  for (const auto& [name, value] : a.mean) {
    bool averaged = false;
    for (const char* part :
         {" lag ", "increment autocorrelation", "value autocorrelation", " bin ", " cell ", "velocity autocorrelation",
          "2nd difference autocorrelation", "2nd difference on", "x mean", "x slope"})
      averaged = averaged || name.find(part) != std::string::npos;
    if (!averaged) continue;
    EXPECT_NEAR(b[name], value, 0.03 * (1 + std::fabs(value))) << name;
    ++compared;
  }
  EXPECT_GT(compared, 300);
}

}  // namespace
}  // namespace penn
