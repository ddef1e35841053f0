// Commands that need LibTorch live in a second program beside this one, penn-train: loading the library takes half a second, which the
// other commands should not pay. The second program has all commands; this one passes on what it cannot do itself.
#pragma once

#include "penn/cli/commands.h"

namespace penn {

// True for `train`, `bench train`, `bench infer`, `info` of a model or checkpoint, and `reproduce` of what has to be trained.
bool needs_torch(int argc, char** argv);
// Does not return where penn-train could be started.
void start_torch_program(char** argv);
// So that --help names them; run only where penn-train is missing.
void add_forwarded_commands(CLI::App& app, Run& run);

}  // namespace penn
