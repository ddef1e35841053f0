// Activation functions on SIMD lanes. Unlike the functions of lanes.h, which serve any equation, these assume what
// networks give them and are faster.
#pragma once

#include "penn/base/lanes.h"

namespace penn {

// NaN passes through.
inline lanes::F clamp(lanes::F x, float low, float high) {
  x = x < low ? lanes::splat(low) : x;
  return x > high ? lanes::splat(high) : x;
}

// e^x = scale (1 + rest) with scale a power of two and rest = e^r - 1, |r| <= ln 2 / 2.
// Valid: |x| <= 87. The polynomial's relative error is 2.3e-8 (Chebyshev interpolation of (e^r - 1 - r) / r^2).
struct SplitExp {
  lanes::F scale, rest;
};
inline SplitExp split_exp(lanes::F x) {
  using lanes::F, lanes::fma;
  const F biased = fma(x, 1.44269504f, 12582912.0f);  // 1.5 * 2^23: adding it leaves round(x / ln 2) in the low bits
  const F n = biased - 12582912.0f;
  const F r = fma(n, -1.42860677e-6f, fma(n, -0.693145752f, x));  // ln 2 in two parts
  F p = fma(r, 0.00139261836f, 0.00836317905f);
  p = fma(p, r, 0.0416665546f);
  p = fma(p, r, 0.16666577f);
  p = fma(p, r, 0.5f);
  return {lanes::as_float((lanes::as_int(biased) + 127) << 23),
          fma(p, r * r, r)};  // the bits of the constant are shifted out
}

// e^x - 1 without cancellation near 0. Max error: 4e-7 relative; clamped to |x| <= 87.
inline lanes::F expm1(lanes::F x) {
  const SplitExp e = split_exp(clamp(x, -87.0f, 87.0f));
  return lanes::fma(e.scale, e.rest, e.scale - 1.0f);
}

// x for x > 0, else e^x - 1 (Clevert et al. 2015). Its slope is 1 for x > 0, else elu(x) + 1.
inline lanes::F elu(lanes::F x) {
  return x > 0.0f ? x : expm1(x);
}

// 1 / (1 + e^-x). Max error: 5e-7 relative for |x| <= 80.
inline lanes::F sigmoid(lanes::F x) {
  const SplitExp e = split_exp(clamp(-x, -80.0f, 80.0f));
  return 1.0f / lanes::fma(e.scale, e.rest, e.scale + 1.0f);
}

// tanh x = (e^2x - 1) / (e^2x + 1). Max error: 6e-7 relative everywhere, so small cell states keep their digits.
inline lanes::F tanh(lanes::F x) {
  const SplitExp e = split_exp(clamp(2.0f * x, -20.0f, 20.0f));
  const lanes::F m = lanes::fma(e.scale, e.rest, e.scale - 1.0f);
  return m / (m + 2.0f);
}

// Max error: 3e-7 absolute for |x| <= 1, relative beyond; |x| is clamped to 1e18. Not for gradients: small x lose
// digits.
inline lanes::F asinh(lanes::F x) {
  const lanes::F a = lanes::abs(clamp(x, -1e18f, 1e18f));
  return lanes::copy_sign(lanes::log2_positive(a + lanes::sqrt(lanes::fma(a, a, 1.0f))) * 0.693147181f, x);
}

}  // namespace penn
