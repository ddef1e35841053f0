// The loss of a batch and its gradient with respect to all weights:
//   mean over trajectories of [ -ln q(theta) - (auxiliary / N) sum_j ln q_j(theta) ]  -  (balance / N) sum_j ln(mean
//   over the batch of weight_j)
// auxiliary, the per-component loss (q_j: component j alone): early in training one component is better than the others
// by many nats and would learn from every trajectory, the others from none: with 11 parameters one was left. balance,
// the load-balancing loss: components that are useless early lose their weight, with it their gradient, and never come
// back: of ten, three were left. A component may still be anything for a single trajectory.
//
// Trajectories go through the decoder in tiles, forward and back; then the weights' gradients are summed, shard after
// shard of kShardRows trajectories. Which thread does what does not change a bit.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "penn/network/network.h"
#include "penn/simulate/batch_stream.h"

namespace penn {

inline constexpr int64_t kShardRows = 96;

struct LossTerms {
  double load_balancing = 0, auxiliary = 0;
};

struct BatchLoss {
  double nll = 0;  // mean of -ln q over the good rows, in the network's coordinates
  int64_t good = 0, bad = 0;
};

// Memory that is kept from step to step.
class Gradients {
 public:
  // A step's trajectories, in chunks of one length each; theta (B, M) in the network's coordinates. Sets gradient() to
  // that of the mean loss.
  BatchLoss compute(const Network& network, std::span<const TrajectoryBatch> chunks, std::span<const float> theta,
                    const LossTerms& terms, int threads);
  std::span<const float> gradient() const { return gradient_; }

 private:
  BatchLoss forward(const Network& network, std::span<const float> theta, double auxiliary, int64_t B, int threads);
  void add_load_balancing(const MixtureShape& shape, double load_balancing, int64_t B);
  void backward(const Network& network, int64_t B, int threads);

  std::vector<LstmEncoder::State> encoded_;  // of each chunk
  Decoder::State decoded_;
  int64_t rows_ = 0;  // that decoded_ has room for
  AlignedVector<float> embedding_, dembedding_, raw_, draw_, gradient_;
  std::vector<double> log_q_, weights_;
  std::vector<uint8_t> bad_;
};

}  // namespace penn
