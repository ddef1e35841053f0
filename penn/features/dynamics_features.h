// Features of differences given value and velocity. Definitions: the reference.
#pragma once

#include "penn/features/feature_table.h"

namespace penn {

LaneFeatures put_bins, put_differences, put_grid, put_pair_grid;

}  // namespace penn
