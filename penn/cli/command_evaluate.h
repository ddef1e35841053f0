// penn evaluate: accuracy and calibration of a model on trajectories with known parameters. Exit code 3 when
// calibration fails.
#pragma once

#include "penn/cli/command_line.h"

namespace penn {

void add_command_evaluate(Command& app, Run& run);

}  // namespace penn
