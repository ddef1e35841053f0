// penn info: what is in a system or a model, and what the machine does with it.
#pragma once

#include "penn/cli/command_line.h"

namespace penn {

void add_command_info(Command& app, Run& run);

}  // namespace penn
