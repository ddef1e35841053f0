// Definitions of the features of regressions and their residuals: one trajectory in double precision.
#pragma once

#include "penn/features/feature_table.h"

namespace penn::reference {

Features put_first_regression, put_cubic_regression, put_second_regression, put_residual;

}  // namespace penn::reference
