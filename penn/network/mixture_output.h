// The end of the network: from the decoder's raw output to a Gaussian mixture, and the loss. M = parameters, N =
// components, K = MixtureShape::size().
//
// A raw row holds, component by component: N logits, N M means, N M scales, N M(M-1)/2 couplings (row by row, strictly
// upper). Component j has the weight softmax(logits)_j, the mean mu_j and the precision P_j = U_j^T U_j +
// diag(precision_floor), U_j upper triangular. Two parameterisations:
//   "direct", the paper's:   u_kk = softplus(scale_k),            u_kl = coupling_kl,       mu_jk = mean_jk
//   "log_scale":                u_kk = 0.3 + exp(min(scale_k, 12)),  u_kl = coupling_kl u_ll,  mu_1k = mean_1k,  mu_jk
//   = mu_1k + mean_jk / u_jkk for j > 1
// Scales of posteriors span orders of magnitude. Through the softplus the network has to learn 1/scale; through the
// exponential it learns its logarithm, which is nearly linear in the logarithms of scales, and couplings and distances
// between components do not change when a scale does: U = C diag(u) with ones on the diagonal of C, close to partial
// correlations. Where the posterior is narrow one centre has to be learned to a fraction of its scale, not ten. The
// precision floor keeps components from being wider than the prior: couplings of one with next to no weight would run
// away and spoil the moments.
#pragma once

#include <cstdint>

#include "penn/network/network_options.h"
#include "penn/posterior/gaussian_mixture.h"

namespace penn {

// The mixture of one raw row. scale_factors (M): multiply the components' scales before the floor limits them, so that
// none becomes wider than the prior; or empty.
GaussianMixture mixture_of(const MixtureShape& shape, const float* raw, std::span<const double> scale_factors = {});

// A row is bad when raw or theta is not finite, or when |ln q| or a derivative exceeds this: such a row would decide
// the whole step, and a sum of squares of its gradient might overflow. Bad rows get ln q = 0 and derivative 0.
inline constexpr double kMixtureLimit = 1e12;

// ln q(theta) = logsumexp_j [ logit_j + ln det(P_j) / 2 - (theta - mu_j)^T P_j (theta - mu_j) / 2 ] - logsumexp_j
// logit_j - (M / 2) ln 2 pi Rows [first, last): raw (B, K), theta (B, M) -> log_q (B), bad (B). Unless null: weights
// (B, N), the components'; gradient (B, K), d ln q / d raw. auxiliary: the gradient, not ln q, is that of ln q +
// (auxiliary / N) sum_j ln q_j, q_j being component j alone. In double precision.
void mixture_rows(const MixtureShape& shape, int64_t first, int64_t last, const float* raw, const float* theta,
                  double auxiliary, double* log_q, uint8_t* bad, double* weights, float* gradient);

}  // namespace penn
