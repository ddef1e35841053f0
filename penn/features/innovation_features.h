// Features of a robust AR(1) fit and its innovations. Definitions: the reference.
#pragma once

#include "penn/features/feature_table.h"

namespace penn {

LaneFeatures put_innovations;

}  // namespace penn
