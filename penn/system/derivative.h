// Symbolic derivatives of the expression graph. Operands come before their users, so one pass in the order of the nodes
// applies the chain rule to each of them once; the result shares every part with what is there already, and may be
// differentiated again.
#pragma once

#include "penn/system/expression.h"

namespace penn {

// d of / d leaf, leaf any symbol (parameter, state, time, noise). Zeros, ones and numbers are folded, also 0 * x where
// x may not be finite. abs, sign, min and max have their derivative almost everywhere: sign' = 0 (also at the jump),
// abs' = sign, and where both operands of min or max are equal, the mean of both derivatives. A branch that is not
// taken but not finite makes it NaN: sqrt(max(r, 0)) below r = 0.
NodeId derivative(ExpressionGraph& graph, NodeId of, NodeId leaf);

}  // namespace penn
