#include "penn/train/familiarity.h"

#include <algorithm>

#include "penn/network/penn_network.h"

namespace penn {
namespace {

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
  torch::Tensor covariance = centred.t().matmul(centred) / static_cast<double>(x.size(0) - 1);
  // Features that hardly vary, or that follow from others, would make the inverse wild.
  const double typical = covariance.diagonal().mean().item<double>();
  covariance = covariance + torch::eye(x.size(1), covariance.options()) * (1e-3 * typical + 1e-12);
  const torch::Tensor y = embeddings(network, held) - mean;
  const torch::Tensor root = torch::linalg_cholesky(covariance);
  const torch::Tensor whitened = torch::linalg_solve_triangular(root, y.t(), /*upper=*/false);
  const torch::Tensor distance = whitened.square().sum(0);
  const torch::Tensor at = torch::linspace(0, 1, 1001, torch::kFloat64);
  return {to_vector(mean), to_vector(covariance), to_vector(torch::quantile(distance, at))};
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
