// The fast statistics against their double-precision reference, on trajectories of the shipped systems and on extreme
// ones.
#include "penn/features/summary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "penn/base/error.h"
#include "penn/features/measure_scaling.h"
#include "penn/features/summary_reference.h"
#include "penn/simulate/simulator.h"
#include "penn/system/load_system.h"
#include "penn/system/parse_system.h"

namespace penn {
namespace {

struct Sample {
  int64_t B, n, d;
  std::vector<float> z;
};

Sample simulate(const std::string& name, int64_t B, int64_t n) {
  const SystemChoice choice = load_system(name);
  const Simulator simulator(choice.system, choice.observation, {.seed = 3, .threads = 1, .length = n});
  Sample sample{B, n, simulator.channels(), {}};
  std::vector<float> theta(static_cast<size_t>(B * simulator.parameters()));
  sample.z.resize(static_cast<size_t>(B * n * sample.d));
  simulator.run(0, B, theta.data(), sample.z.data());
  return sample;
}

Summary summary_of(const Sample& s) {
  SummaryOptions options;
  options.channels.clear();
  for (int64_t c = 0; c < s.d; ++c) options.channels.push_back("x" + std::to_string(c + 1));
  return Summary(options, measure_scaling(s.z.data(), s.B, s.n, s.d));
}

std::vector<float> features_of(const Summary& summary, const Sample& s, int threads = 1) {
  std::vector<float> out(static_cast<size_t>(s.B * summary.size()));
  summary.compute(s.z.data(), s.B, s.n, out.data(), threads);
  return out;
}

// Where a fit or a logarithm of small differences stands between the data and the number, float32 is the limit: the
// columns of a regression nearly cancel, and of what is left the logarithm is taken.
double tolerance_of(const std::string& name, int64_t n) {
  if (name.find("residual") != std::string::npos)
    return n < 50 ? 0.2 : 5e-2;  // of up to 26 coefficients: with few samples, all rounding
  if (name.find(" on ") != std::string::npos) return 2e-2;
  for (const char* part : {"innovation", "slope", "response", "block", "unexplained"})
    if (name.find(part) != std::string::npos) return 1e-2;
  return 1e-3;
}

// Compared in units of the feature's spread over the sample (mean absolute deviation from the median); a feature that
// hardly varies, as a number. Three quarters of the trajectories keep the tolerance; the worst may be five times off,
// since the fit of an unlucky trajectory amplifies rounding, and which one is unlucky depends on the compiler.
void expect_equal_to_reference(const Sample& s, const Summary& summary) {
  const int64_t F = summary.size();
  const std::vector<float> fast = features_of(summary, s);
  std::vector<std::vector<double>> slow;
  for (int64_t b = 0; b < s.B; ++b) {
    slow.push_back(summary_reference(summary.options(), summary.scaling(), s.z.data() + b * s.n * s.d, s.n));
    ASSERT_EQ(static_cast<int64_t>(slow.back().size()), F);
  }
  for (int64_t f = 0; f < F; ++f) {
    std::vector<double> column;
    for (int64_t b = 0; b < s.B; ++b) column.push_back(slow[b][f]);
    std::sort(column.begin(), column.end());
    double spread = 0;
    std::vector<double> error;
    for (const double x : column) spread += std::fabs(x - column[column.size() / 2]) / static_cast<double>(s.B);
    for (int64_t b = 0; b < s.B; ++b) error.push_back(std::fabs(slow[b][f] - fast[b * F + f]));
    std::sort(error.begin(), error.end());
    const double tolerance = tolerance_of(summary.names()[f], s.n) * spread + 2e-5;
    EXPECT_LT(error[error.size() * 3 / 4], tolerance) << summary.names()[f] << ", spread " << spread << ", n = " << s.n;
    EXPECT_LT(error.back(), 5 * tolerance) << summary.names()[f] << ", spread " << spread << ", n = " << s.n;
  }
}

TEST(summary_test, fast_statistics_equal_the_reference_on_every_system) {
  for (const char* system : {"soup", "oup", "dvdp", "cfhn:x1x2", "cfhn:mean", "airfoil"}) {
    SCOPED_TRACE(system);
    const Sample s = simulate(system, 24, 400);
    expect_equal_to_reference(s, summary_of(s));
  }
}

TEST(summary_test, fast_statistics_equal_the_reference_at_any_length) {
  const Summary summary = summary_of(simulate("cfhn:x1x2", 100, 100));
  for (const int64_t n : {8, 9, 13, 31, 129, 700}) expect_equal_to_reference(simulate("cfhn:x1x2", 20, n), summary);
  const Sample s = simulate("dvdp", 8, 6000);
  expect_equal_to_reference(s, summary_of(s));
}

TEST(summary_test, options_other_than_the_default_equal_the_reference) {
  const Sample s = simulate("cfhn:x1x2", 20, 200);
  const SummaryOptions options{.channels = {"a", "b"}, .lags = {0, 1, 5, 40}, .bins = 4, .grid = 7, .pair_grid = 3};
  expect_equal_to_reference(s, Summary(options, measure_scaling(s.z.data(), s.B, s.n, s.d)));
}

// Five channels: more than a regression looks at, so the neighbours are chosen.
TEST(summary_test, many_channels_equal_the_reference) {
  Sample s{12, 120, 5, {}};
  const Sample parts = simulate("cfhn:x1", 60, 120);
  s.z.resize(parts.z.size());
  for (int64_t i = 0; i < s.B * s.n; ++i)
    for (int64_t c = 0; c < s.d; ++c) s.z[i * s.d + c] = parts.z[(i / s.n * s.d + c) * s.n + i % s.n];
  expect_equal_to_reference(s, summary_of(s));
}

TEST(summary_test, a_trajectory_does_not_feel_its_neighbours_or_threads) {
  const Sample s = simulate("airfoil", 21, 150);
  const Summary summary = summary_of(s);
  const std::vector<float> together = features_of(summary, s, 3);
  for (int64_t b = 0; b < s.B; ++b) {
    std::vector<float> alone(static_cast<size_t>(summary.size()));
    summary.compute(s.z.data() + b * s.n * s.d, 1, s.n, alone.data(), 1);
    for (int64_t f = 0; f < summary.size(); ++f)
      ASSERT_EQ(alone[f], together[b * summary.size() + f]) << summary.names()[f];
  }
}

TEST(summary_test, extreme_trajectories_give_finite_numbers) {
  const Sample typical = simulate("cfhn:x1x2", 50, 100);
  const Summary summary = summary_of(typical);
  const float huge = 3e38f;
  const std::vector<std::function<float(int64_t)>> shapes = {
      [](int64_t) { return 0.0f; },
      [](int64_t) { return 1e30f; },
      [](int64_t) { return -1e-40f; },
      [&](int64_t t) { return t % 2 ? huge : -huge; },
      [&](int64_t t) { return t % 3 ? 1e30f : 1e-30f; },
      [](int64_t t) { return t == 5 ? 1e30f : 0.0f; },
      [](int64_t t) { return t == 5 ? 1e-30f : 0.0f; },
      [](int64_t t) { return static_cast<float>(t); },
      [](int64_t t) { return std::exp2(static_cast<float>(-t)); },
      [](int64_t t) { return 1e-20f * std::sin(static_cast<float>(t)); },
      [](int64_t t) { return t % 2 ? 1.0f : -1.0f; },
      [](int64_t t) { return 1e6f + static_cast<float>(t % 7); },
  };
  for (const int64_t n : {8, 11, 300}) {
    for (size_t a = 0; a < shapes.size(); ++a) {
      Sample s{static_cast<int64_t>(shapes.size()), n, 2, {}};
      for (const auto& other : shapes)
        for (int64_t t = 0; t < n; ++t) s.z.push_back(shapes[a](t)), s.z.push_back(other(t));
      const std::vector<float> out = features_of(summary, s);
      for (size_t i = 0; i < out.size(); ++i)
        ASSERT_LE(std::fabs(out[i]), 1e4f)
            << summary.names()[i % summary.size()] << ", shapes " << a << " and " << i / summary.size();
    }
  }
}

TEST(summary_test, names_are_many_and_different) {
  const Summary one({}, {{ChannelScale{}}});
  const Summary two({.channels = {"phi", "xi"}}, {{ChannelScale{}, ChannelScale{}}});
  for (const Summary* summary : {&one, &two}) {
    const std::set<std::string> names(summary->names().begin(), summary->names().end());
    EXPECT_EQ(static_cast<int64_t>(names.size()), summary->size());
  }
  EXPECT_EQ(std::count(one.names().begin(), one.names().end(), "x lag 4 log scale"), 1);
  EXPECT_EQ(std::count(two.names().begin(), two.names().end(), "phi and xi value correlation -4"), 1);
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const ModelError& error) {
    return error.full_text();
  }
  return "no ModelError";
}

TEST(summary_test, options_that_make_no_sense_are_refused) {
  const auto refused = [](const SummaryOptions& options, const ChannelScale& scale = {}) {
    return message_of([&] { Summary(options, {{scale}}); });
  };
  EXPECT_EQ(refused({.lags = {0, 1, 300}}), "summary: lag 300 is too long; 256 is the longest");
  EXPECT_EQ(refused({.lags = {0, 1, 4, 2}}), "summary: lags must ascend");
  EXPECT_EQ(refused({.lags = {1, 2}}), "summary: lags must begin with 0, 1");
  EXPECT_EQ(refused({.bins = 1}), "summary: 1 bins; 2 to 16 are possible");
  EXPECT_EQ(refused({.channels = {"x", "y"}}), "summary: 2 channels but scales of 1");
  EXPECT_EQ(refused({}, {.second = 0}), "summary: a scale of 0; it must be positive");
}

TEST(summary_test, networks_of_other_versions_are_refused) {
  EXPECT_EQ(Summary(summary_options(kSummaryVersion, 1), {{ChannelScale{}}}).size(), 625);
  EXPECT_EQ(message_of([] { summary_options(2, 1); }),
            "version 2 of the statistics, this program has version 3\n"
            "hint: train the model again with this version, or use the program it was trained with");
}

TEST(summary_test, what_is_too_short_or_not_finite_is_refused) {
  const Summary summary({}, {{ChannelScale{}}});
  std::vector<float> z(7, 1.0f), out(static_cast<size_t>(summary.size()));
  EXPECT_THROW(summary.compute(z.data(), 1, 7, out.data()), DataError);
  EXPECT_THROW(measure_scaling(z.data(), 1, 7, 1), DataError);
  z.assign(20, 1.0f);
  z[9] = std::nanf("");
  EXPECT_THROW(measure_scaling(z.data(), 1, 20, 1), DataError);
}

TEST(summary_test, scaling_of_a_normal_sample_is_its_quantiles) {
  // 98 % quantiles of N(3, 2^2): 3 + 2 * 2.054; of |z(t+1) - z(t-1)|/2 = |N(0, 2)|: sqrt(2) * 2.326; 90 % of |N(0, 24)|
  // and |N(0, 80)|: 1.645 sigma. 100,000 values: 3 %.
  const SystemChoice choice{
      parse_system("name = \"white\"\n[parameters]\na = [0, 1]\n[noise]\nB = \"gaussian()\"\n[equations]\nx = \"-x + "
                   "B\"\n[initial]\nx = \"a\"\n"
                   "[observe]\nx = \"3 + 2*x\"\n[simulation]\nstep = 1\nsampling = 1\nburn_in = 2\nlength = 1000\n",
                   "white.toml"),
      0};
  const Simulator simulator(choice.system, 0, {.seed = 5, .threads = 1, .kernel = KernelChoice::kInterpreted});
  std::vector<float> theta(100), z(100 * 1000);
  simulator.run(0, 100, theta.data(), z.data());
  const ChannelScale s = measure_scaling(z.data(), 100, 1000, 1).channels[0];
  EXPECT_NEAR(s.location, 3, 0.06);
  EXPECT_NEAR(s.value, 2 * 2.054, 0.03 * 4.1);
  EXPECT_NEAR(s.velocity, std::sqrt(2.0) * 2.326, 0.03 * 3.3);
  EXPECT_NEAR(s.second, 1.645 * std::sqrt(24.0), 0.03 * 8);
  EXPECT_NEAR(s.third, 1.645 * std::sqrt(80.0), 0.03 * 14.7);
}

}  // namespace
}  // namespace penn
