#include "penn/train/familiarity.h"

#include <algorithm>

#include "penn/base/half.h"
#include "penn/infer/dither.h"
#include "penn/network/penn_network.h"

namespace penn {
namespace {

constexpr int64_t kDirections = 32;

torch::Tensor embeddings(PennNetwork& network, const std::vector<TrajectoryBatch>& sets) {
  torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> parts;
  constexpr int64_t kPiece = 500;
  for (const TrajectoryBatch& set : sets)
    for (int64_t first = 0; first < set.count; first += kPiece) {
      const int64_t count = std::min(kPiece, set.count - first), row = set.length * set.channels;
      const torch::Tensor z = torch::from_blob(const_cast<float*>(set.z.data()) + first * row, {count, set.length, set.channels});
      const torch::Tensor sampling = torch::from_blob(const_cast<float*>(set.sampling.data()) + first, {count});
      parts.push_back(network.embedding(z, sampling).to(torch::kFloat64));
    }
  return torch::cat(parts, 0);
}

std::vector<float> to_vector(const torch::Tensor& t) {
  const torch::Tensor host = t.to(torch::kFloat32).contiguous();
  return {host.data_ptr<float>(), host.data_ptr<float>() + host.numel()};
}

}  // namespace

Familiarity measure_familiarity(PennNetwork& network, const std::vector<TrajectoryBatch>& fitted, const std::vector<TrajectoryBatch>& held) {
  torch::NoGradGuard no_grad;
  const torch::Tensor x = embeddings(network, fitted), mean = x.mean(0), centred = x - mean;
  const auto [values, vectors] = torch::linalg_eigh(centred.t().matmul(centred) / static_cast<double>(x.size(0) - 1));
  const int64_t E = x.size(1), k = std::min<int64_t>(E, kDirections);
  Familiarity familiarity;
  familiarity.mean = to_vector(mean);
  familiarity.directions = to_vector(vectors.slice(1, E - k).flip(1).t());
  for (float& value : familiarity.directions) value = widen(narrow(value));  // as the file will have them, so that the distances below are those of use
  // A direction that hardly varies would make every small difference look unusual.
  const torch::Tensor floor = values.mean() * 1e-6 + 1e-12;
  familiarity.spread = to_vector(torch::max(values.slice(0, E - k).flip(0), floor).sqrt());

  const torch::Tensor y = embeddings(network, held).to(torch::kFloat32).contiguous();
  torch::Tensor inside = torch::empty({y.size(0)}, torch::kFloat64), outside = torch::empty_like(inside);
  for (int64_t i = 0; i < y.size(0); ++i) familiarity.distances(y.data_ptr<float>() + i * E, inside.data_ptr<double>()[i], outside.data_ptr<double>()[i]);
  const torch::Tensor at = torch::linspace(0, 1, 1001, torch::kFloat64);
  familiarity.inside = to_vector(torch::quantile(inside, at));
  familiarity.outside = to_vector(torch::quantile(outside, at));
  return familiarity;
}

std::vector<bool> find_lattices(const std::vector<TrajectoryBatch>& sets) {
  const int64_t d = sets.front().channels;
  std::vector<bool> lattices;
  for (int64_t c = 0; c < d; ++c) {
    int64_t rounded = 0, looked_at = 0;
    for (const TrajectoryBatch& set : sets)
      for (int64_t i = 0; i < std::min<int64_t>(set.count, 50); ++i, ++looked_at)
        rounded += find_rounding(set.z.data() + i * set.length * d + c, set.length, d).step > 0;
    lattices.push_back(2 * rounded > looked_at);
  }
  return lattices;
}

void measure_values(const std::vector<TrajectoryBatch>& sets, std::vector<float>& low, std::vector<float>& high) {
  const int64_t d = sets.front().channels;
  low.clear();
  high.clear();
  for (int64_t c = 0; c < d; ++c) {
    std::vector<float> values;
    for (const TrajectoryBatch& set : sets)
      for (size_t i = static_cast<size_t>(c); i < set.z.size(); i += static_cast<size_t>(d)) values.push_back(set.z[i]);
    const auto point = [&](double q) {
      const auto at = values.begin() + static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1));
      std::nth_element(values.begin(), at, values.end());
      return *at;
    };
    low.push_back(point(0.001));
    high.push_back(point(0.999));
  }
}

}  // namespace penn
