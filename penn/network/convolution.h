// The convolutional encoder: strided convolutions over asinh of the observation and of its increments, every layer
// averaged over time, then LayerNorm. The mean over time of local nonlinear features needs no sequential loop.
#pragma once

#include <string>
#include <vector>

#include "penn/network/encoder.h"

namespace penn {

// x (B, T, C) float32 -> the layers' means over time, side by side (B, sum of channels). Differentiable in the weights,
// not in x. weights (out, in, kernel), biases (out); one odd kernel size and one stride for all layers, zero padding.
torch::Tensor convolution_means(const torch::Tensor& x, const std::vector<torch::Tensor>& weights,
                                const std::vector<torch::Tensor>& biases, int stride);
// The same with conv1d and elu of LibTorch: other devices, and the test's reference.
torch::Tensor convolution_means_reference(const torch::Tensor& x, const std::vector<torch::Tensor>& weights,
                                          const std::vector<torch::Tensor>& biases, int stride);

}  // namespace penn
