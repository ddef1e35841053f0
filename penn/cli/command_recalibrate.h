// penn recalibrate: a trained model in, the same one with its posteriors recalibrated on fresh trajectories out.
// `penn train` does it at its end; this is for models trained without, and for those who want it at the length of their
// data.
#pragma once

#include "penn/cli/command_line.h"

namespace penn {

void add_command_recalibrate(Command& app, Run& run);

}  // namespace penn
