// Counter-based random numbers: Philox4x32-7 (Salmon et al., SC'11; seven rounds are the
// fewest that pass BigCrush, and a tenth of simulation time cheaper than ten). A draw is a pure function of
// (seed, trajectory, attempt, stream, step), so a trajectory is the same bits on any number of threads and in any
// batch.
#pragma once

#include <array>
#include <cstdint>

namespace penn {

inline constexpr int kPhiloxRounds = 7;
inline constexpr uint32_t kPhiloxMultiplier0 = 0xD2511F53u, kPhiloxMultiplier1 = 0xCD9E8D57u;
inline constexpr uint32_t kPhiloxWeyl0 = 0x9E3779B9u, kPhiloxWeyl1 = 0xBB67AE85u;

using Quad = std::array<uint32_t, 4>;

inline Quad philox(Quad counter, uint32_t key0, uint32_t key1) {
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const uint64_t p0 = uint64_t{kPhiloxMultiplier0} * counter[0];
    const uint64_t p1 = uint64_t{kPhiloxMultiplier1} * counter[2];
    counter = {static_cast<uint32_t>(p1 >> 32) ^ counter[1] ^ key0, static_cast<uint32_t>(p1),
               static_cast<uint32_t>(p0 >> 32) ^ counter[3] ^ key1, static_cast<uint32_t>(p0)};
    key0 += kPhiloxWeyl0;
    key1 += kPhiloxWeyl1;
  }
  return counter;
}

// Streams of one trajectory. Noise k of a system has stream kNoise + k.
enum Stream : uint32_t { kPriorStream = 0, kStartStream = 1, kNoiseStream = 16 };

// What a draw depends on beside its step. `attempt` counts redraws of a trajectory that diverged.
struct RandomKey {
  uint64_t seed = 0;
  uint64_t trajectory = 0;
  uint32_t attempt = 0;

  // Words 4*block .. 4*block+3 of a stream.
  Quad words(uint32_t stream, uint32_t block) const {
    return philox(
        {block, stream | attempt << 16, static_cast<uint32_t>(trajectory), static_cast<uint32_t>(trajectory >> 32)},
        static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32));
  }
  // Uniform in the open interval (0, 1), 53 bits; `index` numbers the draws of a stream.
  double uniform(uint32_t stream, uint32_t index) const {
    const Quad w = words(stream, index / 2);
    const uint64_t bits = index % 2 ? (uint64_t{w[2]} << 32 | w[3]) : (uint64_t{w[0]} << 32 | w[1]);
    return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53;
  }
};

}  // namespace penn
