// Vectors of float32 lanes and the elementary functions the simulator needs on them. A lane is a trajectory.
// Written with the vector extensions of gcc and clang, so it becomes SSE, AVX2, AVX-512 or NEON code as the target
// allows, and never falls back to scalar code silently. Also the prologue of every compiled system
// (simulate/compiled_kernel.cc), so it includes nothing of ours. Accuracy is stated per function and enforced by
// tests/base/lanes_test.cc.
#pragma once

#include <cstdint>
#include <cstring>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace penn::lanes {

#if defined(__AVX512F__)
inline constexpr int kWidth = 16;
#elif defined(__AVX__)
inline constexpr int kWidth = 8;
#else
inline constexpr int kWidth = 4;
#endif

typedef float F __attribute__((vector_size(4 * kWidth)));
typedef int32_t I __attribute__((vector_size(4 * kWidth)));
typedef uint32_t U __attribute__((vector_size(4 * kWidth)));

inline F splat(float x) {
  return x - F{};
}
inline U splat_bits(uint32_t x) {
  return x - U{};
}
inline F load(const float* p) {
  F v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
inline U load(const uint32_t* p) {
  U v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
inline void store(float* p, F v) {
  std::memcpy(p, &v, sizeof v);
}
inline void store_bits(uint32_t* p, U v) {
  std::memcpy(p, &v, sizeof v);
}
inline F as_float(I v) {
  F r;
  std::memcpy(&r, &v, sizeof r);
  return r;
}
inline I as_int(F v) {
  I r;
  std::memcpy(&r, &v, sizeof r);
  return r;
}
inline F to_float(I v) {
  return __builtin_convertvector(v, F);
}
inline I to_int(F v) {
  return __builtin_convertvector(v, I);
}

inline F abs(F x) {
  return as_float(as_int(x) & 0x7fffffff);
}
inline F copy_sign(F magnitude, F sign) {
  return as_float((as_int(magnitude) & 0x7fffffff) | (as_int(sign) & static_cast<int32_t>(0x80000000u)));
}
inline F sign(F x) {
  return x > 0.0f ? splat(1.0f) : (x < 0.0f ? splat(-1.0f) : x);
}  // of NaN: NaN
// A NaN in either argument survives min and max: an accident must not be hidden.
inline F min(F x, F y) {
  return y < x ? y : (y == y ? x : y);
}
inline F max(F x, F y) {
  return y > x ? y : (y == y ? x : y);
}
inline I is_finite(F x) {
  return (as_int(x) & 0x7f800000) != 0x7f800000;
}

inline F sqrt(F x) {
#if defined(__AVX512F__)
  return (F)_mm512_sqrt_ps((__m512)x);
#elif defined(__AVX__)
  return (F)_mm256_sqrt_ps((__m256)x);
#elif defined(__SSE2__)
  return (F)_mm_sqrt_ps((__m128)x);
#else
  F r;
  for (int i = 0; i < kWidth; ++i) r[i] = __builtin_sqrtf(x[i]);
  return r;
#endif
}

// a b + c with one rounding where the processor can. Written out instead of left to the compiler, which may fuse in one
// half of a pair and not in the other: a trajectory must be the same bits in every lane. (Files that need that are
// compiled with -ffp-contract=off.)
inline F fma(F a, F b, F c) {
#if defined(__AVX512F__)
  return (F)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__FMA__)
  return (F)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#elif defined(__ARM_FEATURE_FMA)
  F r;
  for (int i = 0; i < kWidth; ++i) r[i] = __builtin_fmaf(a[i], b[i], c[i]);
  return r;
#else
  return a * b + c;
#endif
}
inline F fma(F a, float b, float c) {
  return fma(a, splat(b), splat(c));
}
inline F fma(F a, F b, float c) {
  return fma(a, b, splat(c));
}
inline F fma(F a, float b, F c) {
  return fma(a, splat(b), c);
}

// Nearest integer, as a float, for |x| < 2^22.
inline F round_nearest(F x) {
  return (x + 12582912.0f) - 12582912.0f;
}

// log2 of positive normal numbers (0 and subnormals give about -127); absolute error 2e-7 + 1.5 ULP.
inline F log2_positive(F x) {
  const I bits = (I)((U)as_int(x) - 0x3f3504f3u);  // exponent counted from sqrt(1/2); unsigned: any x may come
  const F e = to_float(bits >> 23);
  const F f = as_float((bits & 0x007fffff) + 0x3f3504f3) - 1.0f;  // in [sqrt(1/2) - 1, sqrt(2) - 1]
  // Pairs of coefficients side by side (Estrin): a third of the latency of a Horner chain.
  const F f2 = f * f, f4 = f2 * f2;
  const F p0 = fma(f, -0.2500174641609192f, 0.33333858847618103f);
  const F p1 = fma(f, -0.16565634310245514f, 0.1996539831161499f);
  const F p2 = fma(f, -0.14350201189517975f, 0.14876963198184967f);
  const F p = fma(fma(f2, 0.08917863667011261f, p2), f4, fma(p1, f2, p0));
  const F q = f2 * fma(p, f, -0.5f);  // ln(1+f) - f
  return e + fma(f, 1.44269504f, q * 1.44269504f);
}

// 2^f for |f| <= 1/2; relative error 2e-7.
inline F exp2_fraction(F f) {
  const F f2 = f * f;
  const F p0 = fma(f, 0.6931472420692444f, 1.0000001192092896f);
  const F p1 = fma(f, 0.05550297349691391f, 0.2402210682630539f);
  const F p2 = fma(f, 0.0013410004321485758f, 0.009676036424934864f);
  return fma(fma(p2, f2, p1), f2, p0);
}

// 2^x for x in [-126, 127], saturating above, meaningless below; relative error 3e-7. For random draws, where that is
// harmless.
inline F exp2_saturating(F x) {
  const F clamped = min(x, splat(127.0f));
  const F shifted = clamped + 12582912.0f;  // its low bits are the nearest integer
  return exp2_fraction(clamped - (shifted - 12582912.0f)) * as_float((I)(((U)as_int(shifted) << 23) + 0x3f800000u));
}

// 2^x for any x: 0 below -126, infinity above 128; relative error 3e-7.
inline F exp2(F x) {
  const F clamped = max(min(x, splat(129.0f)), splat(-127.0f));
  const F n = round_nearest(clamped);
  // Two half steps of the exponent, so that 2^128 and 2^-127 need no special case.
  const I k = to_int(n);
  const I half = k >> 1;
  return exp2_fraction(clamped - n) * as_float((half + 127) << 23) * as_float((k - half + 127) << 23);
}

// sin(pi t) for |t| <= 1/2; relative error 3e-7.
inline F sinpi_half(F t) {
  const F s = t * t;
  F p = splat(0.07756038755178452f);
  p = fma(p, s, -0.5982421040534973f);
  p = fma(p, s, 2.550069808959961f);
  p = fma(p, s, -5.167709827423096f);
  p = fma(p, s, 3.1415927410125732f);
  return p * t;
}

// ---- functions of the system language ------------------------------------------------------------

inline F quiet_nan() {
  return as_float(I{} + 0x7fc00000);
}
inline F infinity() {
  return as_float(I{} + 0x7f800000);
}

// Natural logarithm: -infinity at 0, NaN below; relative error 4e-7 away from 1, absolute 1e-7 near 1.
inline F log(F x) {
  const I tiny = x < 1.17549435e-38f;  // subnormal: scale up by 2^24 first
  const F r = (log2_positive(tiny ? x * 16777216.0f : x) - (tiny ? splat(24.0f) : F{})) * 0.69314718f;
  return x > 0.0f ? (x < infinity() ? r : x) : (x == 0.0f ? -infinity() : quiet_nan());
}
inline F log10(F x) {
  return log(x) * 0.43429448f;
}

// e^x; relative error 4e-7 (the rounding of x/ln 2 is carried along).
inline F exp(F x) {
  const F high = x * 1.44269504f;
  const F n = round_nearest(max(min(high, splat(129.0f)), splat(-127.0f)));
  const F rest = fma(n, -1.42860677e-6f, fma(n, -0.693145752f, x));  // ln 2 in two parts
  const I inside = (high > -127.0f) & (high < 129.0f);
  const F small = exp2(inside ? rest * 1.44269504f : F{});
  const I k = to_int(n);
  const I half = k >> 1;
  const F r = small * as_float((half + 127) << 23) * as_float((k - half + 127) << 23);
  return x != x ? x : (high >= 129.0f ? infinity() : (high <= -127.0f ? F{} : r));
}

// sin and cos; absolute error 4e-7 for |x| < 8192, growing as x * 1e-11 beyond (float32 has no more digits there
// anyway). Both are a shift and one polynomial: x = pi (n + t), sin x = (-1)^n sin(pi t).
inline F sin_shifted(F x, float shift) {
  // cos x = sin(x + pi/2): the shift is applied to n + t, where it is exact.
  const F n = round_nearest(fma(x, 0.318309886f, shift));
  const F m = n - shift;  // x ~ pi m, half integers for the cosine
  const F rest = fma(m, -6.27711409e-7f, fma(m, -9.67025757e-4f, fma(m, -3.140625f, x)));  // pi in three parts
  const F s = sinpi_half(rest * 0.318309886f);
  return as_float(as_int(s) ^ (to_int(n) << 31));
}
inline F sin(F x) {
  return abs(x) < 4194304.0f ? sin_shifted(x, 0.0f) : quiet_nan();
}  // beyond, float32 has lost the phase
inline F cos(F x) {
  return abs(x) < 4194304.0f ? sin_shifted(x, 0.5f) : quiet_nan();
}
inline F tan(F x) {
  return sin(x) / cos(x);
}

// tanh; relative error 1e-6.
inline F tanh(F x) {
  const F a = abs(x);
  const F s = x * x;
  F p = splat(-0.0089f);  // odd Taylor polynomial for |x| < 0.3
  p = fma(p, s, 0.021869488f);
  p = fma(p, s, -0.053968254f);
  p = fma(p, s, 0.13333333f);
  p = fma(p, s, -0.33333333f);
  const F small = fma(x * s, p, x);
  const F big = copy_sign(1.0f - 2.0f / (exp(2.0f * a) + 1.0f), x);
  return x != x ? x : (a < 0.3f ? small : big);
}

// x^y; for x < 0 NaN unless y is a whole number below 2^22. (Constant whole exponents are multiplied out and never come
// here.)
inline F pow(F x, F y) {
  const F r = exp2(y * log2_positive(abs(x)));
  const F at_zero = y > 0.0f ? F{} : (y == 0.0f ? splat(1.0f) : infinity());
  const F n = abs(y) < 4194304.0f ? round_nearest(y) : F{};
  const F negative = n == y ? as_float(as_int(r) ^ (to_int(n) << 31)) : quiet_nan();  // odd powers keep the sign
  return x > 0.0f ? r : (x < 0.0f ? negative : (x == 0.0f ? at_zero : x));
}

// ---- two vectors side by side -----------------------------------------------------------------
// A time step is one long chain of dependent operations; two independent chains keep the processor busy.

inline constexpr int kPairWidth = 2 * kWidth;
struct X {
  F a, b;
  X() = default;
  X(F a_, F b_) : a(a_), b(b_) {}
  X(float x) : a(splat(x)), b(splat(x)) {}  // implicit: number constants of the equations
};
inline X load_pair(const float* p) {
  return {load(p), load(p + kWidth)};
}
inline void store(float* p, X x) {
  store(p, x.a);
  store(p + kWidth, x.b);
}
inline X operator+(X x, X y) {
  return {x.a + y.a, x.b + y.b};
}
inline X operator-(X x, X y) {
  return {x.a - y.a, x.b - y.b};
}
inline X operator*(X x, X y) {
  return {x.a * y.a, x.b * y.b};
}
inline X operator/(X x, X y) {
  return {x.a / y.a, x.b / y.b};
}
inline X operator-(X x) {
  return {-x.a, -x.b};
}
inline X fma(X x, X y, X z) {
  return {fma(x.a, y.a, z.a), fma(x.b, y.b, z.b)};
}
inline X log2_positive(X x) {
  return {log2_positive(x.a), log2_positive(x.b)};
}
inline X exp2_saturating(X x) {
  return {exp2_saturating(x.a), exp2_saturating(x.b)};
}
inline X sinpi_half(X x) {
  return {sinpi_half(x.a), sinpi_half(x.b)};
}
inline X copy_sign(X m, X s) {
  return {copy_sign(m.a, s.a), copy_sign(m.b, s.b)};
}
inline X abs(X x) {
  return {abs(x.a), abs(x.b)};
}
inline X sign(X x) {
  return {sign(x.a), sign(x.b)};
}
inline X sqrt(X x) {
  return {sqrt(x.a), sqrt(x.b)};
}
inline X exp(X x) {
  return {exp(x.a), exp(x.b)};
}
inline X log(X x) {
  return {log(x.a), log(x.b)};
}
inline X log10(X x) {
  return {log10(x.a), log10(x.b)};
}
inline X sin(X x) {
  return {sin(x.a), sin(x.b)};
}
inline X cos(X x) {
  return {cos(x.a), cos(x.b)};
}
inline X tan(X x) {
  return {tan(x.a), tan(x.b)};
}
inline X tanh(X x) {
  return {tanh(x.a), tanh(x.b)};
}
inline X min(X x, X y) {
  return {min(x.a, y.a), min(x.b, y.b)};
}
inline X max(X x, X y) {
  return {max(x.a, y.a), max(x.b, y.b)};
}
inline X pow(X x, X y) {
  return {pow(x.a, y.a), pow(x.b, y.b)};
}
// x where every lane of `check` is finite, NaN elsewhere.
inline X where_finite(X check, X x) {
  return {is_finite(check.a) ? x.a : quiet_nan(), is_finite(check.b) ? x.b : quiet_nan()};
}

}  // namespace penn::lanes
