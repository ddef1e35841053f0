// The estimator on observed and on simulated trajectories.
#include <algorithm>
#include <map>

#include "penn/infer/evaluation.h"
#include "penn/infer/exact_process.h"
#include "penn/infer/inference.h"
#include "penn/summary/summary.h"

namespace penn {
namespace {
constexpr size_t kBatch = 256;  // trajectories of one length estimated together
}

ObservationFormat observation_format(const Estimator& estimator) {
  ObservationFormat format;
  for (const Channel& c : estimator.system().observations[static_cast<size_t>(estimator.observation())].channels)
    format.channels.push_back(c.name);
  format.sampling = estimator.info().sampling;
  format.fewest_samples = kSummaryMinLength;
  return format;
}

void spread_roundings(const Estimator& estimator, std::vector<ObservedTrajectory>& observed) {
  for (ObservedTrajectory& o : observed) {
    const int64_t d = estimator.info().network.inputs;
    o.seen = spread_rounding(o.z, o.n, d, o.roundings);
    for (int64_t c = 0; c < d; ++c)
      if (estimator.info().on_lattice[static_cast<size_t>(c)]) {
        for (int64_t i = 0; i < o.n; ++i) o.seen[static_cast<size_t>(i * d + c)] = o.z[static_cast<size_t>(i * d + c)];
        o.roundings[static_cast<size_t>(c)] = {};
      }
  }
}

std::vector<Inference> infer(const Estimator& estimator, const std::string& model_name, const std::vector<ObservedTrajectory>& observed) {
  const ModelContext model{model_name, estimator.system(), estimator.observation(), estimator.info()};
  std::map<int64_t, std::vector<size_t>> by_length;
  for (size_t i = 0; i < observed.size(); ++i) by_length[observed[i].n].push_back(i);
  std::vector<std::optional<Inference>> answers(observed.size());
  for (const auto& [n, members] : by_length)
    for (size_t first = 0; first < members.size(); first += kBatch) {
      const std::span<const size_t> batch(&members[first], std::min(kBatch, members.size() - first));
      std::vector<float> z, sampling;
      for (const size_t i : batch) {
        const std::vector<float>& seen = observed[i].seen.empty() ? observed[i].z : observed[i].seen;
        z.insert(z.end(), seen.begin(), seen.end());
        // A model of one interval knows no other; the difference is a warning.
        sampling.push_back(static_cast<float>(model.info.sampling.is_single() ? model.info.sampling.low : observed[i].sampling));
      }
      const std::vector<Estimate> estimates = estimator.estimate(z.data(), static_cast<int64_t>(batch.size()), n, sampling.data());
      for (size_t j = 0; j < batch.size(); ++j) answers[batch[j]] = make_inference(model, observed[batch[j]], estimates[j]);
    }
  std::vector<Inference> result;
  for (auto& answer : answers) result.push_back(std::move(*answer));
  return result;
}

Evaluation evaluate(const Estimator& estimator, const std::string& model_name, const EvaluationOptions& options) {
  const ModelContext model{model_name, estimator.system(), estimator.observation(), estimator.info()};
  EvaluationOptions with_exact = options;
  const System& system = estimator.system();
  if (system.exact.is_given()) with_exact.exact = ou_process(system, system.exact.tau, system.exact.D);
  return evaluate(
      model,
      [&](const TrajectoryBatch& batch) { return estimator.estimate(batch.z.data(), batch.count, batch.length, batch.sampling.data()); },
      with_exact);
}

}  // namespace penn
