// System file -> System.
#pragma once

#include "penn/system/system.h"

namespace penn {

inline constexpr size_t kMostSystemBytes = 1 << 20;

// Reads and checks a system file. Throws SystemError: file, line, caret, hint.
System parse_system(const std::string& text, const std::string& source_name);

}  // namespace penn
