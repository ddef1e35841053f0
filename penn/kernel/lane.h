// The vector type of the network kernels and the functions they need on it. A lane is a trajectory: arrays are
// (rows, kTileLanes) with the lanes contiguous, so one row is exactly two hardware vectors and no shuffles are needed.
#pragma once

#include <cstdint>
#include <cstring>

namespace penn {

#if defined(PENN_LANE_VECTOR)  // only for testing another width than the machine's
inline constexpr int kVector = PENN_LANE_VECTOR;
#elif defined(__AVX512F__)
inline constexpr int kVector = 16;
#elif defined(__AVX__)
inline constexpr int kVector = 8;
#else
inline constexpr int kVector = 4;
#endif
inline constexpr int kTileLanes = 2 * kVector;  // trajectories in one tile

typedef float Vec __attribute__((vector_size(kVector * sizeof(float))));
typedef std::int32_t IntVec __attribute__((vector_size(kVector * sizeof(std::int32_t))));
// The same for addresses that are not aligned to a whole vector.
typedef float LooseVec __attribute__((vector_size(kVector * sizeof(float)), aligned(4)));

inline Vec load(const float* p) {
  return *reinterpret_cast<const Vec*>(p);
}
inline void store(float* p, Vec x) {
  *reinterpret_cast<Vec*>(p) = x;
}
inline Vec load_loose(const float* p) {
  return *reinterpret_cast<const LooseVec*>(p);
}
inline void store_loose(float* p, Vec x) {
  *reinterpret_cast<LooseVec*>(p) = x;
}
inline Vec broadcast(float x) {
  return x - Vec{};
}
inline Vec clamp(Vec x, float lo, float hi) {  // NaN passes through
  x = x < lo ? broadcast(lo) : x;
  return x > hi ? broadcast(hi) : x;
}

// e^x = scale * (1 + rest) with scale a power of two and rest = e^r - 1, |r| <= ln 2 / 2.
// Valid: |x| <= 87. The polynomial's relative error is 2.3e-8 (Chebyshev interpolation of (e^r - 1 - r) / r^2).
struct SplitExp {
  Vec scale, rest;
};
inline SplitExp split_exp(Vec x) {
  const float kRound = 12582912.0f;  // 1.5 * 2^23: adding it leaves round(x) in the low bits of the float
  const Vec biased = x * 1.44269504f + kRound;
  const Vec n = biased - kRound;
  Vec r = x - n * 0.693145752f;  // ln 2 in two parts, the first exact when multiplied with n
  r = r - n * 1.42860677e-6f;
  Vec p = 0.00139261836f * r + 0.00836317905f;
  p = p * r + 0.0416665546f;
  p = p * r + 0.16666577f;
  p = p * r + 0.5f;
  SplitExp result;
  result.rest = p * (r * r) + r;
  IntVec bits;
  std::memcpy(&bits, &biased, sizeof bits);
  bits = (bits + 127) << 23;  // the bits of kRound are shifted out
  std::memcpy(&result.scale, &bits, sizeof bits);
  return result;
}

// Max error: 4e-7 relative for |x| <= 87; clamped beyond.
inline Vec exp(Vec x) {
  const SplitExp e = split_exp(clamp(x, -87.0f, 87.0f));
  return e.scale * e.rest + e.scale;
}

// e^x - 1 without cancellation near 0. Max error: 4e-7 relative; clamped to |x| <= 87.
inline Vec expm1(Vec x) {
  const SplitExp e = split_exp(clamp(x, -87.0f, 87.0f));
  return e.scale * e.rest + (e.scale - 1.0f);
}

// 1 / (1 + e^-x). Max error: 5e-7 relative for |x| <= 80.
inline Vec sigmoid(Vec x) {
  const SplitExp e = split_exp(clamp(-x, -80.0f, 80.0f));
  return 1.0f / (e.scale * e.rest + (e.scale + 1.0f));
}

// tanh x = (e^2x - 1) / (e^2x + 1). Max error: 6e-7 relative everywhere, so small cell states keep their digits.
inline Vec tanh(Vec x) {
  const SplitExp e = split_exp(clamp(2.0f * x, -20.0f, 20.0f));
  const Vec m = e.scale * e.rest + (e.scale - 1.0f);
  return m / (m + 2.0f);
}

// ln x for normal positive x. Max error: 2e-7 absolute + 2e-7 relative. ln m = 2 atanh((m - 1) / (m + 1)), 0.7 < m
// < 1.42.
inline Vec log(Vec x) {
  IntVec bits;
  std::memcpy(&bits, &x, sizeof bits);
  const IntVec shifted = bits - 0x3f3504f3;  // the bits of sqrt(1/2): the mantissa m then lies around 1
  const Vec exponent = __builtin_convertvector(shifted >> 23, Vec);
  bits = (shifted & 0x007fffff) + 0x3f3504f3;
  Vec m;
  std::memcpy(&m, &bits, sizeof m);
  const Vec s = (m - 1.0f) / (m + 1.0f), s2 = s * s;
  Vec p = s2 * (1.0f / 9) + 1.0f / 7;
  p = p * s2 + 1.0f / 5;
  p = p * s2 + 1.0f / 3;
  p = p * s2 + 1.0f;
  return exponent * 0.693147181f + 2.0f * s * p;
}

// Max error: 3e-7 absolute for |x| <= 1, relative beyond; |x| is clamped to 1e18. Not for gradients: small x lose
// digits.
inline Vec asinh(Vec x) {
  const Vec clamped = clamp(x, -1e18f, 1e18f);
  const Vec a = clamped < 0.0f ? -clamped : clamped;
  Vec root = a * a + 1.0f;
#pragma GCC unroll 16
  for (int i = 0; i < kVector; ++i) root[i] = __builtin_sqrtf(root[i]);
  const Vec y = log(a + root);
  return clamped < 0.0f ? -y : y;
}

}  // namespace penn
