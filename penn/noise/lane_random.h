// Random words, uniform and normal numbers for the lanes of a group; what drivers are made of. For .cc files of drivers
// only: SIMD code.
#pragma once

#include <optional>

#include "penn/base/aligned.h"
#include "penn/base/lanes.h"
#include "penn/noise/driver.h"

namespace penn {
namespace lanes {

static_assert(kLanes % kPairWidth == 0);

// Four words for each of the kPairWidth lanes of an X; [0] belongs to X::a, [1] to X::b.
struct Words {
  U w[4][2];
};

// low and high halves of the 64-bit product of every lane with a constant
inline void multiply_wide(U x, uint32_t constant, U& high, U& low) {
#if defined(__AVX512F__)
  const __m512i v = (__m512i)x, c = _mm512_set1_epi32(static_cast<int>(constant));
  const __m512i even = _mm512_mul_epu32(v, c), odd = _mm512_mul_epu32(_mm512_srli_epi64(v, 32), c);
  low = (U)_mm512_mask_blend_epi32(0xAAAA, even, _mm512_slli_epi64(odd, 32));
  high = (U)_mm512_mask_blend_epi32(0xAAAA, _mm512_srli_epi64(even, 32), odd);
#elif defined(__AVX2__)
  const __m256i v = (__m256i)x, c = _mm256_set1_epi32(static_cast<int>(constant));
  const __m256i even = _mm256_mul_epu32(v, c), odd = _mm256_mul_epu32(_mm256_srli_epi64(v, 32), c);
  low = (U)_mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xAA);
  high = (U)_mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA);
#else
  for (int i = 0; i < kWidth; ++i) {
    const uint64_t product = uint64_t{constant} * x[i];
    high[i] = static_cast<uint32_t>(product >> 32);
    low[i] = static_cast<uint32_t>(product);
  }
#endif
}

// RandomKey::words for the lanes of a group and one stream. Along a stream only the block number changes, so most of
// the first two of the seven rounds is the same for all blocks and done once, here.
class LaneStream {
 public:
  LaneStream(const LaneKeys& keys, uint32_t stream)
      : key0_(static_cast<uint32_t>(keys.seed)), key1_(static_cast<uint32_t>(keys.seed >> 32)) {
    for (int lane = 0; lane < kLanes; lane += kWidth) {
      const U c1 = (load(keys.attempt + lane) << 16) | splat_bits(stream);
      U high, low, next_high, next_low;
      multiply_wide(load(keys.trajectory_low + lane), kPhiloxMultiplier1, high, low);
      multiply_wide(high ^ c1 ^ key0_, kPhiloxMultiplier0, next_high, next_low);
      store_bits(word_[0] + lane, low ^ (key0_ + kPhiloxWeyl0));
      store_bits(word_[1] + lane, load(keys.trajectory_high + lane) ^ key1_);
      store_bits(word_[2] + lane, next_high ^ (key1_ + kPhiloxWeyl1));
      store_bits(word_[3] + lane, next_low);
    }
  }

  // For kPairWidth lanes starting at `lane`, the same block for all. The two halves advance round by round together:
  // one chain of dependent rounds alone would leave the processor waiting.
  Words words(int lane, uint32_t block) const {
    const uint64_t product = uint64_t{kPhiloxMultiplier0} * block;
    U c0[2], c1[2], c2[2], c3[2];
    for (int p = 0; p < 2; ++p) {
      const int at = lane + p * kWidth;
      U high, low;
      multiply_wide(load(word_[1] + at) ^ static_cast<uint32_t>(product >> 32), kPhiloxMultiplier1, high, low);
      c0[p] = high ^ load(word_[0] + at);
      c1[p] = low;
      c2[p] = load(word_[2] + at) ^ static_cast<uint32_t>(product);
      c3[p] = load(word_[3] + at);
    }
    uint32_t key0 = key0_ + 2 * kPhiloxWeyl0, key1 = key1_ + 2 * kPhiloxWeyl1;
    for (int round = 2; round < kPhiloxRounds; ++round) {
      for (int p = 0; p < 2; ++p) {
        U high0, low0, high1, low1;
        multiply_wide(c0[p], kPhiloxMultiplier0, high0, low0);
        multiply_wide(c2[p], kPhiloxMultiplier1, high1, low1);
        c0[p] = high1 ^ c1[p] ^ key0;
        c1[p] = low1;
        c2[p] = high0 ^ c3[p] ^ key1;
        c3[p] = low0;
      }
      key0 += kPhiloxWeyl0;
      key1 += kPhiloxWeyl1;
    }
    return {{{c0[0], c0[1]}, {c1[0], c1[1]}, {c2[0], c2[1]}, {c3[0], c3[1]}}};
  }

 private:
  alignas(64) uint32_t word_[4][kLanes];
  uint32_t key0_, key1_;
};

inline X to_float(const U w[2]) {
  return {to_float((I)w[0]), to_float((I)w[1])};
}

// Uniform in (0, 1]: 31 bits and a half; the smallest value is 2^-32, so that its logarithm exists.
inline X uniform_positive(const U w[2]) {
  const U half[2] = {w[0] >> 1, w[1] >> 1};
  return to_float(half) * 0x1p-31f + 0x1p-32f;
}

// The same number in double precision, for references.
inline double uniform_positive(uint32_t word) {
  return (static_cast<double>(word >> 1) + 0.5) * 0x1p-31;
}

// Two independent standard normals from two words (Box-Muller). The angle is pi a with a in [-1, 1).
inline void box_muller(const U radius_word[2], const U angle_word[2], X& g0, X& g1) {
  const X r = sqrt(log2_positive(uniform_positive(radius_word)) * -1.38629436f);  // sqrt(-2 ln u)
  const X a = to_float(angle_word) * 0x1p-31f;
  const X b = abs(a);
  g0 = r * sinpi_half(0.5f - b);                        // cos(pi a)
  g1 = copy_sign(r * sinpi_half(min(b, 1.0f - b)), a);  // sin(pi a)
}

// Calls draw(block, lane, values of the block) for every block of kPerBlock steps that meets [first, first + count) and
// stores the rows inside that range.
template <int kPerBlock, class Draw>
inline void fill_blocks(int64_t first, int count, float* out, Draw draw) {
  const int64_t last = first + count;
  for (int64_t block = first / kPerBlock; block * kPerBlock < last; ++block) {
    for (int lane = 0; lane < kLanes; lane += kPairWidth) {
      X value[kPerBlock];
      draw(static_cast<uint32_t>(block), lane, value);
      for (int i = 0; i < kPerBlock; ++i) {
        const int64_t step = block * kPerBlock + i;
        if (step >= first && step < last) store(out + (step - first) * kLanes + lane, value[i]);
      }
    }
  }
}

}  // namespace lanes

// A noise whose values are independent: value i of a lane is a function of its key and i.
class WhiteDriver : public Driver {
 public:
  void start(const LaneKeys& keys, uint32_t stream) final { source_.emplace(keys, stream); }
  const float* values(int64_t first, int count) final {
    values_.resize(static_cast<size_t>(count) * kLanes);
    fill(*source_, first, count, values_.data());
    return values_.data();
  }

 private:
  virtual void fill(const lanes::LaneStream& source, int64_t first, int count, float* out) const = 0;
  std::optional<lanes::LaneStream> source_;
  AlignedVector<float> values_;
};

}  // namespace penn
