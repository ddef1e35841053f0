// The gradient of a batch, with every thread taking its own rows through the decoder and back. The threads meet once per step instead of once per
// matrix product: two cores then do nearly twice the work of one, and a program that needs a core now and then does not stall them.
#pragma once

#include "penn/network/mixture_head.h"
#include "penn/network/penn_network.h"

namespace penn {

struct Learned {
  double loss = 0;  // mean of -ln q over the good rows, in the network's coordinates
  int64_t good = 0, bad = 0;
};

// Sets the gradient of every weight to that of the mean loss of the rows. embedding (B, E), theta (B, M). An embedding that is
// differentiable (an encoder with weights) goes through in one piece: its encoder has threads of its own.
// balance: the loss has the term -balance sum_j ln(mean weight of component j) / N, the mean taken over the rows of a thread (32 or more).
// Without it components that are useless early lose their weight and with it their gradient, and never come back: of ten, three were left. A
// component may still be anything for a single trajectory.
// lesson: the loss has the term -(lesson / N) sum_j ln q_j, q_j being component j alone. Early in training one component is better than the others by
// many nats and would learn from every trajectory, the others from none: with 11 parameters one was left.
Learned learn(PennNetwork& network, const torch::Tensor& embedding, const torch::Tensor& theta, double balance = 0, double lesson = 0);

}  // namespace penn
