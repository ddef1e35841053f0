// penn bench: speed as ratios against a named alternative, measured in the same run.
#pragma once

#include "penn/cli/command_line.h"

namespace penn {

void add_command_bench(Command& app, Run& run);

}  // namespace penn
