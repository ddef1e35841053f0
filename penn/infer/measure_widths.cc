#include "penn/infer/measure_widths.h"

#include <algorithm>
#include <cmath>

#include "penn/base/error.h"
#include "penn/base/parallel.h"
#include "penn/density/normal.h"
#include "penn/infer/estimator.h"
#include "penn/infer/evaluation.h"
#include "penn/infer/parameter_box.h"

namespace penn {
namespace {

constexpr uint64_t kSeed = 0x7769647468u;  // "width": no one evaluates with this one by chance
constexpr double kLargestLog = 0.34;       // of a factor; more is no correction, but another model
constexpr double kNinety = 1.6448536269514722;

NormalMixture1d widened(const NormalMixture1d& law, double factor) {
  std::vector<double> log_weights, means, sds;
  for (size_t j = 0; j < law.components(); ++j) {
    log_weights.push_back(std::log(law.weight(j)));
    means.push_back(law.component_mean(j));
    sds.push_back(law.component_sd(j) * factor);
  }
  return {std::move(log_weights), std::move(means), std::move(sds)};
}

// ln of what the widths, times `factor`, still lack.
double missing(std::span<const NormalMixture1d> laws, std::span<const double> truths, Coordinate coordinate, double low, double high, double factor, int threads) {
  std::vector<double> z(laws.size()), distance(laws.size());
  parallel_for(static_cast<int64_t>(laws.size()), threads, [&](int64_t i, int) {
    const MarginalLaw law(widened(laws[static_cast<size_t>(i)], factor), coordinate, low, high);
    const double truth = truths[static_cast<size_t>(i)];
    z[static_cast<size_t>(i)] = (law.mean() - truth) / law.sd();
    distance[static_cast<size_t>(i)] = std::abs(normal_quantile(std::clamp(law.cdf(truth), 1e-300, 1 - 1e-16)));
  });
  RunningMoments moments;
  for (const double x : z) moments.add(x);
  const auto ninety = distance.begin() + static_cast<std::ptrdiff_t>(0.9 * static_cast<double>(distance.size()));
  std::nth_element(distance.begin(), ninety, distance.end());
  return 0.5 * (std::log(moments.sd()) + std::log(*ninety / kNinety));
}

std::vector<int64_t> ends_and_middle(IntRange lengths) {
  if (lengths.is_single()) return {lengths.low};
  const int64_t middle = std::llround(std::sqrt(static_cast<double>(lengths.low) * static_cast<double>(lengths.high)));
  if (middle == lengths.low || middle == lengths.high) return {lengths.low, lengths.high};
  return {lengths.low, middle, lengths.high};
}

}  // namespace

double width_factor(std::span<const NormalMixture1d> laws, std::span<const double> truths, Coordinate coordinate, double low, double high, int threads) {
  double log_factor = 0;
  // One step would do for a single Gaussian; with several, part of the width is the distance between them, which stays.
  for (int step = 0; step < 12; ++step) {
    const double lacking = missing(laws, truths, coordinate, low, high, std::exp(log_factor), threads);
    if (!std::isfinite(lacking)) return 1;
    log_factor = std::clamp(log_factor + lacking, -kLargestLog, kLargestLog);
    if (std::abs(lacking) < 1e-3) break;
  }
  // Its standard error for Gaussians, 0.71 and 0.89 / sqrt(n) of the two logarithms. Towards 1 by what chance alone would have given (James and Stein).
  const double variance = 0.5 / static_cast<double>(laws.size());
  return std::exp(log_factor * std::max(0.0, 1 - variance / std::max(log_factor * log_factor, 1e-12)));
}

std::optional<WidthCorrection> measure_widths(ModelFile model, const WidthOptions& options) {
  if (options.count < 100) throw UsageError("at least 100 trajectories are needed to measure widths", "for example: -n 8000");
  model.info.widths = {};
  WidthCorrection widths;
  widths.lengths = options.lengths.empty() ? ends_and_middle(model.info.lengths) : options.lengths;
  widths.trajectories = options.count;
  const int threads = options.threads > 0 ? options.threads : processor_count();
  const Estimator estimator(std::move(model), threads);
  const System& system = estimator.system();
  const ModelContext context{"model", system, estimator.observation(), estimator.info()};
  for (size_t i = 0; i < widths.lengths.size(); ++i) {
    std::vector<std::vector<NormalMixture1d>> laws(system.parameters.size());
    std::vector<std::vector<double>> truths(system.parameters.size());
    const int64_t before = static_cast<int64_t>(i) * options.count, all = static_cast<int64_t>(widths.lengths.size()) * options.count;
    EvaluationOptions evaluation{.count = options.count, .length = widths.lengths[i], .seed = kSeed, .threads = threads};
    bool goes_on = true;
    if (options.progress) evaluation.progress = [&](int64_t done) { return goes_on = options.progress(before + done, all); };
    evaluate(
        context,
        [&](const TrajectoryBatch& batch) {
          std::vector<Estimate> estimates = estimator.estimate(batch.z.data(), batch.count, batch.length, batch.sampling.data());
          for (size_t b = 0; b < estimates.size(); ++b)
            for (size_t k = 0; k < laws.size(); ++k) {
              laws[k].push_back(estimates[b].posterior.mixture().marginal_1d(k));
              truths[k].push_back(batch.theta[b * laws.size() + k]);
            }
          return estimates;
        },
        evaluation);
    if (!goes_on) return {};
    for (size_t k = 0; k < laws.size(); ++k) {
      const Range range = system.parameters[k].range;
      const Coordinate coordinate = estimator.info().network.in_box(k) ? Coordinate::kBox : Coordinate::kLinear;
      widths.factors.push_back(width_factor(laws[k], truths[k], coordinate, range.low, range.high, threads));
    }
  }
  return widths;
}

}  // namespace penn
