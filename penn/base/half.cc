#include "penn/base/half.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace penn {
namespace {
constexpr uint16_t kSign = 0x8000, kInfinity = 0x7c00, kNan = 0x7e00;
}

float widen(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & kSign) << 16, exponent = half >> 10 & 31, mantissa = half & 1023;
  if (exponent == 0) return std::copysign(static_cast<float>(mantissa) * 0x1p-24f, std::bit_cast<float>(sign));
  return std::bit_cast<float>(sign | (exponent == 31 ? 255 : exponent + 112) << 23 | mantissa << 13);
}

uint16_t narrow(float value) {
  const uint16_t sign = std::signbit(value) ? kSign : 0;
  if (std::isnan(value)) return sign | kNan;
  const double size = std::abs(static_cast<double>(value));
  if (size >= 65520) return sign | kInfinity;  // half way to the next power of two
  const int exponent = size == 0 ? -14 : std::max(std::ilogb(size), -14);
  // In units of the last place: below 1024 for numbers without the leading one, and a carry to 2048 moves into the
  // exponent by itself.
  const int units = static_cast<int>(std::nearbyint(std::ldexp(size, 10 - exponent)));
  return static_cast<uint16_t>(sign | (((exponent + 14) << 10) + units));
}

}  // namespace penn
