// The commands of the program. Each adds its options to the command line and, when chosen, runs through `run`.
#pragma once

#include <functional>
#include <string>

#include "penn/cli/command_line.h"

namespace penn {

// What the chosen command does; returns the exit code.
using Run = std::function<int()>;

void add_command_simulate(Command& app, Run& run);
void add_command_info(Command& app, Run& run);
void add_command_bench(Command& app, Run& run);
void add_command_infer(Command& app, Run& run);
void add_command_evaluate(Command& app, Run& run);
void add_command_calibrate(Command& app, Run& run);
void add_command_serve(Command& app, Run& run);
void add_command_reproduce(Command& app, Run& run);
void add_command_train(Command& app, Run& run);
void add_bench_network(Command& command, Run& run);  // penn bench train, penn bench infer

}  // namespace penn
