// penn serve: the same answers in a browser, on this machine.
#pragma once

#include "penn/cli/command_line.h"

namespace penn {

void add_command_serve(Command& app, Run& run);

}  // namespace penn
