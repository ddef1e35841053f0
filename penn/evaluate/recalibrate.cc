#include "penn/evaluate/recalibrate.h"

#include <algorithm>
#include <cmath>

#include "penn/base/error.h"
#include "penn/base/parallel.h"
#include "penn/model/network_posterior.h"
#include "penn/posterior/normal.h"
#include "penn/simulate/simulator.h"

namespace penn {
namespace {

constexpr uint64_t kSeed = 0x7769647468u;  // "width"; those of trainings and evaluations have other marks
constexpr int64_t kTrajectoriesAtATime = 256;
constexpr int kSteps = 12;
constexpr double kNear = 2e-3;   // ln of a factor that is near enough to 1
constexpr double kLargestZ = 6;  // |z| counts for no more: one trajectory in thousands must not decide
constexpr double kNinetyQuantile = 1.6448536269514722;

struct Demand {
  double log_factor = 0;  // what the scales lack
  double error = 0;       // its standard error
};

// z and the distances |Phi^-1(PIT)| of one parameter.
Demand demand(std::span<const double> z, std::vector<double> distance) {
  const double n = static_cast<double>(z.size());
  double mean = 0, second = 0, fourth = 0;
  for (const double x : z) mean += x / n;
  for (const double x : z) second += (x - mean) * (x - mean) / n;
  for (const double x : z) fourth += std::pow(x - mean, 4) / n;
  const auto ninety = distance.begin() + static_cast<std::ptrdiff_t>(0.9 * n);
  std::nth_element(distance.begin(), ninety, distance.end());
  // Of ln SD: sqrt((kurtosis - 1) / 4n). Of the 90 % point of |x|, x normal: sqrt(0.09 / n) over the density there and
  // the point itself. Both err together.
  const double sd_error = std::sqrt(std::max(fourth / (second * second) - 1, 0.0) / (4 * n)),
               ninety_error = std::sqrt(0.09 / n) / (2 * normal_density(kNinetyQuantile) * kNinetyQuantile);
  return {0.5 * (0.5 * std::log(second) + std::log(*ninety / kNinetyQuantile)), 0.5 * (sd_error + ninety_error)};
}

// What the network says of trajectories of one length, and the truth.
struct Answers {
  std::vector<float> raw, truths;  // (count, K), (count, M)
};

// Nothing where `go_on` says so.
std::optional<Answers> ask(const Model& model, int64_t length, int64_t all, int threads,
                           const std::function<bool(int64_t)>& go_on) {
  const Network& network = model.network;
  const Simulator simulator(model.system, model.observation, {.seed = kSeed, .threads = threads, .length = length});
  const int64_t K = network.output_size(), M = simulator.parameters();
  Answers answers;
  answers.raw.resize(static_cast<size_t>(all * K));
  answers.truths.resize(static_cast<size_t>(all * M));
  std::vector<float> z(static_cast<size_t>(kTrajectoriesAtATime * length * simulator.channels())),
      sampling(kTrajectoriesAtATime), embedding(static_cast<size_t>(kTrajectoriesAtATime * network.embedding_size()));
  for (int64_t first = 0; first < all; first += kTrajectoriesAtATime) {
    const int64_t count = std::min(kTrajectoriesAtATime, all - first);
    simulator.run(static_cast<uint64_t>(first), count, &answers.truths[static_cast<size_t>(first * M)], z.data(),
                  sampling.data());
    network.embed(z.data(), count, length, sampling.data(), embedding.data(), threads);
    network.decode(embedding.data(), count, &answers.raw[static_cast<size_t>(first * K)], threads);
    if (!go_on(first + count)) return {};
  }
  return answers;
}

std::vector<int64_t> ends_and_middle(IntRange trained) {
  if (trained.is_single()) return {trained.low};
  const int64_t middle = std::llround(std::sqrt(static_cast<double>(trained.low) * static_cast<double>(trained.high)));
  if (middle == trained.low || middle == trained.high) return {trained.low, trained.high};
  return {trained.low, middle, trained.high};
}

}  // namespace

std::vector<double> fit_scale_factors(int64_t count, const PosteriorWithScales& posterior,
                                      std::span<const float> truths, int threads) {
  const size_t n = static_cast<size_t>(count), M = truths.size() / n;
  const double limit = std::log(kLargestScaleFactor);
  std::vector<double> logs(M, 0.0), factors(M, 1.0), errors(M, 0.0), first(M, 0.0), response(M, 1.0);
  std::vector<std::vector<double>> z(M, std::vector<double>(n)), distance(M, std::vector<double>(n));
  // One step would do for a single Gaussian; with several, part of the width is the distance between them, which stays.
  for (int step = 0; step < kSteps; ++step) {
    parallel_for(count, threads, [&](int64_t task, int) {
      const size_t i = static_cast<size_t>(task);
      const Posterior q = posterior(task, factors);
      for (size_t k = 0; k < M; ++k) {
        const Marginal marginal = q.marginal(k);
        const double truth = truths[i * M + k];
        z[k][i] = std::clamp((marginal.mean() - truth) / marginal.sd(), -kLargestZ, kLargestZ);
        distance[k][i] = std::abs(normal_quantile(std::clamp(marginal.cdf(truth), 1e-300, 1 - 1e-16)));
      }
    });
    bool is_near = true;
    for (size_t k = 0; k < M; ++k) {
      const Demand d = demand(z[k], distance[k]);
      if (!std::isfinite(d.log_factor)) continue;  // nothing varies: nothing to learn
      is_near = is_near && std::abs(d.log_factor) < kNear;
      // How much of the wanted change a step achieved: the less, the larger the sampling error of the factor.
      if (step == 0) first[k] = d.log_factor;
      if (step == 1 && std::abs(first[k]) < limit) response[k] = std::clamp(1 - d.log_factor / first[k], 0.1, 1.0);
      logs[k] = std::clamp(logs[k] + d.log_factor, -limit, limit);
      errors[k] = d.error / response[k];
      factors[k] = std::exp(logs[k]);
    }
    if (is_near) break;
  }
  for (size_t k = 0; k < M; ++k)
    factors[k] = std::exp(logs[k] * std::max(0.0, 1 - errors[k] * errors[k] / std::max(logs[k] * logs[k], 1e-12)));
  return factors;
}

std::optional<Recalibration> recalibrate(const Model& model, const RecalibrationOptions& options) {
  Recalibration recalibration;
  recalibration.lengths = options.lengths.empty() ? ends_and_middle(model.info.lengths) : options.lengths;
  const int64_t lengths = static_cast<int64_t>(recalibration.lengths.size()), count = options.count / lengths;
  if (count < 100)
    throw UsageError("at least 100 trajectories of each length are needed to recalibrate", "for example: -n 24000");
  recalibration.trajectories = count;
  const int threads = options.threads > 0 ? options.threads : processor_count();
  const int64_t K = model.network.output_size();
  for (size_t i = 0; i < recalibration.lengths.size(); ++i) {
    const int64_t before = static_cast<int64_t>(i) * count;
    const std::optional<Answers> answers = ask(model, recalibration.lengths[i], count, threads, [&](int64_t done) {
      return !options.progress || options.progress(before + done, lengths * count);
    });
    if (!answers) return {};
    const auto posterior = [&](int64_t b, std::span<const double> factors) {
      return posterior_of(model, {&answers->raw[static_cast<size_t>(b * K)], static_cast<size_t>(K)}, factors);
    };
    const std::vector<double> factors = fit_scale_factors(count, posterior, answers->truths, threads);
    recalibration.factors.insert(recalibration.factors.end(), factors.begin(), factors.end());
  }
  return recalibration;
}

}  // namespace penn
