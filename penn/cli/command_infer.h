// penn infer: what observed trajectories say about the parameters.
#pragma once

#include "penn/cli/command_line.h"

namespace penn {

void add_command_infer(Command& app, Run& run);

}  // namespace penn
