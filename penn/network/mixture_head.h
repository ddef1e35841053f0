// The end of the network: free vectors y (B, K) to mixtures, and the batched, differentiable log density that training
// uses.
#pragma once

#include <torch/torch.h>

#include "penn/model/network_options.h"  // MixtureShape

namespace penn {

struct MixtureParameters {
  torch::Tensor weights;  // (B, N)
  torch::Tensor means;    // (B, N, M)
  torch::Tensor factors;  // (B, N, M, M), upper triangular; the precision is U^T U, least_precision included
};
MixtureParameters mixture_parameters(const torch::Tensor& y, const MixtureShape& shape);

struct MixtureDensity {
  torch::Tensor log_density;  // (B), 0 with gradient 0 where bad; differentiable in y
  torch::Tensor bad;          // (B), bool: rows that carry no usable number (mixture_kernel.h says when)
};
// theta (B, M), of the same type as y, without gradient. lesson: the gradient, not the value, is that of ln q + (lesson / N) sum_j ln q_j, q_j being
// component j alone.
MixtureDensity mixture_log_density(const torch::Tensor& y, const torch::Tensor& theta, const MixtureShape& shape, double lesson = 0);

struct MixtureLoss {
  torch::Tensor loss;  // scalar: mean of -ln q over the good rows; 0 without gradient if there is none
  int64_t good = 0, bad = 0;
};
MixtureLoss mixture_loss(const torch::Tensor& y, const torch::Tensor& theta, const MixtureShape& shape, double lesson = 0);

// ln q in plain tensor operations: other devices, and the definition that mixture_log_density is tested against.
torch::Tensor mixture_log_density_reference(const torch::Tensor& y, const torch::Tensor& theta,
                                            const MixtureShape& shape, double lesson = 0);

}  // namespace penn
