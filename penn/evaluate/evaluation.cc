#include "penn/evaluate/evaluation.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "penn/base/error.h"
#include "penn/base/files.h"
#include "penn/base/parallel.h"
#include "penn/evaluate/calibration_text.h"
#include "penn/evaluate/exact_process.h"
#include "penn/model/parameter_box.h"
#include "penn/simulate/batch_stream.h"
#include "penn/simulate/read_dataset.h"
#include "penn/simulate/simulator.h"

namespace penn {
namespace {

// Trainings key their trajectories by their own small seeds (and these with other marks): this one keeps evaluation
// apart from all of them.
constexpr uint64_t kEvaluationSeed = 0x6576616c75617465u;  // "evaluate"
constexpr int64_t kBatchValues = 2'000'000;                // numbers of one batch of trajectories: 8 MB
constexpr int64_t kMostBatch = 1024;

int64_t default_length(const ModelContext& model) {
  const IntRange trained = model.info.lengths;
  return std::clamp(model.system.simulation.length.high, trained.low, trained.high);
}

// Where the trajectories come from, a batch at a time.
class Source {
 public:
  virtual ~Source() = default;
  virtual int64_t count() const = 0;
  virtual int64_t length() const = 0;
  virtual void fill(int64_t first, int64_t count, TrajectoryBatch& batch) = 0;
  virtual SimulationCount simulated() const = 0;
  virtual std::string warning() const { return ""; }
};

class FreshSource final : public Source {
 public:
  FreshSource(const ModelContext& model, const EvaluationOptions& options)
      : count_(options.count),
        simulator_(model.system, model.observation,
                   {.seed = options.seed ^ kEvaluationSeed,
                    .threads = options.threads,
                    .length = options.length > 0 ? options.length : default_length(model)}) {}
  int64_t count() const override { return count_; }
  int64_t length() const override { return simulator_.length(); }
  void fill(int64_t first, int64_t count, TrajectoryBatch& batch) override {
    batch.count = count, batch.length = simulator_.length(), batch.channels = simulator_.channels();
    batch.theta.resize(static_cast<size_t>(count * simulator_.parameters()));
    batch.z.resize(static_cast<size_t>(count * batch.length * batch.channels));
    batch.sampling.resize(static_cast<size_t>(count));
    const SimulationCount done =
        simulator_.run(static_cast<uint64_t>(first), count, batch.theta.data(), batch.z.data(), batch.sampling.data());
    simulated_.kept += done.kept;
    simulated_.discarded += done.discarded;
  }
  SimulationCount simulated() const override { return simulated_; }
  std::string warning() const override { return simulator_.kernel_warning(); }

 private:
  int64_t count_;
  Simulator simulator_;
  SimulationCount simulated_;
};

class StoredSource final : public Source {
 public:
  StoredSource(const ModelContext& model, const EvaluationOptions& options)
      : set_(read_set(options.data, model.system, model.observation)),
        count_(std::min(options.count, set_.all.count)),
        length_(options.length > 0 ? options.length : set_.all.length) {
    if (set_.all.count == 0) throw DataError(fmt::format("'{}' holds no trajectories", options.data));
    if (length_ > set_.all.length)
      throw UsageError(
          fmt::format("--length {}: the trajectories in '{}' have {} samples", length_, options.data, set_.all.length),
          "leave out --length, or give a smaller one");
  }
  int64_t count() const override { return count_; }
  int64_t length() const override { return length_; }
  void fill(int64_t first, int64_t count, TrajectoryBatch& batch) override {
    const TrajectoryBatch& all = set_.all;
    const int64_t M = static_cast<int64_t>(all.theta.size()) / all.count, d = all.channels;
    batch.count = count, batch.length = length_, batch.channels = d;
    batch.theta.assign(all.theta.begin() + first * M, all.theta.begin() + (first + count) * M);
    batch.sampling.assign(all.sampling.begin() + first, all.sampling.begin() + first + count);
    batch.z.clear();
    for (int64_t i = first; i < first + count; ++i) {  // the first samples of each
      const auto start = all.z.begin() + i * all.length * d;
      batch.z.insert(batch.z.end(), start, start + length_ * d);
    }
  }
  SimulationCount simulated() const override { return set_.count; }

