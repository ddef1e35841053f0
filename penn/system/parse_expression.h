// Text of an expression -> SyntaxTree.
#pragma once

#include "penn/system/expression.h"

namespace penn {

// Parses `text`, which starts at `at` in `source`. Throws SystemError with the position of the mistake.
SyntaxTree parse_expression(const std::string& text, const SourceText& source, Position at);

}  // namespace penn
