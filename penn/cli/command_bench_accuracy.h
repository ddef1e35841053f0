// penn bench accuracy: how far are trained posteriors from the exact ones, on small systems whose exact posterior is
// known? The compass for every change of the recipe.
#pragma once

#include "penn/cli/command_line.h"

namespace penn {

void add_bench_accuracy(Command& bench, Run& run);

}  // namespace penn
