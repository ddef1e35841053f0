// What the LSTM kernels have in common: sizes, weights as LibTorch keeps them, and what one forward-backward pair is.
// B = batch, T = time, C = input channels, H = hidden size. No tensors here: plain arrays.
#pragma once

#include <vector>

namespace penn {

struct LstmShape {
  int batch = 0, time = 0, channels = 1, hidden = 50, layers = 4;
  int inputs(int layer) const { return layer == 0 ? channels : hidden; }
  bool operator==(const LstmShape&) const = default;
};

// One layer's weights: w_ih (4H, C or H), w_hh (4H, H), b_ih and b_hh (4H), rows in the order i f g o.
struct LstmWeights {
  const float *w_ih, *w_hh, *b_ih, *b_hh;
};
struct LstmGradients {  // written, not added to; the two biases have the same gradient
  float *w_ih, *w_hh, *bias;
};

// Floating-point operations of the matrix products of a forward pass; a backward pass has twice as many.
inline double lstm_flops_forward(const LstmShape& s) {
  double sum = 0;
  for (int layer = 0; layer < s.layers; ++layer) sum += 2.0 * (s.inputs(layer) + s.hidden) * 4 * s.hidden;
  return sum * s.time * s.batch;
}

// A forward pass, what it remembers, and its backward pass. Objects are used again for the next batch of the same
// shape, because what they remember is about a gigabyte for a batch of 256 at length 1000.
class LstmPass {
 public:
  virtual ~LstmPass() = default;
  // x (B, T, C) -> mean over time of the last layer's h (B, H).
  virtual void forward(const std::vector<LstmWeights>& weights, const float* x, float* mean) = 0;
  // dmean (B, H) -> gradients, and dx (B, T, C) unless null. x is the one given to forward.
  virtual void backward(const float* x, const float* dmean, const std::vector<LstmGradients>& gradients, float* dx) = 0;
};

}  // namespace penn
