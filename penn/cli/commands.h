// The commands of the program. Each adds its options to the command line and, when chosen, runs through `run`.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <string>

#include "penn/reproduce/trainings.h"

namespace penn {

// What the chosen command does; returns the exit code.
using Run = std::function<int()>;

void add_command_simulate(CLI::App& app, Run& run);
void add_command_info(CLI::App& app, Run& run);
void add_command_bench(CLI::App& app, Run& run);
void add_command_infer(CLI::App& app, Run& run);
void add_command_evaluate(CLI::App& app, Run& run);
void add_command_calibrate(CLI::App& app, Run& run);
void add_command_serve(CLI::App& app, Run& run);
void add_command_reproduce(CLI::App& app, Run& run);
void add_command_train(CLI::App& app, Run& run);
void add_bench_network(CLI::App& command, Run& run);  // penn bench train, penn bench infer
// Trains, or goes on with an interrupted training; false: interrupted. (command_reproduce_train.cc)
bool train_for_reproduction(const Training& training, double minutes, int threads, const std::filesystem::path& model);

}  // namespace penn
