// The estimator on observed trajectories.
#include "penn/answer/infer.h"

#include <algorithm>
#include <map>

#include "penn/answer/inference.h"
#include "penn/features/summary.h"

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

SeenTrajectory as_seen(const ModelInfo& model, const ObservedTrajectory& observed) {
  SeenTrajectory seen;
  const int64_t d = model.network.inputs;
  seen.z = dither(observed.z, observed.n, d, seen.quantisations);
  for (int64_t c = 0; c < d; ++c)
    if (model.quantised[static_cast<size_t>(c)]) {
      for (int64_t i = 0; i < observed.n; ++i)
        seen.z[static_cast<size_t>(i * d + c)] = observed.z[static_cast<size_t>(i * d + c)];
      seen.quantisations[static_cast<size_t>(c)] = {};
    }
  return seen;
}

std::vector<Inference> infer(const Estimator& estimator, const std::string& model_name,
                             const std::vector<ObservedTrajectory>& observed) {
  const ModelContext model = estimator.context(model_name);
  std::map<int64_t, std::vector<size_t>> by_length;
  for (size_t i = 0; i < observed.size(); ++i) by_length[observed[i].n].push_back(i);
  std::vector<std::optional<Inference>> answers(observed.size());
  for (const auto& [n, members] : by_length)
    for (size_t first = 0; first < members.size(); first += kBatch) {
      const std::span<const size_t> batch(&members[first], std::min(kBatch, members.size() - first));
      std::vector<float> z, sampling;
      std::vector<std::vector<Quantisation>> quantisations;
      for (const size_t i : batch) {
        SeenTrajectory seen = as_seen(model.info, observed[i]);
        z.insert(z.end(), seen.z.begin(), seen.z.end());
        quantisations.push_back(std::move(seen.quantisations));
        // A model of one interval knows no other; the difference is a warning.
        sampling.push_back(
            static_cast<float>(model.info.sampling.is_single() ? model.info.sampling.low : observed[i].sampling));
      }
      const std::vector<Estimate> estimates =
          estimator.estimate(z.data(), static_cast<int64_t>(batch.size()), n, sampling.data());
      for (size_t j = 0; j < batch.size(); ++j)
        answers[batch[j]] = make_inference(model, observed[batch[j]], estimates[j], quantisations[j]);
    }
  std::vector<Inference> result;
  for (auto& answer : answers) result.push_back(std::move(*answer));
  return result;
}

}  // namespace penn
