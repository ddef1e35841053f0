// penn bench train, penn bench infer: trajectories per second through the network, GFLOP/s of its matrix products, and
// their fraction of what the machine can do. (bench/stock_lstm.cc sets the paper's network beside LibTorch's own LSTM.)
// Weights are random: speed does not depend on them.
#pragma once

#include "penn/cli/command_line.h"

namespace penn {

void add_bench_network(Command& command, Run& run);

}  // namespace penn
