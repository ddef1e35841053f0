#include "penn/answer/predictive.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "penn/base/error.h"
#include "penn/base/parallel.h"
#include "penn/simulate/simulator.h"

namespace penn {
namespace {

constexpr int64_t kLongest = 20000;  // samples compared
constexpr double kFarOut = 1;        // percent on either side
constexpr int64_t kFanSamples = 300, kFanDraws = 1000;

double quantile(std::vector<double> values, double p) {
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(std::llround(p * static_cast<double>(values.size() - 1)));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

double autocorrelation(const std::vector<double>& x, int64_t lag) {
  const int64_t n = static_cast<int64_t>(x.size());
  double mean = 0, variance = 0, product = 0;
  for (const double v : x)
    mean += (v - x[0]) / static_cast<double>(n);  // relative to x[0], so that a constant line has variance 0 exactly
  mean += x[0];
  for (const double v : x) variance += (v - mean) * (v - mean);
  for (int64_t i = 0; i + lag < n; ++i)
    product += (x[static_cast<size_t>(i)] - mean) * (x[static_cast<size_t>(i + lag)] - mean);
  return variance > 0 ? product / variance : 1;  // a constant line remembers everything
}

// Never 0 or 100: beyond all of N simulated values is only known to be beyond 1 in N + 1, so that few draws raise no
// alarm.
double percentile_of(double observed, const std::vector<double>& simulated) {
  double below = 0.5;
  for (const double s : simulated) below += s < observed ? 1 : s == observed ? 0.5 : 0;
  return 100 * below / static_cast<double>(simulated.size() + 1);
}

// P of the n samples, the first and the last among them.
std::vector<int64_t> fan_samples(int64_t n) {
  const int64_t P = std::min(n, kFanSamples);
  std::vector<int64_t> samples;
  for (int64_t i = 0; i < P; ++i) samples.push_back(P > 1 ? i * (n - 1) / (P - 1) : 0);
  return samples;
}

// kept: of every simulated trajectory its values (P, d), or nothing where it failed.
PredictiveFan make_fan(std::vector<int64_t> samples, size_t d, const std::vector<std::vector<float>>& kept) {
  const size_t P = samples.size();
  PredictiveFan fan{std::move(samples), {}};
  fan.quantiles.assign(kFanPercent.size(), std::vector<std::vector<double>>(d, std::vector<double>(P)));
  for (size_t c = 0; c < d; ++c)
    for (size_t i = 0; i < P; ++i) {
      std::vector<double> values;
      for (const std::vector<float>& path : kept)
        if (!path.empty()) values.push_back(path[i * d + c]);
      for (size_t q = 0; q < kFanPercent.size() && !values.empty(); ++q)
        fan.quantiles[q][c][i] = quantile(values, kFanPercent[q] / 100.0);
    }
  return fan;
}

}  // namespace

PathNumbers path_numbers(const float* z, int64_t n, int64_t stride) {
  std::vector<double> x(static_cast<size_t>(n)), steps;
  for (int64_t i = 0; i < n; ++i) x[static_cast<size_t>(i)] = z[i * stride];
  for (size_t i = 0; i + 1 < x.size(); ++i) steps.push_back(std::abs(x[i + 1] - x[i]));
  PathNumbers numbers;
  numbers.level = quantile(x, 0.5);
  numbers.spread = quantile(x, 0.95) - quantile(x, 0.05);
  const double typical = quantile(steps, 0.5);
  numbers.tails = typical > 0 ? quantile(steps, 0.99) / typical : HUGE_VAL;
  numbers.autocorrelation_short = autocorrelation(x, 1);
  numbers.autocorrelation_long = autocorrelation(x, std::max<int64_t>(2, n / 20));
  return numbers;
}

PredictiveCheck check_predictive(const System& given, int observation, const Posterior& posterior,
                                 std::span<const float> z, double sampling, const PredictiveOptions& options) {
  const auto& channels = given.observations[static_cast<size_t>(observation)].channels;
  const int64_t d = static_cast<int64_t>(channels.size()), n = std::min(static_cast<int64_t>(z.size()) / d, kLongest);
  System system = given;
  system.simulation.sampling = {sampling, sampling};
  DrawStream draws(options.seed);
  const size_t M = system.parameters.size(), N = static_cast<size_t>(options.draws);
  const std::vector<double> theta = PosteriorInBox(posterior).sample(N, draws).theta;

  PredictiveCheck check;
  check.length = n;
  std::vector<std::vector<PathNumbers>> simulated(N);
  std::vector<int64_t> shown = fan_samples(n);
  std::vector<std::vector<float>> kept(std::min(N, static_cast<size_t>(kFanDraws)));
  parallel_for(options.draws, options.threads > 0 ? options.threads : processor_count(), [&](int64_t i, int) {
    std::map<std::string, double> fixed;
    for (size_t k = 0; k < M; ++k) fixed[system.parameters[k].name] = theta[static_cast<size_t>(i) * M + k];
    std::vector<float> path(static_cast<size_t>(n * d)), used(M);
    try {
      const Simulator simulator(
          system, observation,
          {.seed = options.seed + static_cast<uint64_t>(i), .threads = 1, .length = n, .fixed = fixed});
      simulator.run(0, 1, used.data(), path.data());
    } catch (const SystemError&) {
      return;  // diverged for good: counted below
    }
    for (int64_t c = 0; c < d; ++c) simulated[static_cast<size_t>(i)].push_back(path_numbers(path.data() + c, n, d));
    if (static_cast<size_t>(i) < kept.size())
      for (const int64_t at : shown)
        kept[static_cast<size_t>(i)].insert(kept[static_cast<size_t>(i)].end(), path.begin() + at * d,
                                            path.begin() + (at + 1) * d);
  });
  for (const auto& numbers : simulated) numbers.empty() ? ++check.failed : ++check.simulated;
  if (check.simulated == 0)
    throw Error("no trajectory could be simulated from the posterior: all left the finite numbers",
                "the posterior lies where the system diverges; do not use it");
  check.fan = make_fan(std::move(shown), static_cast<size_t>(d), kept);

  const std::pair<const char*, double PathNumbers::*> kinds[] = {
      {"level", &PathNumbers::level},
      {"spread", &PathNumbers::spread},
      {"increment tails", &PathNumbers::tails},
      {"autocorrelation at lag 1", &PathNumbers::autocorrelation_short},
      {"autocorrelation at lag n/20", &PathNumbers::autocorrelation_long}};
  for (int64_t c = 0; c < d; ++c) {
    const PathNumbers seen = path_numbers(z.data() + c, n, d);
    for (const auto& [name, field] : kinds) {
      std::vector<double> values;
      for (const auto& numbers : simulated)
        if (!numbers.empty()) values.push_back(numbers[static_cast<size_t>(c)].*field);
      PredictiveStatistic s{fmt::format("{} of {}", name, channels[static_cast<size_t>(c)].name),
                            seen.*field,
                            quantile(values, 0.05),
                            quantile(values, 0.5),
                            quantile(values, 0.95),
                            percentile_of(seen.*field, values)};
      if (s.percentile < kFarOut || s.percentile > 100 - kFarOut)
        check.warnings.push_back(
            fmt::format("{}: {:.3g} is observed, {} trajectories simulated from the posterior have {:.3g} to {:.3g} "
                        "(90 %): the system "
                        "does not make such a trajectory",
                        s.name, s.observed, check.simulated, s.low, s.high));
      check.statistics.push_back(std::move(s));
    }
  }
  if (check.failed > 0)
    check.warnings.push_back(
        fmt::format("{} of {} posterior draws gave only diverging trajectories", check.failed, options.draws));
  return check;
}

}  // namespace penn
