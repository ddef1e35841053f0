// What was parsed, in words and formulas (`penn info SYSTEM`).
#pragma once

#include "penn/system/system.h"

namespace penn {

// A readable account of what was parsed.
std::string describe_system(const System& system);
std::string to_text(const ExpressionGraph& graph, NodeId node, const System& system);

}  // namespace penn