 private:
  FixedSet set_;
  int64_t count_, length_;
};

}  // namespace

Evaluation evaluate(const ModelContext& model, const EstimateBatch& estimate, const EvaluationOptions& options) {
  if (options.count < 1)
    throw UsageError(fmt::format("the number of trajectories must be at least 1, got {}", options.count),
                     "for example: -n 20000");
  const auto start = std::chrono::steady_clock::now();
  std::unique_ptr<Source> source;
  if (options.data.empty()) source = std::make_unique<FreshSource>(model, options);
  else source = std::make_unique<StoredSource>(model, options);
  const System& system = model.system;
  const Box box = parameter_box(system);
  const size_t M = system.parameters.size();
  Calibration calibration(parameter_names(system), box, options.keep);
  const int threads = options.threads > 0 ? options.threads : processor_count();
  Evaluation result;
  result.training = training_record(model.info);
  RunningMoments exact_nll, gap;
  std::optional<ExactGapMeter> meter;
  if (options.gap_count > 0)
    if (auto exact_likelihood = ExactLikelihood::recognise(system, model.observation))
      meter.emplace(std::move(*exact_likelihood), box, options.gap_seconds);
  result.length = source->length();
  result.kernel_warning = source->warning();
  const int64_t channels =
      static_cast<int64_t>(system.observations[static_cast<size_t>(model.observation)].channels.size());
  const int64_t batch_size = std::clamp<int64_t>(kBatchValues / (result.length * channels), 1, kMostBatch);
  TrajectoryBatch batch;
  for (int64_t first = 0; first < source->count(); first += batch_size) {
    source->fill(first, std::min(batch_size, source->count() - first), batch);
    const std::vector<Estimate> estimates = estimate(batch);
    std::vector<TrajectoryScore> scores(estimates.size());
    std::vector<double> exact(estimates.size());
    const int64_t compared = meter ? std::clamp<int64_t>(options.gap_count - first, 0, batch.count) : 0;
    std::vector<std::optional<double>> log_exact(static_cast<size_t>(compared));
    parallel_for(batch.count, threads, [&](int64_t task, int) {
      const size_t i = static_cast<size_t>(task);
      const std::vector<double> truth(batch.theta.begin() + static_cast<std::ptrdiff_t>(i * M),
                                      batch.theta.begin() + static_cast<std::ptrdiff_t>((i + 1) * M));
      scores[i] =
          score_posterior(estimates[i].posterior, truth, estimates[i].typicality, static_cast<uint64_t>(first) + i);
      if (options.exact)
        exact[i] = -OuPosterior(*options.exact, &batch.z[i * static_cast<size_t>(batch.length)], batch.length)
                        .log_density(truth.data());
      if (task < compared) {
        const size_t values = static_cast<size_t>(batch.length * batch.channels);
        log_exact[i] = meter->log_posterior_of({&batch.z[i * values], values}, batch.sampling[i], truth,
                                               estimates[i].posterior, static_cast<uint64_t>(first) + i);
      }
    });
    for (size_t i = 0; i < log_exact.size(); ++i) meter->add(log_exact[i], -scores[i].nll);
    for (size_t i = 0; i < scores.size(); ++i) {
      calibration.add(scores[i]);
      if (options.exact) exact_nll.add(exact[i]), gap.add(scores[i].nll - exact[i]);
    }
    if (options.progress && !options.progress(first + batch.count) && first + batch.count < source->count()) {
      result.is_complete = false;
      break;
    }
  }
  const SimulationCount simulated = source->simulated();
  result.discarded = simulated.discarded;
  result.discarded_fraction = simulated.discarded_fraction();
  result.report = calibration.report();
  if (options.exact)
    result.exact = {{exact_nll.mean(), exact_nll.sd()},
                    {gap.mean(), gap.sd()},
                    gap.sd() / std::sqrt(static_cast<double>(gap.count()))};
  if (meter) result.gap = meter->result();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

Evaluation evaluate(const Estimator& estimator, const std::string& model_name, const EvaluationOptions& options) {
  const ModelContext model = estimator.context(model_name);
  EvaluationOptions with_exact = options;
  const System& system = estimator.system();
  if (system.exact.is_given()) {  // known on every trajectory: no need of some
    with_exact.exact = ou_process(system, system.exact.tau, system.exact.D);
    with_exact.gap_count = 0;
  }
  return evaluate(
      model,
      [&](const TrajectoryBatch& batch) {
        return estimator.estimate(batch.z.data(), batch.count, batch.length, batch.sampling.data());
      },
      with_exact);
}

nlohmann::ordered_json evaluation_to_json(const Evaluation& evaluation, const std::string& model_name,
                                          const EvaluationOptions& options) {
  nlohmann::ordered_json json = {{"penn", version()},
                                 {"model", model_name},
                                 {"training", *evaluation.training},
                                 {"data", options.data},
                                 {"seed", options.seed},
                                 {"length", evaluation.length},
                                 {"discarded", evaluation.discarded},
                                 {"discarded_fraction", evaluation.discarded_fraction},
                                 {"complete", evaluation.is_complete},
                                 {"seconds", evaluation.seconds}};
  json.update(calibration_to_json(evaluation.report));
  if (evaluation.exact) {
    const ExactComparison& e = *evaluation.exact;
    json["exact"] = {{"nll", {{"mean", e.nll.mean}, {"sd", e.nll.sd}}},
                     {"gap", {{"mean", e.gap.mean}, {"sd", e.gap.sd}, {"error", e.gap_error}}}};
  }
  if (evaluation.gap) {
    const ExactGap& g = *evaluation.gap;
    json["exact_gap"] = {{"family", g.family},   {"note", g.note},       {"count", g.count},
                         {"refused", g.refused}, {"is_late", g.is_late}, {"nll", g.nll},
                         {"mean", g.mean},       {"error", g.error},     {"upper_decile", g.upper_decile}};
  }
  return json;
}

std::string evaluation_text(const Evaluation& evaluation, const std::string& model_name) {
  std::string out =
      fmt::format("{}: {} trajectories of {} samples in {:.1f} s{}\n", model_name, evaluation.report.count,
                  evaluation.length, evaluation.seconds, evaluation.is_complete ? "" : " (interrupted)");
  if (evaluation.discarded > 0)
    out += fmt::format("{} diverged and were drawn again ({:.2f} % of all draws)\n", evaluation.discarded,
                       100 * evaluation.discarded_fraction);
  if (evaluation.exact)
    out += fmt::format("exact posterior   {:.4f}  (SD {:.3f}); the model is {:.4f} +- {:.4f} nats behind\n",
                       evaluation.exact->nll.mean, evaluation.exact->nll.sd, evaluation.exact->gap.mean,
                       evaluation.exact->gap_error);
  if (evaluation.gap && !evaluation.exact) out += exact_gap_text(*evaluation.gap);
  return out + calibration_table(evaluation.report);
}

}  // namespace penn
