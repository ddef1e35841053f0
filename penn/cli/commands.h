// The commands of the program. Each adds its options to the command line and, when chosen, runs through `run`.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

namespace penn {

// What the chosen command does; returns the exit code.
using Run = std::function<int()>;

void add_command_simulate(CLI::App& app, Run& run);
void add_command_info(CLI::App& app, Run& run);
void add_command_bench(CLI::App& app, Run& run);
void add_command_infer(CLI::App& app, Run& run);
void add_command_evaluate(CLI::App& app, Run& run);
void add_command_serve(CLI::App& app, Run& run);
#ifdef PENN_HAVE_TORCH
void add_command_train(CLI::App& app, Run& run);
// penn bench train, penn bench infer
int bench_train(const std::string& system, int threads, const std::string& json_file);
int bench_infer(const std::string& system, int threads, const std::string& json_file);
#endif

}  // namespace penn
