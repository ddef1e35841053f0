// Recorded values are rounded: to a digit, to a step of a converter. Simulated ones are not, and a statistic such as
// the mean logarithm of increments takes an exact repetition for an increment of size zero. Where the values of a
// channel are quantised, to five levels or more, and repeat, they are dithered: a uniform draw of one step is added to
// every value (the same for the same data, always). This gives small increments a distribution like that before
// rounding; it does not bring back what was lost: rounding and draw together are white noise of variance step^2 / 6,
// which matters where the step is not small beside the changes from sample to sample.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace penn {

struct Quantisation {
  double step = 0;            // of the quantisation; 0: the values do not look rounded, or never repeat
  int64_t values = 0;         // different ones, where some repeat
  double repeated = 0;        // fraction of samples equal to their predecessor
  double typical_change = 0;  // median size of the increments that are not 0
};

// One channel: z (n) with the given stride.
Quantisation find_quantisation(const float* z, int64_t n, int64_t stride);

// z (n, d) with the draws added; quantisations (d) tells what was found.
std::vector<float> dither(std::span<const float> z, int64_t n, int64_t d, std::vector<Quantisation>& quantisations);

}  // namespace penn
