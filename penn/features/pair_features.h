// Features of how two channels follow each other. Definitions: the reference.
#pragma once

#include "penn/features/feature_table.h"

namespace penn {

LaneFeatures put_correlations;

}  // namespace penn
