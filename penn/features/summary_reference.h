// The definitions of the statistics: one trajectory, double precision, one formula after the other.
#pragma once

#include <vector>

#include "penn/features/summary.h"

namespace penn {

// z (n, d) -> (F), in the order of Summary::names().
std::vector<double> summary_reference(const SummaryOptions& options, const SummaryScaling& scaling, const float* z,
                                      int64_t n);

}  // namespace penn
