// The decoder: residual blocks B(u) = ELU(l3(ELU(l2(ELU(l1(u)))))) + s(u) of one width, then one dense layer. s is
// linear in the first block and the identity after it, as in the paper. With an input projection a dense layer comes
// first and s is the identity in every block: the features meet one large matrix instead of two. B = batch, E = inputs
// (the embedding), W = width, K = outputs. Rows are trajectories; forward and backward work on any range of them.
#pragma once

#include <cstdint>
#include <vector>

#include "penn/base/aligned.h"
#include "penn/network/weights.h"

namespace penn {

// y = w x + b: w (outputs, inputs), b (outputs).
struct Dense {
  int64_t inputs = 0, outputs = 0;
  size_t weight = 0, bias = 0;  // offsets in the flat array
};

class Decoder {
 public:
  Decoder(WeightList& weights, int64_t inputs, int64_t width, int64_t blocks, int64_t outputs, bool has_projection);

  // What a pass leaves behind: outputs of the layers, and gradients with respect to what goes into their activations.
  // Each (B, W).
  struct State {
    struct Block {
      AlignedVector<float> h[3], out;  // after each ELU; the block's output
      AlignedVector<float> delta[3], dout;
    };
    AlignedVector<float> projected, dprojected;
    std::vector<Block> blocks;
  };
  State make_state(int64_t rows, bool with_backward) const;

  // Rows [first, last): embedding (B, E) -> raw (B, K).
  void forward(const float* weights, const float* embedding, int64_t first, int64_t last, State& state,
               float* raw) const;
  // draw (B, K), the gradient with respect to raw -> state's gradients, and dembedding (B, E) unless null.
  void backward(const float* weights, const float* draw, int64_t first, int64_t last, State& state,
                float* dembedding) const;

  // The gradient of a layer's weights is the sum over rows of delta^T input.
  struct GradientTerm {
    const Dense* layer;
    const float *delta, *input;  // (B, outputs), (B, inputs)
  };
  std::vector<GradientTerm> gradient_terms(const State& state, const float* embedding, const float* draw) const;

 private:
  struct Block {
    Dense layers[3], skip;  // skip: without inputs where it is the identity
  };
  int64_t inputs_, width_, outputs_;
  bool has_projection_;
  Dense projection_, last_;
  std::vector<Block> blocks_;
};

// Columns [first, last) of a layer's gradient (its bias with the first column) over a batch of B trajectories, in
// partial sums of `shard` trajectories each, in their order.
void dense_gradient(const Decoder::GradientTerm& term, int64_t B, int64_t shard, int64_t first, int64_t last,
                    float* gradient);

}  // namespace penn
