// A stack of strided convolutions over time with ELU, each layer averaged over time; forward and backward for tiles of
// kTileLanes trajectories, one after the other in the thread that calls.
//   a_0 = x,   a_l[t] = ELU(b_l + sum_k W_l[:, :, k] a_(l-1)[t stride + k - padding]),   out = mean_t a_1, mean_t a_2,
//   ...
// Zeros outside the trajectory, padding = (kernel - 1) / 2, so layer l has ceil(T_(l-1) / stride) steps for any length.
// With lanes innermost the window of `kernel` steps is already one contiguous matrix: no im2col.
#pragma once

#include <cstddef>
#include <vector>

#include "penn/kernel/lane_gemm.h"

namespace penn {

struct ConvolutionShape {
  int batch = 0, time = 0;
  std::vector<int> channels;   // input channels first, then the output channels of every layer
  int kernel = 5, stride = 2;  // kernel odd
  int layers() const { return static_cast<int>(channels.size()) - 1; }
  int steps(int layer) const;  // of a_layer
  int outputs() const;         // sum of all layers' channels
};

// Multiplications and additions of a forward pass; a backward pass has twice as many (less the first layer's input).
double convolution_flops_forward(const ConvolutionShape& shape);

// LibTorch's layout: weight (out, in, kernel), bias (out).
struct ConvolutionWeights {
  const float *weight, *bias;
};
struct ConvolutionGradients {
  float *weight, *bias;
};

class LaneConvolution {
 public:
  LaneConvolution(const ConvolutionShape& shape, const std::vector<ConvolutionWeights>& weights);

  int tiles() const { return round_up(shape_.batch, kTileLanes) / kTileLanes; }
  std::size_t saved_floats_per_tile() const { return saved_floats_; }
  std::size_t gradient_floats_per_tile() const { return gradient_floats_; }

  // x (B, T, C0) -> mean (B, outputs). saved: this tile's activations, 64-byte aligned, all of it overwritten.
  void forward(int tile, const float* x, float* mean, float* saved) const;
  // dmean (B, outputs) -> this tile's part of the gradient. No gradient for x: it is data.
  void backward(int tile, const float* dmean, const float* saved, float* gradient) const;
  // Adds the tiles in their order: the result does not depend on the number of threads.
  void sum_gradients(const float* gradient, const std::vector<ConvolutionGradients>& out) const;

 private:
  int padding() const { return (shape_.kernel - 1) / 2; }
  int window(int layer) const { return shape_.kernel * shape_.channels[layer - 1]; }  // rows that layer reads
  std::size_t activation_floats(int layer) const;
  // Where step 0 of a_layer begins: before it lie padding() steps of zeros.
  std::size_t start(int layer) const { return static_cast<std::size_t>(padding()) * shape_.channels[layer] * kTileLanes; }

  ConvolutionShape shape_;
  std::vector<PackedMatrix> forward_weights_;   // layer l at l - 1: (out, kernel * in)
  std::vector<PackedMatrix> backward_weights_;  // (kernel * in, out)
  std::vector<std::vector<float>> bias_;
  std::vector<std::size_t> saved_offset_, gradient_offset_;
  std::size_t saved_floats_ = 0, gradient_floats_ = 0;
};

}  // namespace penn
