// A directory written by `penn simulate`, checked against the system it is to train.
#pragma once

#include "penn/simulate/batch_stream.h"

namespace penn {

FixedSet read_set(const std::filesystem::path& folder, const System& system, int observation);

}  // namespace penn
