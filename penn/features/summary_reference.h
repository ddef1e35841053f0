// The definitions of the statistics: one trajectory, double precision, one formula after the other.
#pragma once

#include <vector>

#include "penn/features/feature_table.h"

namespace penn {

// z (n, d) -> (F), in the order of Summary::names().
std::vector<double> summary_reference(const SummaryOptions& options, const SummaryScaling& scaling, const float* z,
                                      int64_t n);

namespace reference {
Features put_values, put_lags, put_all_autocorrelations, put_innovations, put_blocks, put_bins, put_differences,
    put_grid, put_correlations, put_pair_grid;
}  // namespace reference

}  // namespace penn
