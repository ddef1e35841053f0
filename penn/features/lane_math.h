// Arithmetic of the statistics with one trajectory per lane: double precision as wide as F, elementary functions.
#pragma once

#include <algorithm>

#include "penn/base/lanes.h"

namespace penn {

using lanes::F;
inline constexpr int kRow = lanes::kWidth;  // trajectories side by side
inline constexpr int64_t kChunk =
    128;  // samples that are added up in float32; beyond, sums are double: good to 1e-6 at any length
inline constexpr float kLn2 = 0.69314718f, kLog2e = 1.44269504f;

// ---- double precision, as wide as F --------------------------------------------------------------

struct D {
  typedef float HalfFloat __attribute__((vector_size(2 * kRow)));
  typedef double Half __attribute__((vector_size(4 * kRow)));
  Half a{}, b{};
  D() = default;
  D(Half a_, Half b_) : a(a_), b(b_) {}
  D(double x) : a(x - Half{}), b(x - Half{}) {}
  explicit D(F x) {
    HalfFloat half[2];
    std::memcpy(half, &x, sizeof x);
#if defined(__AVX512F__)
    a = (Half)_mm512_cvtps_pd((__m256)half[0]), b = (Half)_mm512_cvtps_pd((__m256)half[1]);
#elif defined(__AVX__)
    a = (Half)_mm256_cvtps_pd((__m128)half[0]),
    b = (Half)_mm256_cvtps_pd((__m128)half[1]);  // gcc 12 makes seven of each
#else
    a = __builtin_convertvector(half[0], Half), b = __builtin_convertvector(half[1], Half);
#endif
  }
  F narrow() const {
    const HalfFloat half[2] = {__builtin_convertvector(a, HalfFloat), __builtin_convertvector(b, HalfFloat)};
    F x;
    std::memcpy(&x, half, sizeof x);
    return x;
  }
  friend D operator+(D x, D y) {
    return {x.a + y.a, x.b + y.b};
  }
  friend D operator-(D x, D y) {
    return {x.a - y.a, x.b - y.b};
  }
  friend D operator*(D x, D y) {
    return {x.a * y.a, x.b * y.b};
  }
  friend D operator/(D x, D y) {
    return {x.a / y.a, x.b / y.b};
  }
  D& operator+=(D y) {
    return *this = *this + y;
  }
  D& operator-=(D y) {
    return *this = *this - y;
  }
  friend D larger(D x, D y) {
    return {x.a > y.a ? x.a : y.a, x.b > y.b ? x.b : y.b};
  }
};

// The size of the next group where `left` things are handled in groups of at most `limit`, as even as possible: sums
// that stay in registers should be many, since each waits for its last addition.
inline int even_part(int left, int limit) {
  const int groups = (left + limit - 1) / limit;
  return (left + groups - 1) / groups;
}

// ---- elementary functions on features and samples ------------------------------------------------

// One instruction each; lanes::max and min, which keep a NaN of the first argument, are often two. There are no NaN
// here.
#if defined(__AVX512F__)
#define PENN_LANE_PAIR(operation) (F) _mm512_##operation##_ps((__m512)x, (__m512)y)
#elif defined(__AVX__)
#define PENN_LANE_PAIR(operation) (F) _mm256_##operation##_ps((__m256)x, (__m256)y)
#else
#define PENN_LANE_PAIR(operation) lanes::operation(x, y)
#endif
inline F larger(F x, F y) {
  return PENN_LANE_PAIR(max);
}
inline F smaller(F x, F y) {
  return PENN_LANE_PAIR(min);
}
#undef PENN_LANE_PAIR
// Makes the compiler keep x in a register, where it would rather load it again for every use.
inline void in_register([[maybe_unused]] F& x) {
#if defined(__SSE2__)
  asm("" : "+x"(x));
#endif
}
inline F clamp(F x, float limit) {
  return smaller(larger(x, lanes::splat(-limit)), lanes::splat(limit));
}
inline F ramp(F x) {
  return smaller(larger(x, F{}), lanes::splat(1.0f));
}
inline F signed_square(F x) {
  return x * lanes::abs(x);
}
inline F log_positive(F x) {
  return lanes::log2_positive(larger(x, lanes::splat(1e-36f))) * kLn2;
}
// log2 of positive normal numbers with fewer terms than lanes::log2_positive: absolute error 5e-7. For averages over
// samples.
inline F log2_sample(F x) {
  const lanes::I bits = (lanes::I)((lanes::U)lanes::as_int(x) - 0x3f3504f3u);
  const F f = lanes::as_float((bits & 0x007fffff) + 0x3f3504f3) - 1.0f, f2 = f * f;
  const F high = lanes::fma(f2, 0.14452062f, lanes::fma(f, -0.26559214f, 0.30207440f));
  const F middle = lanes::fma(high, f2, lanes::fma(f, -0.35986964f, 0.48018141f));
  return lanes::fma(lanes::fma(middle, f2, lanes::fma(f, -0.72135105f, 1.4427044f)), f, lanes::to_float(bits >> 23));
}
// The logarithm of a product of positive normal numbers: exponents are added up, mantissas multiplied. To be carried
// every 120 factors.
struct LogProduct {
  F mantissas = lanes::splat(1.0f);
  lanes::I exponents{};
  D total;
  void multiply(F x) {
    exponents += (lanes::as_int(x) >> 23) - 127;
    mantissas *= lanes::as_float((lanes::as_int(x) & 0x007fffff) | 0x3f800000);
  }
  void carry() {
    total += D(lanes::to_float(exponents)) + D(lanes::log2_positive(mantissas));
    mantissas = lanes::splat(1.0f), exponents = lanes::I{};
  }
  D log2() {
    carry();
    return total;
  }
};
inline F asinh(F x) {
  const F s = smaller(lanes::abs(x), lanes::splat(1e18f));
  return lanes::copy_sign(lanes::log2_positive(s + lanes::sqrt(s * s + 1.0f)) * kLn2, x);
}
inline F asinh_sample(F x) {  // as log2_sample
  const F s = smaller(lanes::abs(x), lanes::splat(1e9f));
  return lanes::copy_sign(log2_sample(s + lanes::sqrt(s * s + 1.0f)) * kLn2, x);
}
inline bool any_lane(F x) {  // is not +0
  const F zero{};
  return std::memcmp(&x, &zero, sizeof x) != 0;
}

// Position of x among `count` bins in [-reach, reach], and the membership of a bin there.
inline F bin_position(F x, int count, float reach) {
  return clamp(x, reach) * (0.5f * static_cast<float>(count - 1) / reach) + 0.5f * static_cast<float>(count - 1);
}
inline F hat(F position, float bin) {
  return larger(1.0f - lanes::abs(position - bin), F{});
}

}  // namespace penn
