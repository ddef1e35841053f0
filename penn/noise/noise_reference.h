// Slow, readable twins of the noise drivers: one trajectory, double precision, textbook formulas, the same random
// words. They document what the fast drivers compute and are what those are tested against.
#pragma once

#include <cstdint>
#include <vector>

#include "penn/base/random.h"

namespace penn {

double gaussian_reference(const RandomKey& key, uint32_t stream, uint64_t step);  // N(0, 1)
double stable_reference(const RandomKey& key, uint32_t stream, uint64_t step,
                        double alpha);  // E exp(ikS) = exp(-|k|^alpha)
// Unit fGn of `steps` values through the circulant matrix of size 2*half; costs steps * half operations.
std::vector<double> fractional_reference(const RandomKey& key, uint32_t stream, double H, int half, int steps);

}  // namespace penn
