#include "penn/kernel/lane_lstm.h"

#include <algorithm>

#include "penn/kernel/aligned_buffer.h"

namespace penn {
namespace {

// Steps that are worked on together, layer by layer. The gradient sums are kept in registers over a chunk, so longer is
// better until gates, states and gradients of a chunk leave the second-level cache (about 35 kB per step at H = 50).
constexpr int kChunk = 16;

}  // namespace

// Where the gates and states of the current chunk are. Rows are kTileLanes wide.
struct LaneLstm::Chunk {
  int t0, steps;
  float* gates;              // [layer][t][5H]: i f g o c
  std::size_t layer_stride;  // floats from one layer to the next
  const float* start;        // [layer][2H]: h and c before the chunk
  const float* gates_of(int layer, int t, int H) const { return gates + layer * layer_stride + t * 5 * H * kTileLanes; }
};

// One thread's working memory.
struct LaneLstm::Scratch {
  explicit Scratch(const LstmShape& s)
      : row(static_cast<std::size_t>(s.hidden) * kTileLanes),
        x(static_cast<std::size_t>(kChunk) * s.channels * kTileLanes),
        local(static_cast<std::size_t>(s.layers) * kChunk * 5 * row),
        state(static_cast<std::size_t>(s.layers) * 2 * row),
        pre(4 * row),
        h(static_cast<std::size_t>(s.layers) * kChunk * row),
        dgates(kChunk * 4 * row),
        dhx(static_cast<std::size_t>(s.layers) * kChunk * (row + std::max(s.hidden, s.channels) * kTileLanes)),
        carry(static_cast<std::size_t>(s.layers) * 2 * row),
        joined(static_cast<std::size_t>(round_up(s.hidden + std::max(s.hidden, s.channels) + 1, kVector)) * kTileLanes),
        transposed(transposed_size(s.hidden + std::max(s.hidden, s.channels) + 1 + kVector, kChunk)),
        dmean(row) {}
  std::size_t row;           // H * kTileLanes
  AlignedBuffer x;           // [t][C]
  AlignedBuffer local;       // gates of one chunk when they are not saved
  AlignedBuffer state;       // [layer][2H]: h, c after the last step
  AlignedBuffer pre;         // 4H
  AlignedBuffer h;           // [layer][t][H]
  AlignedBuffer dgates;      // [t][4H]
  AlignedBuffer dhx;         // [layer][t][H + inputs]: gradients of h_(t-1) through the gates, and of the layer's input
  AlignedBuffer carry;       // [layer][2H]: dh, dc that go to the chunk before
  AlignedBuffer joined;      // inputs, hidden, one
  AlignedBuffer transposed;  // of joined, for the whole chunk
  AlignedBuffer dmean;       // H
};

LaneLstm::LaneLstm(const LstmShape& shape, const std::vector<LstmWeights>& weights, LstmMemory memory)
    : shape_(shape), memory_(memory) {
  const int H = shape.hidden;
  for (int layer = 0; layer < shape.layers; ++layer) {
    const LstmWeights& w = weights[layer];
    const int inputs = shape.inputs(layer);
    PackedMatrix forward(4 * H, inputs + H);
    PackedMatrix backward(H + inputs, 4 * H);
    std::vector<float> bias(4 * H);
    for (int row = 0; row < 4 * H; ++row) {
      for (int k = 0; k < inputs; ++k) backward.at(H + k, row) = forward.at(row, k) = w.w_ih[row * inputs + k];
      for (int k = 0; k < H; ++k) backward.at(k, row) = forward.at(row, inputs + k) = w.w_hh[row * H + k];
      bias[row] = w.b_ih[row] + w.b_hh[row];
    }
    forward_weights_.push_back(std::move(forward));
    backward_weights_.push_back(std::move(backward));
    bias_.push_back(std::move(bias));
    gradient_offset_.push_back(gradient_floats_);
    gradient_floats_ += static_cast<std::size_t>(round_up(4 * H, kPanel)) * columns(layer);
  }
  gradient_floats_ = (gradient_floats_ + 15) / 16 * 16;
  const std::size_t row = static_cast<std::size_t>(H) * kTileLanes;
  const std::size_t chunks = round_up(shape.time, kChunk) / kChunk;
  if (memory != LstmMemory::kNothing) saved_floats_ += chunks * shape.layers * 2 * row;
  if (memory == LstmMemory::kEverything) saved_floats_ += static_cast<std::size_t>(shape.time) * shape.layers * 5 * row;
}

// x (B, T, C) -> [t][C][lane] for t0 <= t < t0 + steps; lanes beyond the batch are zero.
void LaneLstm::gather(const float* x, int tile, int t0, int steps, float* out) const {
  const int C = shape_.channels;
  for (int lane = 0; lane < kTileLanes; ++lane) {
    const int b = tile * kTileLanes + lane;
    const float* from = x + (static_cast<std::size_t>(b) * shape_.time + t0) * C;
    for (int k = 0; k < steps * C; ++k) out[k * kTileLanes + lane] = b < shape_.batch ? from[k] : 0.0f;
  }
}

// From chunk.start and s.x to the gates of all layers, s.state, s.h; adds the last layer's h to sum unless null.
void LaneLstm::forward_chunk(const Chunk& chunk, Scratch& s, float* sum) const {
  const int H = shape_.hidden;
  const int row = static_cast<int>(s.row);
  for (int layer = 0; layer < shape_.layers; ++layer) {
    const int inputs = shape_.inputs(layer);
    const float* input = layer == 0 ? s.x.data() : s.h.data() + (layer - 1) * kChunk * s.row;
    const float* h = chunk.start + layer * 2 * s.row;
    const float* c = h + row;
    float* h_out = s.h.data() + layer * kChunk * s.row;
    for (int t = 0; t < chunk.steps; ++t) {
      float* pre = s.pre.data();
      multiply<Start::kBias>(pre, forward_weights_[layer], bias_[layer].data(), input + t * inputs * kTileLanes, inputs, h,
                             H);
      float* gates = const_cast<float*>(chunk.gates_of(layer, t, H));
      for (int k = 0; k < row; k += kVector) {
        const Vec i = sigmoid(load(pre + k)), f = sigmoid(load(pre + row + k));
        const Vec g = tanh(load(pre + 2 * row + k)), o = sigmoid(load(pre + 3 * row + k));
        const Vec cell = f * load(c + k) + i * g;
        store(gates + k, i);
        store(gates + row + k, f);
        store(gates + 2 * row + k, g);
        store(gates + 3 * row + k, o);
        store(gates + 4 * row + k, cell);
        store(h_out + t * row + k, o * tanh(cell));
      }
      h = h_out + t * row;
      c = gates + 4 * row;
    }
    float* state = s.state.data() + layer * 2 * s.row;
    std::copy(h, h + row, state);
    std::copy(c, c + row, state + row);
  }
  if (!sum) return;
  const float* h = s.h.data() + (shape_.layers - 1) * kChunk * s.row;
  for (int t = 0; t < chunk.steps; ++t)
    for (int k = 0; k < row; k += kVector) store(sum + k, load(sum + k) + load(h + t * row + k));
}

void LaneLstm::forward(int tile, const float* x, float* mean, float* saved) const {
  Scratch s(shape_);
  const int H = shape_.hidden, T = shape_.time;
  const std::size_t starts = static_cast<std::size_t>(shape_.layers) * 2 * s.row;
  const std::size_t chunks = round_up(T, kChunk) / kChunk;
  AlignedBuffer sum(s.row), start(starts);
  for (std::size_t n = 0; n < chunks; ++n) {
    Chunk chunk;
    chunk.t0 = static_cast<int>(n) * kChunk;
    chunk.steps = std::min(kChunk, T - chunk.t0);
    float* begin = memory_ == LstmMemory::kNothing ? start.data() : saved + n * starts;
    std::copy(s.state.data(), s.state.data() + starts, begin);
    chunk.start = begin;
    if (memory_ == LstmMemory::kEverything) {
      chunk.gates = saved + chunks * starts + static_cast<std::size_t>(chunk.t0) * 5 * s.row;
      chunk.layer_stride = static_cast<std::size_t>(T) * 5 * s.row;
    } else {
      chunk.gates = s.local.data();
      chunk.layer_stride = kChunk * 5 * s.row;
    }
    gather(x, tile, chunk.t0, chunk.steps, s.x.data());
    forward_chunk(chunk, s, sum.data());
  }
  for (int lane = 0; lane < kTileLanes; ++lane) {
    const int b = tile * kTileLanes + lane;
    if (b >= shape_.batch) break;
    for (int k = 0; k < H; ++k) mean[b * H + k] = sum.data()[k * kTileLanes + lane] / T;
  }
}

// One layer, one chunk, backward in time. s.h holds h of all layers, dh_above [t][H] (stride in floats) the gradient
// from above. Leaves dx of the chunk in s.dhx, the carry in s.carry, and adds the weights' gradient.
void LaneLstm::backward_layer(int layer, const Chunk& chunk, Scratch& s, const float* dh_above, std::size_t dh_stride,
                              float* gradient) const {
  const int H = shape_.hidden, inputs = shape_.inputs(layer);
  const int row = static_cast<int>(s.row);
  const float* start = chunk.start + layer * 2 * s.row;
  const float* h_own = s.h.data() + layer * kChunk * s.row;
  const float* input = layer == 0 ? s.x.data() : s.h.data() + (layer - 1) * kChunk * s.row;
  float* carry = s.carry.data() + layer * 2 * s.row;
  const std::size_t dhx_stride = static_cast<std::size_t>(H + inputs) * kTileLanes;
  float* dhx = s.dhx.data() + layer * kChunk * (s.row + std::max(H, shape_.channels) * kTileLanes);
  const PackedMatrix& weights = backward_weights_[layer];
  const float* dh_next = carry;
  float* dc_carry = carry + row;
  for (int t = chunk.steps - 1; t >= 0; --t) {
    const float* gates = chunk.gates_of(layer, t, H);
    const float* c_before = t > 0 ? chunk.gates_of(layer, t - 1, H) + 4 * row : start + row;
    const float* above = dh_above + t * dh_stride;
    float* dg = s.dgates.data() + t * 4 * row;
    for (int k = 0; k < row; k += kVector) {
      const Vec i = load(gates + k), f = load(gates + row + k), g = load(gates + 2 * row + k),
                o = load(gates + 3 * row + k);
      const Vec tanh_c = tanh(load(gates + 4 * row + k));
      const Vec dh = load(dh_next + k) + load(above + k);
      const Vec dc = load(dc_carry + k) + dh * o * (1.0f - tanh_c * tanh_c);
      store(dg + k, dc * g * i * (1.0f - i));
      store(dg + row + k, dc * load(c_before + k) * f * (1.0f - f));
      store(dg + 2 * row + k, dc * i * (1.0f - g * g));
      store(dg + 3 * row + k, dh * tanh_c * o * (1.0f - o));
      store(dc_carry + k, dc * f);
    }
    float* out = dhx + t * dhx_stride;
    multiply<Start::kBias>(out, weights, nullptr, dg, 4 * H);
    dh_next = out;
  }
  std::copy(dh_next, dh_next + row, carry);

  // Weights: inputs, hidden state before, and a one for the bias, side by side.
  const int n = columns(layer);
  float* joined = s.joined.data();
  std::fill(joined + (inputs + H + 1) * kTileLanes, joined + n * kTileLanes, 0.0f);
  std::fill(joined + (inputs + H) * kTileLanes, joined + (inputs + H + 1) * kTileLanes, 1.0f);
  for (int t = 0; t < chunk.steps; ++t) {
    const float* h_before = t > 0 ? h_own + (t - 1) * row : start;
    std::copy(input + t * inputs * kTileLanes, input + (t + 1) * inputs * kTileLanes, joined);
    std::copy(h_before, h_before + row, joined + inputs * kTileLanes);
    transpose_into(s.transposed.data(), n, chunk.steps, t, joined);
  }
  accumulate_outer(gradient + gradient_offset_[layer], n, 4 * H, n, s.dgates.data(), 4 * s.row, chunk.steps,
                   s.transposed.data());
}

void LaneLstm::backward(int tile, const float* x, const float* dmean, const float* saved, float* gradient,
                        float* dx) const {
  Scratch s(shape_);
  const int H = shape_.hidden, T = shape_.time, C = shape_.channels;
  const std::size_t starts = static_cast<std::size_t>(shape_.layers) * 2 * s.row;
  const int chunks = round_up(T, kChunk) / kChunk;
  std::fill(gradient, gradient + gradient_floats_, 0.0f);
  for (int lane = 0; lane < kTileLanes; ++lane) {
    const int b = tile * kTileLanes + lane;
    for (int k = 0; k < H; ++k) s.dmean.data()[k * kTileLanes + lane] = b < shape_.batch ? dmean[b * H + k] / T : 0.0f;
  }
  for (int n = chunks - 1; n >= 0; --n) {
    Chunk chunk;
    chunk.t0 = n * kChunk;
    chunk.steps = std::min(kChunk, T - chunk.t0);
    chunk.start = saved + n * starts;
    gather(x, tile, chunk.t0, chunk.steps, s.x.data());
    if (memory_ == LstmMemory::kEverything) {
      chunk.gates = const_cast<float*>(saved) + chunks * starts + static_cast<std::size_t>(chunk.t0) * 5 * s.row;
      chunk.layer_stride = static_cast<std::size_t>(T) * 5 * s.row;
      for (int layer = 0; layer < shape_.layers; ++layer) {
        for (int t = 0; t < chunk.steps; ++t) {
          const float* o = chunk.gates_of(layer, t, H) + 3 * s.row;
          float* h = s.h.data() + (layer * kChunk + t) * s.row;
          for (std::size_t k = 0; k < s.row; k += kVector) store(h + k, load(o + k) * tanh(load(o + s.row + k)));
        }
      }
    } else {
      chunk.gates = s.local.data();
      chunk.layer_stride = kChunk * 5 * s.row;
      forward_chunk(chunk, s, nullptr);
    }
    const float* above = s.dmean.data();
    std::size_t stride = 0;
    for (int layer = shape_.layers - 1; layer >= 0; --layer) {
      backward_layer(layer, chunk, s, above, stride, gradient);
      above = s.dhx.data() + layer * kChunk * (s.row + std::max(H, C) * kTileLanes) + s.row;
      stride = s.row + shape_.inputs(layer) * kTileLanes;
    }
    if (!dx) continue;
    for (int lane = 0; lane < kTileLanes; ++lane) {
      const int b = tile * kTileLanes + lane;
      if (b >= shape_.batch) break;
      float* to = dx + (static_cast<std::size_t>(b) * T + chunk.t0) * C;
      for (int t = 0; t < chunk.steps; ++t)
        for (int k = 0; k < C; ++k) to[t * C + k] = above[t * stride + k * kTileLanes + lane];
    }
  }
}

void LaneLstm::sum_gradients(const float* gradient, const std::vector<LstmGradients>& out) const {
  const int H = shape_.hidden;
  for (int layer = 0; layer < shape_.layers; ++layer) {
    const int inputs = shape_.inputs(layer), n = columns(layer);
    std::vector<float> sum(static_cast<std::size_t>(4) * H * n, 0.0f);
    for (int tile = 0; tile < tiles(); ++tile) {
      const float* part = gradient + tile * gradient_floats_ + gradient_offset_[layer];
      for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += part[k];
    }
    for (int r = 0; r < 4 * H; ++r) {
      const float* from = sum.data() + static_cast<std::size_t>(r) * n;
      std::copy(from, from + inputs, out[layer].w_ih + r * inputs);
      std::copy(from + inputs, from + inputs + H, out[layer].w_hh + r * H);
      out[layer].bias[r] = from[inputs + H];
    }
  }
}

}  // namespace penn
