// The symmetric stable draw (Chambers, Mallows & Stuck 1976) with V uniform in (-pi/2, pi/2) and W exponential is
//   S = sin(alpha V) / cos(V)^(1/alpha) * [cos((1 - alpha) V) / W]^((1 - alpha)/alpha)
//     = sin(alpha V) k (k cos V)^(-1/alpha),   k = W / cos((1 - alpha) V),
// the second form needing one logarithm less. With m = 1/2 - |V|/pi, the distance from the edge, every factor keeps its
// relative accuracy up to the edge:
//   cos V = sin(pi m),  sin(alpha |V|) = sin(pi (1 - alpha/2 + alpha m)),
//   cos((1 - alpha) V) = sin(pi ((1 - |1 - alpha|)/2 + |1 - alpha| m)).
// m is never 0, so there is no NaN to repair; alpha = 1 (Cauchy) and alpha = 2 (Gaussian) need no special case.
#include "penn/noise/white.h"

#include <cmath>

namespace penn {
namespace {

using namespace lanes;

inline X stable_draw(const U angle_word[2], const U exponential_word[2], const StableLanes& law, int lane) {
  const U distance_word[2] = {angle_word[0] & 0x7fffffffu, angle_word[1] & 0x7fffffffu};
  const X m = to_float(distance_word) * 0x1p-32f + 0x1p-33f;                             // in (0, 1/2]
  const X sign_source = {as_float((I)angle_word[0]), as_float((I)angle_word[1])};        // its top bit is the sign of V
  const X arc = fma(load_pair(law.alpha + lane), m, load_pair(law.offset_sine + lane));  // in (0, 1)
  const X sine = sinpi_half(min(arc, 1.0f - arc));
  // W = -ln 2 log2(u): the sign is in the negative cosine, the factor in the scale (both prepared by StableLanes::set).
  const X k = log2_positive(uniform_positive(exponential_word)) /
              sinpi_half(fma(load_pair(law.slope_cosine + lane), m, load_pair(law.offset_cosine + lane)));
  const X power = load_pair(law.power + lane) * log2_positive(k * sinpi_half(m));
  return copy_sign(sine * load_pair(law.scale + lane) * k * exp2_saturating(power), sign_source);
}

// Calls draw(block, lane, values of the block) for every block of kPerBlock steps that meets [first, first + count) and
// stores the rows inside that range.
template <int kPerBlock, class Draw>
inline void fill_blocks(uint64_t first, int count, float* out, Draw draw) {
  const uint64_t last = first + static_cast<uint64_t>(count);
  for (uint64_t block = first / kPerBlock; block * kPerBlock < last; ++block) {
    for (int lane = 0; lane < kLanes; lane += kPairWidth) {
      X value[kPerBlock];
      draw(static_cast<uint32_t>(block), lane, value);
      for (int i = 0; i < kPerBlock; ++i) {
        const uint64_t step = block * kPerBlock + static_cast<uint64_t>(i);
        if (step >= first && step < last) store(out + (step - first) * kLanes + lane, value[i]);
      }
    }
  }
}

}  // namespace

void fill_gaussian(const LaneKeys& keys, uint32_t stream, uint64_t first, int count, const float* scale, float* out) {
  const LaneStream source(keys, stream);
  fill_blocks<4>(first, count, out, [&](uint32_t block, int lane, X* value) {
    const Words words = source.words(lane, block);
    box_muller(words.w[0], words.w[1], value[0], value[1]);
    box_muller(words.w[2], words.w[3], value[2], value[3]);
    for (int i = 0; i < 4; ++i) value[i] = value[i] * load_pair(scale + lane);
  });
}

void StableLanes::set(int lane, double a, double s) {
  const double slope = std::abs(1 - a);
  alpha[lane] = static_cast<float>(a);
  offset_sine[lane] = static_cast<float>(1 - a / 2);
  slope_cosine[lane] = static_cast<float>(-slope);
  offset_cosine[lane] = static_cast<float>((slope - 1) / 2);
  power[lane] = static_cast<float>(-1 / a);
  scale[lane] = static_cast<float>(s * std::pow(std::log(2.0), 1 - 1 / a));
}

void fill_stable(const LaneKeys& keys, uint32_t stream, uint64_t first, int count, const StableLanes& law, float* out) {
  const LaneStream source(keys, stream);
  fill_blocks<2>(first, count, out, [&](uint32_t block, int lane, X* value) {
    const Words words = source.words(lane, block);
    value[0] = stable_draw(words.w[0], words.w[1], law, lane);
    value[1] = stable_draw(words.w[2], words.w[3], law, lane);
  });
}

}  // namespace penn
