// A small deterministic source of random draws: draw i is a hash of (seed, i) (the SplitMix64 finaliser), so the same
// seed gives the same posterior sample on every machine. std::normal_distribution would not: its algorithm is free.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace penn {

class DrawStream {
 public:
  explicit DrawStream(std::uint64_t seed) : state_(mix(seed + 0x9e3779b97f4a7c15u)) {}

  std::uint64_t bits() { return mix(state_ += 0x9e3779b97f4a7c15u); }

  // Uniform in the open interval (0, 1): never 0, so its logarithm is finite.
  double uniform() { return (static_cast<double>(bits() >> 11) + 0.5) * 0x1p-53; }

  // Standard normal, Box-Muller; the second value of each pair is kept for the next call.
  double normal() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    const double radius = std::sqrt(-2.0 * std::log(uniform()));
    const double angle = 2.0 * std::numbers::pi * uniform();
    spare_ = radius * std::sin(angle);
    has_spare_ = true;
    return radius * std::cos(angle);
  }

 private:
  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
  double spare_ = 0.0;
  bool has_spare_ = false;
};

}  // namespace penn
