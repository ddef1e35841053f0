// The units of every channel, from training trajectories: quantiles of values and of their differences, pooled over
// trajectories and times.
#include "penn/features/measure_scaling.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "penn/base/error.h"
#include "penn/features/summary.h"

namespace penn {
namespace {

constexpr int64_t kSamples = 500'000;

// The q-quantile; reorders the numbers.
double quantile(std::vector<double>& numbers, double q) {
  const auto at = numbers.begin() + static_cast<int64_t>(q * static_cast<double>(numbers.size() - 1));
  std::nth_element(numbers.begin(), at, numbers.end());
  return *at;
}

}  // namespace

SummaryScaling measure_scaling(const float* z, int64_t B, int64_t n, int64_t d) {
  if (B < 1 || d < 1) throw DataError("no trajectories to measure the scale of");
  if (n < kSummaryMinLength)
    throw DataError(fmt::format("trajectories of {} samples are too short", n), "at least 8 are needed");
  // Times 1 .. n-3, where all differences exist, of all trajectories in a row; every stride-th.
  const int64_t times = n - 3, stride = std::max<int64_t>(1, B * times / kSamples);
  SummaryScaling scaling;
  for (int64_t c = 0; c < d; ++c) {
    std::vector<double> value, velocity, second, third;
    for (int64_t i = 0; i < B * times; i += stride) {
      const float* at = z + ((i / times) * n + 1 + i % times) * d + c;
      const double before = at[-d], here = at[0], next = at[d], later = at[2 * d];
      if (!std::isfinite(before) || !std::isfinite(here) || !std::isfinite(next) || !std::isfinite(later))
        throw DataError(fmt::format("trajectory {} holds a number that is not finite", i / times));
      value.push_back(here);
      velocity.push_back(std::fabs(next - before) / 2);
      second.push_back(std::fabs(next - 2 * here + before));
      third.push_back(std::fabs(later - 3 * next + 3 * here - before));
    }
    const double low = quantile(value, 0.02), high = quantile(value, 0.98);
    ChannelScale scale;
    scale.location = (low + high) / 2;
    scale.value = (high - low) / 2;
    if (!(scale.value > 1e-30)) scale.value = std::max(1e-6 * std::fabs(scale.location), 1e-30);  // all the same
    // Most systems are about zero: their statistics should be about zero exactly, not about the noise of this estimate.
    if (std::fabs(scale.location) < 0.05 * scale.value) scale.location = 0;
    // A channel that rarely moves must not get an infinitely fine unit of movement.
    const auto at_least = [&](double x) { return std::max(x, 1e-7 * scale.value); };
    scale.velocity = at_least(quantile(velocity, 0.98));
    scale.second = at_least(quantile(second, 0.90));
    scale.third = at_least(quantile(third, 0.90));
    scaling.channels.push_back(scale);
  }
  return scaling;
}

}  // namespace penn
