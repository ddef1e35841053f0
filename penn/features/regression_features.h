// Features of regressions of the differences on monomials. Definitions: the reference.
#pragma once

#include "penn/features/feature_table.h"

namespace penn {

LaneFeatures put_first_regression, put_cubic_regression, put_second_regression;

}  // namespace penn
