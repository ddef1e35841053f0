// The LSTM of several layers with its mean over time, forward and backward, for tiles of kTileLanes trajectories. Every
// tile is on its own: threads split the batch and never wait for each other inside the loop over time.
//   i f g o = sigmoid, sigmoid, tanh, sigmoid of w_ih x_t + b_ih + w_hh h_(t-1) + b_hh,   c_t = f c_(t-1) + i g,   h_t
//   = o tanh(c_t), out = mean over t of h_t of the last layer
// B = batch, T = time, C = input channels, H = hidden size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "penn/base/aligned.h"
#include "penn/network/tile_sizes.h"

namespace penn {

struct LstmShape {
  int channels = 1, hidden = 50, layers = 4;
  int inputs(int layer) const { return layer == 0 ? channels : hidden; }
  // Of one layer: w_ih (4H, inputs), w_hh (4H, H), b_ih (4H), b_hh (4H), one after the other, rows in the order i f g
  // o. Layers follow each other.
  size_t weight_count(int layer) const { return static_cast<size_t>(4) * hidden * (inputs(layer) + hidden + 2); }
  size_t weight_count() const;
  // Floating-point operations of the matrix products of a forward pass, per step and trajectory; a backward pass has
  // twice as many.
  double flops_forward() const;
};

// What the forward pass leaves for the backward pass.
enum class LstmMemory {
  kNothing,    // inference
  kRecompute,  // the states at every 16th step; the rest is computed again (a third more arithmetic)
  kEverything  // all gates and cell states: 5 H floats per layer, step and trajectory
};

// An array (M, K) rearranged so that the innermost loop reads it once, front to back: [panel][k][row in panel], zero
// rows added.
class PackedMatrix {
 public:
  PackedMatrix(int rows, int columns)
      : rows_(rows), columns_(columns), data_(static_cast<size_t>(round_up(rows, kPanel)) * columns, 0.0f) {}
  float& at(int row, int column) {
    return data_[static_cast<size_t>(row / kPanel) * kPanel * columns_ + column * kPanel + row % kPanel];
  }
  const float* panel(int first_row) const { return data_.data() + static_cast<size_t>(first_row) * columns_; }
  int rows() const { return rows_; }
  int columns() const { return columns_; }

 private:
  int rows_, columns_;
  AlignedVector<float> data_;
};

// A pass over trajectories of one length: forward for every tile, then backward for every tile.
class LstmPass {
 public:
  LstmPass(const LstmShape& shape, int64_t batch, int64_t time, const float* weights, LstmMemory memory);

  int64_t tiles() const { return round_up(batch_, kTileLanes) / kTileLanes; }
  size_t saved_floats_per_tile() const { return saved_floats_; }
  size_t gradient_floats_per_tile() const { return gradient_floats_; }

  // x (B, T, C) -> mean (B, H), rows of mean_step floats. saved: this tile's part, aligned to 64 bytes (null for
  // kNothing).
  void forward(int64_t tile, const float* x, float* mean, int64_t mean_step, float* saved) const;
  // dmean (B, H), rows of dmean_step floats -> this tile's gradient, in its part of an aligned buffer. The input is
  // data and has none.
  void backward(int64_t tile, const float* x, const float* dmean, int64_t dmean_step, const float* saved,
                float* gradient) const;
  // Adds the tiles' gradients, in the order of the tiles, to those of the weights.
  void add_gradients(const float* tile_gradients, float* gradient) const;

 private:
  struct Scratch;
  struct Chunk;
  // Columns of the gradient matrix of a layer: inputs, hidden, one for the bias, zeros up to a whole vector.
  int columns(int layer) const { return static_cast<int>(round_up(shape_.inputs(layer) + shape_.hidden + 1, kVector)); }
  void gather(const float* x, int64_t tile, int64_t t0, int64_t steps, float* out) const;
  void forward_chunk(const Chunk& chunk, Scratch& s, float* sum) const;
  void backward_layer(int layer, const Chunk& chunk, Scratch& s, const float* dh_above, size_t dh_stride,
                      float* gradient) const;

  LstmShape shape_;
  int64_t batch_, time_;
  LstmMemory memory_;
  std::vector<PackedMatrix> forward_weights_;   // per layer (4H, inputs + H)
  std::vector<PackedMatrix> backward_weights_;  // per layer (H + inputs, 4H), rows of h first
  std::vector<std::vector<float>> bias_;        // per layer 4H
  std::vector<size_t> gradient_offset_;
  size_t saved_floats_ = 0, gradient_floats_ = 0;
};

}  // namespace penn
