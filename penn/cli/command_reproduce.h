// penn reproduce: the figures and tables of the paper from our models, as pages.
#pragma once

#include "penn/cli/command_line.h"

namespace penn {

void add_command_reproduce(Command& app, Run& run);

}  // namespace penn
