// The LSTM on oneDNN's lstm_forward and lstm_backward primitives; the alternative to LaneLstm, faster where oneDNN has
// kernels for the processor (AVX-512).
#pragma once

#include <memory>

#include "penn/network/lstm_shape.h"

namespace penn {

// training: whether backward will be called.
std::unique_ptr<LstmPass> make_onednn_lstm(const LstmShape& shape, bool training);

}  // namespace penn
