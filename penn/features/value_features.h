// Features of the values of a channel, their increments over many lags, how they decay. Definitions: the reference.
#pragma once

#include "penn/features/feature_table.h"

namespace penn {

LaneFeatures put_values, put_lags, put_all_autocorrelations, put_blocks;

}  // namespace penn
