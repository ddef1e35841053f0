#include "penn/model/estimator.h"

#include <algorithm>

#include "penn/base/parallel.h"
#include "penn/model/network_posterior.h"

namespace penn {
namespace {

constexpr int64_t kChunk = 512;  // trajectories at a time: memory stays flat

}  // namespace

Estimator::Estimator(Model model, int threads)
    : model_(std::move(model)), threads_(threads > 0 ? threads : processor_count()) {}

std::vector<Estimate> Estimator::estimate(const float* z, int64_t B, int64_t n, const float* sampling) const {
  const int64_t d = model_.info.network.inputs, E = model_.network.embedding_size(), K = model_.network.output_size();
  const std::vector<double> scale_factors =
      model_.info.recalibration.is_empty() ? std::vector<double>() : model_.info.recalibration.at(n);
  std::vector<std::optional<Estimate>> results(static_cast<size_t>(B));
  std::vector<float> embedding(static_cast<size_t>(std::min(B, kChunk) * E)),
      raw(static_cast<size_t>(std::min(B, kChunk) * K));
  for (int64_t first = 0; first < B; first += kChunk) {
    const int64_t count = std::min(kChunk, B - first);
    model_.network.embed(z + first * n * d, count, n, sampling + first, embedding.data(), threads_);
    model_.network.decode(embedding.data(), count, raw.data(), threads_);
    parallel_for(count, threads_, [&](int64_t b, int) {
      results[static_cast<size_t>(first + b)] =
          Estimate{posterior_of(model_, {raw.data() + b * K, static_cast<size_t>(K)}, scale_factors),
                   model_.info.typicality.fraction_beyond(embedding.data() + b * E)};
    });
  }
  std::vector<Estimate> out;
  for (auto& result : results) out.push_back(std::move(*result));
  return out;
}

}  // namespace penn
