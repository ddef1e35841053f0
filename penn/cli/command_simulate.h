// penn simulate: trajectories to files.
#pragma once

#include "penn/cli/command_line.h"

namespace penn {

void add_command_simulate(Command& app, Run& run);

}  // namespace penn
