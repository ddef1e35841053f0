// penn train: a system in, a model file out.
#pragma once

#include "penn/cli/command_line.h"

namespace penn {

void add_command_train(Command& app, Run& run);

}  // namespace penn
