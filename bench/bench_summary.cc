// Speed of the trajectory statistics: trajectories per second on one core, checked against the reference before timed.
//   build/bench_summary [length]
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>

#include "penn/base/random.h"
#include "penn/features/measure_scaling.h"
#include "penn/features/summary.h"
#include "penn/features/summary_reference.h"

namespace penn {
namespace {

// AR(1) trajectories with a common part between the channels.
std::vector<float> make_trajectories(int64_t B, int64_t n, int64_t d) {
  std::vector<float> z(static_cast<size_t>(B * n * d));
  for (int64_t b = 0; b < B; ++b) {
    const RandomKey key{1, static_cast<uint64_t>(b), 0};
    std::vector<double> x(static_cast<size_t>(d));
    for (int64_t t = 0; t < n; ++t) {
      for (int64_t c = 0; c < d; ++c) {
        double noise = -6;
        for (uint32_t i = 0; i < 12; ++i)
          noise += key.uniform(static_cast<uint32_t>(c), static_cast<uint32_t>(12 * t) + i);
        x[c] = 0.9 * x[c] + 0.1 * x[0] + noise;
        z[(b * n + t) * d + c] = static_cast<float>(x[c]);
      }
    }
  }
  return z;
}

void run(int64_t n, int64_t d) {
  const int64_t B = 256;
  const std::vector<float> z = make_trajectories(B, n, d);
  SummaryOptions options;
  options.channels.assign(d, "x");
  const Summary summary(options, measure_scaling(z.data(), B, n, d));
  std::vector<float> out(B * summary.size());
  std::vector<double> rates;
  for (int repeat = 0; repeat < 15; ++repeat) {
    const std::clock_t start = std::clock();  // processor time: the machine may be busy with other things
    summary.compute(z.data(), B, n, out.data(), 1);
    rates.push_back(B * static_cast<double>(CLOCKS_PER_SEC) / static_cast<double>(std::clock() - start));
  }
  const std::vector<double> reference = summary_reference(options, summary.scaling(), z.data(), n);
  double worst = 0;
  for (int64_t f = 0; f < summary.size(); ++f)
    worst = std::max(worst, std::fabs(reference[f] - out[f]) / (1 + std::fabs(reference[f])));
  std::sort(rates.begin(), rates.end());
  fmt::print(
      "n = {}, d = {}: {} features, {:.0f} trajectories/s on one core (best {:.0f}), largest difference from the "
      "reference {:.1e}\n",
      n, d, summary.size(), rates[rates.size() / 2], rates.back(), worst);
}

}  // namespace
}  // namespace penn

int main(int count, char** arguments) {
  const int64_t n = count > 1 ? std::atoll(arguments[1]) : 1000;
  penn::run(n, 1);
  penn::run(n, 2);
}
