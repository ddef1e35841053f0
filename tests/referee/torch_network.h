// The whole network in LibTorch's own operations, in doubles with autograd: what ours is compared with. Weights come
// from the list of ours, by name.
#pragma once

#include <torch/torch.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "penn/network/lstm.h"
#include "penn/network/network.h"

namespace penn::referee {

using torch::Tensor;

inline Tensor tensor_of(const float* data, std::vector<int64_t> sizes) {
  return torch::from_blob(const_cast<float*>(data), sizes).to(torch::kDouble);
}

// Relative to the largest entry of what is expected.
inline double difference(const Tensor& a, const Tensor& expected) {
  return ((a - expected).abs().max() / expected.abs().max().clamp_min(1e-30)).item<double>();
}

using Leaves = std::map<std::string, Tensor>;
inline Leaves leaves_of(const std::vector<WeightBlock>& blocks, const float* weights) {
  Leaves leaves;
  for (const WeightBlock& block : blocks) {
    const std::vector<int64_t> sizes(block.shape.begin(), block.shape.end());
    leaves[block.name] = tensor_of(weights + block.offset, sizes).clone().requires_grad_();
  }
  return leaves;
}

inline Tensor linear(const Leaves& w, const std::string& name, const Tensor& x) {
  return torch::linear(x, w.at(name + ".weight"), w.at(name + ".bias"));
}

inline Tensor decode(const Leaves& w, Tensor u) {
  if (w.count("decoder.input_projection.weight")) u = linear(w, "decoder.input_projection", u);
  for (int k = 1; w.count("decoder.block" + std::to_string(k) + ".l1.weight"); ++k) {
    const std::string name = "decoder.block" + std::to_string(k) + ".";
    Tensor v = u;
    for (const char* layer : {"l1", "l2", "l3"}) v = torch::elu(linear(w, name + layer, v));
    u = v + (w.count(name + "skip.weight") ? linear(w, name + "skip", u) : u);
  }
  return linear(w, "decoder.last", u);
}

// x (B, T, C) -> (B, H), parameters in the order w_ih, w_hh, b_ih, b_hh of every layer.
inline Tensor lstm_mean(const Tensor& x, const std::vector<Tensor>& parameters) {
  const int64_t layers = static_cast<int64_t>(parameters.size()) / 4, H = parameters[1].size(1);
  const Tensor zero = torch::zeros({layers, x.size(0), H}, x.options().requires_grad(false));
  return std::get<0>(torch::lstm(x, {zero, zero}, parameters, /*has_biases=*/true, layers, /*dropout=*/0.0,
                                 /*train=*/true, /*bidirectional=*/false, /*batch_first=*/true))
      .mean(1);
}
inline std::vector<Tensor> lstm_parameters(const Leaves& w) {
  std::vector<Tensor> list;
  for (int layer = 0; w.count("encoder_lstm.lstm.weight_ih_l" + std::to_string(layer)); ++layer)
    for (const char* name : {"weight_ih", "weight_hh", "bias_ih", "bias_hh"})
      list.push_back(w.at("encoder_lstm.lstm." + std::string(name) + "_l" + std::to_string(layer)));
  return list;
}

// ln q (B) of raw (B, K) at theta (B, M), and ln q_j (B, N) of the components alone.
struct LogDensities {
  Tensor log_q, alone;
};
inline LogDensities log_densities(const MixtureShape& s, const Tensor& raw, const Tensor& theta) {
  const int64_t B = raw.size(0), N = s.components, M = s.parameters;
  const Tensor logits = raw.slice(1, 0, N), scales = raw.slice(1, N * (1 + M), N * (1 + 2 * M)).reshape({B, N, M});
  Tensor means = raw.slice(1, N, N * (1 + M)).reshape({B, N, M});
  const bool direct = s.parameterisation == "direct";
  // softplus as logaddexp: LibTorch's softplus is linear above 20, this is exact everywhere.
  const Tensor diagonal =
      direct ? torch::logaddexp(scales, torch::zeros_like(scales)) : scales.clamp_max(12).exp() + 0.3;
  if (!direct && N > 1)
    means = torch::cat({means.slice(1, 0, 1), means.slice(1, 0, 1) + means.slice(1, 1) / diagonal.slice(1, 1)}, 1);
  Tensor u = torch::diag_embed(diagonal);
  if (s.full && M > 1) {
    const Tensor at = torch::triu_indices(M, M, 1, torch::kLong);
    Tensor couplings = raw.slice(1, N * (1 + 2 * M)).reshape({B, N, -1});
    if (!direct) couplings = couplings * diagonal.index_select(2, at[1]);
    Tensor upper = torch::zeros_like(u);
    upper.index_put_({torch::indexing::Slice(), torch::indexing::Slice(), at[0], at[1]}, couplings);
    u = u + upper;
  }
  if (!s.precision_floor.empty())
    u = torch::linalg_cholesky(torch::matmul(u.transpose(-1, -2), u) +
                               torch::diag(torch::tensor(s.precision_floor, torch::kDouble)))
            .transpose(-1, -2);
  const Tensor v = torch::matmul(u, (theta.unsqueeze(1) - means).unsqueeze(-1)).squeeze(-1);
  const Tensor alone = torch::diagonal(u, 0, -2, -1).log().sum(-1) - 0.5 * v.square().sum(-1) -
                       0.5 * static_cast<double>(M) * std::log(2 * M_PI);
  return {torch::logsumexp(torch::log_softmax(logits, 1) + alone, 1), alone};
}

}  // namespace penn::referee
