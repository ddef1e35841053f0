#include "penn/infer/estimator.h"

#include <fmt/format.h>

#include <algorithm>

#include "penn/base/error.h"
#include "penn/base/parallel.h"
#include "penn/infer/parameter_box.h"
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
  const MixtureShape shape = model_.info.network.mixture;
  const std::vector<double> widths = model_.info.widths.is_empty() ? std::vector<double>() : model_.info.widths.at(n);
  const Box box = parameter_box(system());
  // Linear coordinates of the network lie in [-1, 1]: the affine map that takes these to the parameter, and leaves box coordinates as they are.
  std::vector<double> low = box.lo, high = box.hi;
  const std::vector<double> minus_one(low.size(), -1), plus_one(low.size(), 1);
  Coordinates coordinates;
  for (size_t k = 0; k < low.size(); ++k) {
    coordinates.push_back(model_.info.network.in_box(k) ? Coordinate::kBox : Coordinate::kLinear);
    if (model_.info.network.in_box(k)) low[k] = -1, high[k] = 1;
  }
  std::vector<std::optional<Estimate>> results(static_cast<size_t>(B));
  std::vector<float> embedding(static_cast<size_t>(std::min(B, kPiece) * E)), y(static_cast<size_t>(std::min(B, kPiece) * K));
  for (int64_t first = 0; first < B; first += kPiece) {
    const int64_t count = std::min(kPiece, B - first);
    network_->embed(z + first * n * d, count, n, sampling + first, embedding.data(), threads_);
    network_->decode(embedding.data(), count, y.data(), threads_);
    parallel_for(count, threads_, [&](int64_t b, int) {
      const std::vector<double> free(y.data() + b * K, y.data() + (b + 1) * K);
      const auto kind = shape.full ? CovarianceKind::kFull : CovarianceKind::kDiagonal;
      GaussianMixture mixture = GaussianMixture::from_free_vector(free, static_cast<size_t>(shape.components), static_cast<size_t>(shape.parameters), kind, shape.least_precision);
      if (!widths.empty()) mixture = mixture.with_widths(widths);
      results[static_cast<size_t>(first + b)] = Estimate{Posterior(mixture.unscaled(minus_one, plus_one).rescaled(low, high), coordinates, box),
                                                         model_.info.familiarity.share_beyond(embedding.data() + b * E)};
    });
  }
  std::vector<Estimate> out;
  for (auto& result : results) out.push_back(std::move(*result));
  return out;
}

}  // namespace penn
