// From the decoder's output r to the free vector y of SPEC section 2, for networks with the link "widths":
//   logits as they are,   u_kk = kSmallestScale + exp(r_kk),   u_kl = c_kl u_ll,   gamma_k = softplus^-1(u_kk),
//   mu_1 as it is,        mu_jk = mu_1k + t_jk / u_jkk for the other components j.
// Widths of posteriors span orders of magnitude. Through the softplus alone the network has to learn 1/width; here it learns its logarithm,
// which is nearly linear in the logarithms of scales, and couplings and distances between components do not change when a width does: U = C diag(u) with
// ones on the diagonal of C. (In an earlier link, "relative", U = diag(u) C: then c_kl is the slope of parameter k along l, in units of the box. Where l is
// known far better than k, slopes are large, and their errors widen the law of the first parameters, which have most of them: docs/recipe.md.) Where the
// posterior is narrow one centre has to be learned to a fraction of its width, not ten. The floor keeps what a component leaves
// open of one parameter, the others given, within the box; its whole width is limited by least_precision. With the link "direct", y = r: the paper's network.
#pragma once

#include <cstdint>
#include <string>

#include "penn/model/network_options.h"

namespace penn {

inline constexpr float kSmallestScale = 0.3f;  // of u_kk, the box being [-1, 1]
inline constexpr float kLargestLog = 12.0f;    // of r_kk; a width of 6e-6

// r (B, K) -> y (B, K) in place. link: "direct", "widths" or "relative".
void apply_link(const std::string& link, const MixtureShape& shape, int64_t B, float* y);

}  // namespace penn
