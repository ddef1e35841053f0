// Recorded values are rounded: to a digit, to a step of a converter. Simulated ones are not, and a statistic such as the mean logarithm of
// increments takes an exact repetition for an increment of size zero. Where the values of a channel lie on a lattice and repeat, the rounding is
// undone in law: a uniform draw of one step width is added to every value (the same for the same data, always).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace penn {

struct Rounding {
  double step = 0;           // of the lattice; 0: the values do not look rounded, or never repeat
  double repeated = 0;       // share of samples equal to their predecessor
  double typical_change = 0; // median size of the increments that are not 0
};

// One channel: z (n) with the given stride.
Rounding find_rounding(const float* z, int64_t n, int64_t stride);

// z (n, d) with the rounding of every channel undone; roundings (d) tells what was found.
std::vector<float> undo_rounding(std::span<const float> z, int64_t n, int64_t d, std::vector<Rounding>& roundings);

}  // namespace penn
