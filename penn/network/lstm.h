// The LSTM encoder of the paper: layers of one width, mean over time of the last layer's h.
// The weights belong to a torch::nn::LSTM; which code runs it is a setting:
//   auto    lane on the CPU, torch elsewhere      lane    our kernel, threads split the batch (lane_lstm.h)
//   onednn  lstm_forward/lstm_backward of oneDNN  torch   LibTorch's own
#pragma once

#include <cstddef>
#include <string>

#include "penn/network/encoder.h"

namespace penn {

enum class LstmKernel { kAuto, kLane, kOnednn, kTorch };
LstmKernel lstm_kernel(const std::string& name);  // ModelError for an unknown name
const char* lstm_kernel_name(LstmKernel kernel);

// x (B, T, C) float32 -> mean over time of the last layer's h (B, H); differentiable in x and in the weights of `lstm`
// (batch_first, unidirectional, with biases, no dropout, no projection).
// memory_limit: bytes that the lane kernel may keep for the backward pass before it computes the gates again instead.
torch::Tensor lstm_mean(const torch::Tensor& x, torch::nn::LSTM& lstm, LstmKernel kernel,
                        std::size_t memory_limit = std::size_t{4} << 30);

}  // namespace penn
