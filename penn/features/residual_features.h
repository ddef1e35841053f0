// Features of residuals of the second regression. Definitions: the reference.
#pragma once

#include "penn/features/feature_table.h"

namespace penn {

LaneFeatures put_residual;

}  // namespace penn
