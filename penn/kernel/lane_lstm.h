// The LSTM of several layers with its mean over time, forward and backward, for tiles of kTileLanes trajectories. Every
// tile is on its own: threads split the batch and never wait for each other inside the loop over time.
//   i f g o = sigmoid, sigmoid, tanh, sigmoid of w_ih x_t + b_ih + w_hh h_(t-1) + b_hh      (rows in this order, as
//   LibTorch) c_t = f c_(t-1) + i g,   h_t = o tanh(c_t),   out = mean over t of h_t of the last layer
#pragma once

#include <cstddef>
#include <vector>

#include "penn/kernel/lane_gemm.h"
#include "penn/kernel/lstm_shape.h"

namespace penn {

// What the forward pass leaves for the backward pass.
enum class LstmMemory {
  kNothing,    // inference
  kRecompute,  // the states at every kLstmChunk-th step; the rest is computed again (a third more arithmetic)
  kEverything  // all gates and cell states: 5 H floats per layer, step and trajectory
};

class LaneLstm {
 public:
  LaneLstm(const LstmShape& shape, const std::vector<LstmWeights>& weights, LstmMemory memory);

  int tiles() const { return round_up(shape_.batch, kTileLanes) / kTileLanes; }
  std::size_t saved_floats_per_tile() const { return saved_floats_; }
  std::size_t gradient_floats_per_tile() const { return gradient_floats_; }

  // x (B, T, C) -> mean (B, H). saved: this tile's part, aligned to 64 bytes (null for kNothing).
  void forward(int tile, const float* x, float* mean, float* saved) const;

  // dmean (B, H) -> this tile's gradients (its part of an aligned buffer, see sum_gradients) and dx (B, T, C) unless
  // null.
  void backward(int tile, const float* x, const float* dmean, const float* saved, float* gradient, float* dx) const;

  // Adds the tiles' gradients in the order of the tiles, so that the result does not depend on the number of threads.
  void sum_gradients(const float* gradient, const std::vector<LstmGradients>& out) const;

 private:
  struct Scratch;
  struct Chunk;
  // Columns of the gradient matrix of a layer: inputs, hidden, one for the bias, zeros up to a whole vector.
  int columns(int layer) const { return round_up(shape_.inputs(layer) + shape_.hidden + 1, kVector); }
  void gather(const float* x, int tile, int t0, int steps, float* out) const;
  void forward_chunk(const Chunk& chunk, Scratch& s, float* sum) const;
  void backward_layer(int layer, const Chunk& chunk, Scratch& s, const float* dh_above, std::size_t dh_stride,
                      float* gradient) const;

  LstmShape shape_;
  LstmMemory memory_;
  std::vector<PackedMatrix> forward_weights_;   // per layer (4H, inputs + H)
  std::vector<PackedMatrix> backward_weights_;  // per layer (H + inputs, 4H), rows of h first
  std::vector<std::vector<float>> bias_;        // per layer 4H
  std::vector<std::size_t> gradient_offset_;
  std::size_t saved_floats_ = 0, gradient_floats_ = 0;
};

}  // namespace penn
