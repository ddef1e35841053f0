// The LSTM on oneDNN's lstm_forward and lstm_backward primitives; the alternative to LaneLstm. With AVX2 oneDNN 2.6 runs its
// reference code: 176 trajectories/s against 333 (length 1000, batch 256, two cores). Not compared with AVX-512.
#pragma once

#include <memory>

#include "penn/kernel/lstm_shape.h"

namespace penn {

// training: whether backward will be called.
std::unique_ptr<LstmPass> make_onednn_lstm(const LstmShape& shape, bool training);

}  // namespace penn
