// The sizes of tiles (lane_tile.h), apart from the loops over them: the processor's intrinsics, which the loops need,
// take a second to compile.
#pragma once

#include <cstdint>

namespace penn {

#if defined(__AVX512F__)
inline constexpr int kVector = 16;  // floats; lanes::kWidth
inline constexpr int kPanel = 12;   // rows of a tile
#else
#if defined(__AVX__)
inline constexpr int kVector = 8;
#else
inline constexpr int kVector = 4;
#endif
inline constexpr int kPanel = 6;
#endif
inline constexpr int kTileLanes = 2 * kVector;

inline constexpr int64_t round_up(int64_t n, int64_t step) {
  return (n + step - 1) / step * step;
}

}  // namespace penn
