#include "penn/infer/estimator.h"

#include <fmt/format.h>

#include <algorithm>

#include "penn/base/error.h"
#include "penn/base/parallel.h"
#include "penn/infer/network_posterior.h"
#include "penn/infer/plain_network.h"

namespace penn {
namespace {

constexpr int64_t kPiece = 512;  // trajectories at a time: memory stays flat

}  // namespace

Estimator::Estimator(ModelFile model, int threads)
    : model_(std::move(model)), network_(std::make_unique<PlainNetwork>(model_)), threads_(threads > 0 ? threads : processor_count()) {
  if (static_cast<size_t>(network_->embedding_size()) != model_.info.familiarity.mean.size())
    throw ModelError(fmt::format("{}: the statistics of the embedding do not fit the network", model_.file.name()));
}

Estimator::~Estimator() = default;
Estimator::Estimator(Estimator&&) noexcept = default;

std::vector<Estimate> Estimator::estimate(const float* z, int64_t B, int64_t n, const float* sampling) const {
  const int64_t d = model_.info.network.inputs, E = network_->embedding_size(), K = network_->output_size();
  const std::vector<double> widths = model_.info.widths.is_empty() ? std::vector<double>() : model_.info.widths.at(n);
  std::vector<std::optional<Estimate>> results(static_cast<size_t>(B));
  std::vector<float> embedding(static_cast<size_t>(std::min(B, kPiece) * E)), y(static_cast<size_t>(std::min(B, kPiece) * K));
  for (int64_t first = 0; first < B; first += kPiece) {
    const int64_t count = std::min(kPiece, B - first);
    network_->embed(z + first * n * d, count, n, sampling + first, embedding.data(), threads_);
    network_->decode(embedding.data(), count, y.data(), threads_);
    parallel_for(count, threads_, [&](int64_t b, int) {
      results[static_cast<size_t>(first + b)] =
          Estimate{posterior_of(model_, {y.data() + b * K, static_cast<size_t>(K)}, widths), model_.info.familiarity.share_beyond(embedding.data() + b * E)};
    });
  }
  std::vector<Estimate> out;
  for (auto& result : results) out.push_back(std::move(*result));
  return out;
}

}  // namespace penn
