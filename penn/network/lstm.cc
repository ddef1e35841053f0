#include "penn/network/lstm.h"

#include <algorithm>

#include "penn/network/activation.h"
#include "penn/network/lane_tile.h"

namespace penn {
namespace {

// Steps that are worked on together, layer by layer. The gradient sums are kept in registers over a chunk, so longer is
// better until gates, states and gradients of a chunk leave the second-level cache (about 35 kB per step at H = 50).
constexpr int kChunk = 16;

using lanes::F, lanes::load, lanes::store;

// out (M, lanes) = A (M, K1 + K2) [b1 (K1, lanes); b2 (K2, lanes)] + bias; without bias where it is null.
void multiply_lanes(float* out, const PackedMatrix& a, const float* bias, const float* b1, int k1,
                    const float* b2 = nullptr, int k2 = 0) {
  for (int row = 0; row < a.rows(); row += kPanel)
    with_rows(std::min(kPanel, a.rows() - row), [&]<int R>() {
      F sum[R][2];
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) sum[r][0] = sum[r][1] = bias ? lanes::splat(bias[row + r]) : F{};
      const float* panel = a.panel(row);
      add_products<R, 2>(sum, panel, 1, kPanel, b1, kTileLanes, k1);
      add_products<R, 2>(sum, panel + k1 * kPanel, 1, kPanel, b2, kTileLanes, k2);
      float* to = out + row * kTileLanes;
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) {
        store(to + r * kTileLanes, sum[r][0]);
        store(to + r * kTileLanes + kVector, sum[r][1]);
      }
    });
}

// x (n, lanes) of step t, transposed into [column panel][t][lane][kTileLanes columns]. n is a multiple of kVector: the
// last panel may be half empty.
size_t transposed_size(int n, int time) {
  return static_cast<size_t>(round_up(n, kTileLanes)) * time * kTileLanes;
}
void transpose_into(float* block, int n, int time, int t, const float* x) {
  for (int first = 0; first < n; first += kVector) {
    float* to =
        block + (static_cast<size_t>(first / kTileLanes) * time + t) * kTileLanes * kTileLanes + first % kTileLanes;
    for (int half = 0; half < kTileLanes; half += kVector)
      transpose_square(x + static_cast<size_t>(first) * kTileLanes + half, kTileLanes, to + half * kTileLanes,
                       kTileLanes);
  }
}

template <int R, int V>
void outer_tile(float* out, int out_stride, const float* g, size_t g_stride, int time, const float* x) {
  F sum[R][V];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) sum[r][v] = load(out + r * out_stride + v * kVector);
  for (int t = 0; t < time; ++t, g += g_stride, x += kTileLanes * kTileLanes)
    add_products<R, V>(sum, g, kTileLanes, 1, x, kTileLanes, kTileLanes);
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) store(out + r * out_stride + v * kVector, sum[r][v]);
}

// out (m, n) += sum over t < time and lanes of g_t (m, lanes) x_t (n, lanes)^T, x as made by transpose_into. n is a
// multiple of kVector.
void add_outer(float* out, int m, int n, const float* g, size_t g_stride, int time, const float* x) {
  for (int column = 0; column < n; column += kTileLanes) {
    const float* panel = x + static_cast<size_t>(column) * time * kTileLanes;
    const bool is_whole = n - column >= kTileLanes;
    for (int row = 0; row < m; row += kPanel)
      with_rows(std::min(kPanel, m - row), [&]<int R>() {
        float* o = out + static_cast<size_t>(row) * n + column;
        if (is_whole) outer_tile<R, 2>(o, n, g + row * kTileLanes, g_stride, time, panel);
        else outer_tile<R, 1>(o, n, g + row * kTileLanes, g_stride, time, panel);
      });
  }
}

}  // namespace

size_t LstmShape::weight_count() const {
  size_t sum = 0;
  for (int layer = 0; layer < layers; ++layer) sum += weight_count(layer);
  return sum;
}

double LstmShape::flops_forward() const {
  double sum = 0;
  for (int layer = 0; layer < layers; ++layer) sum += 2.0 * (inputs(layer) + hidden) * 4 * hidden;
  return sum;
}

// Where the gates and states of the current chunk are. Rows are kTileLanes wide.
struct LstmPass::Chunk {
  int64_t t0;
  int steps;
  float* gates;         // [layer][t][5H]: i f g o c
  size_t layer_stride;  // floats from one layer to the next
  const float* start;   // [layer][2H]: h and c before the chunk
  const float* gates_of(int layer, int t, int H) const { return gates + layer * layer_stride + t * 5 * H * kTileLanes; }
};

// One thread's working memory.
struct LstmPass::Scratch {
  explicit Scratch(const LstmShape& s)
      : row(static_cast<size_t>(s.hidden) * kTileLanes),
        x(static_cast<size_t>(kChunk) * s.channels * kTileLanes),
        local(static_cast<size_t>(s.layers) * kChunk * 5 * row),
        state(static_cast<size_t>(s.layers) * 2 * row),
        pre(4 * row),
        h(static_cast<size_t>(s.layers) * kChunk * row),
        dgates(kChunk * 4 * row),
        dhx(static_cast<size_t>(s.layers) * kChunk * (row + std::max(s.hidden, s.channels) * kTileLanes)),
        carry(static_cast<size_t>(s.layers) * 2 * row),
        joined(static_cast<size_t>(round_up(s.hidden + std::max(s.hidden, s.channels) + 1, kVector)) * kTileLanes),
        transposed(transposed_size(s.hidden + std::max(s.hidden, s.channels) + 1 + kVector, kChunk)),
        dmean(row) {}
  size_t row;                   // H * kTileLanes
  AlignedVector<float> x;       // [t][C]
  AlignedVector<float> local;   // gates of one chunk when they are not saved
  AlignedVector<float> state;   // [layer][2H]: h, c after the last step
  AlignedVector<float> pre;     // 4H
  AlignedVector<float> h;       // [layer][t][H]
  AlignedVector<float> dgates;  // [t][4H]
  AlignedVector<float> dhx;  // [layer][t][H + inputs]: gradients of h_(t-1) through the gates, and of the layer's input
  AlignedVector<float> carry;       // [layer][2H]: dh, dc that go to the chunk before
  AlignedVector<float> joined;      // inputs, hidden, one
  AlignedVector<float> transposed;  // of joined, for the whole chunk
  AlignedVector<float> dmean;       // H
};

LstmPass::LstmPass(const LstmShape& shape, int64_t batch, int64_t time, const float* weights, LstmMemory memory)
    : shape_(shape), batch_(batch), time_(time), memory_(memory) {
  const int H = shape.hidden;
  for (int layer = 0; layer < shape.layers; ++layer) {
    const int inputs = shape.inputs(layer);
    const float *w_ih = weights, *w_hh = w_ih + 4 * H * inputs, *b_ih = w_hh + 4 * H * H, *b_hh = b_ih + 4 * H;
    weights += shape.weight_count(layer);
    PackedMatrix forward(4 * H, inputs + H), backward(H + inputs, 4 * H);
    std::vector<float> bias(4 * H);
    for (int row = 0; row < 4 * H; ++row) {
      for (int k = 0; k < inputs; ++k) backward.at(H + k, row) = forward.at(row, k) = w_ih[row * inputs + k];
      for (int k = 0; k < H; ++k) backward.at(k, row) = forward.at(row, inputs + k) = w_hh[row * H + k];
      bias[row] = b_ih[row] + b_hh[row];
    }
    forward_weights_.push_back(std::move(forward));
    if (memory != LstmMemory::kNothing) backward_weights_.push_back(std::move(backward));
    bias_.push_back(std::move(bias));
    gradient_offset_.push_back(gradient_floats_);
    gradient_floats_ += static_cast<size_t>(round_up(4 * H, kPanel)) * columns(layer);
  }
  gradient_floats_ = (gradient_floats_ + 15) / 16 * 16;
  const size_t row = static_cast<size_t>(H) * kTileLanes, chunks = round_up(time, kChunk) / kChunk;
  if (memory != LstmMemory::kNothing) saved_floats_ += chunks * shape.layers * 2 * row;
  if (memory == LstmMemory::kEverything) saved_floats_ += static_cast<size_t>(time) * shape.layers * 5 * row;
}

// x (B, T, C) -> [t][C][lane] for t0 <= t < t0 + steps; lanes beyond the batch are zero.
void LstmPass::gather(const float* x, int64_t tile, int64_t t0, int64_t steps, float* out) const {
  const int C = shape_.channels;
  for (int lane = 0; lane < kTileLanes; ++lane) {
    const int64_t b = tile * kTileLanes + lane;
    const float* from = x + (b * time_ + t0) * C;
    for (int64_t k = 0; k < steps * C; ++k) out[k * kTileLanes + lane] = b < batch_ ? from[k] : 0.0f;
  }
}

// From chunk.start and s.x to the gates of all layers, s.state, s.h; adds the last layer's h to sum unless null.
void LstmPass::forward_chunk(const Chunk& chunk, Scratch& s, float* sum) const {
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
      multiply_lanes(pre, forward_weights_[layer], bias_[layer].data(), input + t * inputs * kTileLanes, inputs, h, H);
      float* gates = const_cast<float*>(chunk.gates_of(layer, t, H));
      for (int k = 0; k < row; k += kVector) {
        const F i = sigmoid(load(pre + k)), f = sigmoid(load(pre + row + k));
        const F g = tanh(load(pre + 2 * row + k)), o = sigmoid(load(pre + 3 * row + k));
        const F cell = f * load(c + k) + i * g;
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

void LstmPass::forward(int64_t tile, const float* x, float* mean, int64_t mean_step, float* saved) const {
  Scratch s(shape_);
  const int H = shape_.hidden;
  const int64_t T = time_;
  const size_t starts = static_cast<size_t>(shape_.layers) * 2 * s.row;
  const size_t chunks = round_up(T, kChunk) / kChunk;
  AlignedVector<float> sum(s.row), start(starts);
  for (size_t n = 0; n < chunks; ++n) {
    Chunk chunk;
    chunk.t0 = static_cast<int64_t>(n) * kChunk;
    chunk.steps = static_cast<int>(std::min<int64_t>(kChunk, T - chunk.t0));
    float* begin = memory_ == LstmMemory::kNothing ? start.data() : saved + n * starts;
    std::copy(s.state.data(), s.state.data() + starts, begin);
    chunk.start = begin;
    if (memory_ == LstmMemory::kEverything) {
      chunk.gates = saved + chunks * starts + static_cast<size_t>(chunk.t0) * 5 * s.row;
      chunk.layer_stride = static_cast<size_t>(T) * 5 * s.row;
    } else {
      chunk.gates = s.local.data();
      chunk.layer_stride = kChunk * 5 * s.row;
    }
    gather(x, tile, chunk.t0, chunk.steps, s.x.data());
    forward_chunk(chunk, s, sum.data());
  }
  for (int lane = 0; lane < kTileLanes; ++lane) {
    const int64_t b = tile * kTileLanes + lane;
    if (b >= batch_) break;
    for (int k = 0; k < H; ++k) mean[b * mean_step + k] = sum[k * kTileLanes + lane] / static_cast<float>(T);
  }
}

// One layer, one chunk, backward in time. s.h holds h of all layers, dh_above [t][H] (stride in floats) the gradient
// from above. Leaves dx of the chunk in s.dhx, the carry in s.carry, and adds the weights' gradient.
void LstmPass::backward_layer(int layer, const Chunk& chunk, Scratch& s, const float* dh_above, size_t dh_stride,
                              float* gradient) const {
  const int H = shape_.hidden, inputs = shape_.inputs(layer);
  const int row = static_cast<int>(s.row);
  const float* start = chunk.start + layer * 2 * s.row;
  const float* h_own = s.h.data() + layer * kChunk * s.row;
  const float* input = layer == 0 ? s.x.data() : s.h.data() + (layer - 1) * kChunk * s.row;
  float* carry = s.carry.data() + layer * 2 * s.row;
  const size_t dhx_stride = static_cast<size_t>(H + inputs) * kTileLanes;
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
      const F i = load(gates + k), f = load(gates + row + k), g = load(gates + 2 * row + k),
              o = load(gates + 3 * row + k);
      const F tanh_c = tanh(load(gates + 4 * row + k));
      const F dh = load(dh_next + k) + load(above + k);
      const F dc = load(dc_carry + k) + dh * o * (1.0f - tanh_c * tanh_c);
      store(dg + k, dc * g * i * (1.0f - i));
      store(dg + row + k, dc * load(c_before + k) * f * (1.0f - f));
      store(dg + 2 * row + k, dc * i * (1.0f - g * g));
      store(dg + 3 * row + k, dh * tanh_c * o * (1.0f - o));
      store(dc_carry + k, dc * f);
    }
    float* out = dhx + t * dhx_stride;
    multiply_lanes(out, weights, nullptr, dg, 4 * H);
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
  add_outer(gradient + gradient_offset_[layer], 4 * H, n, s.dgates.data(), 4 * s.row, chunk.steps, s.transposed.data());
}

void LstmPass::backward(int64_t tile, const float* x, const float* dmean, int64_t dmean_step, const float* saved,
                        float* gradient) const {
  Scratch s(shape_);
  const int H = shape_.hidden, C = shape_.channels;
  const int64_t T = time_, chunks = round_up(T, kChunk) / kChunk;
  const size_t starts = static_cast<size_t>(shape_.layers) * 2 * s.row;
  std::fill(gradient, gradient + gradient_floats_, 0.0f);
  for (int lane = 0; lane < kTileLanes; ++lane) {
    const int64_t b = tile * kTileLanes + lane;
    for (int k = 0; k < H; ++k)
      s.dmean[k * kTileLanes + lane] = b < batch_ ? dmean[b * dmean_step + k] / static_cast<float>(T) : 0.0f;
  }
  for (int64_t n = chunks - 1; n >= 0; --n) {
    Chunk chunk;
    chunk.t0 = n * kChunk;
    chunk.steps = static_cast<int>(std::min<int64_t>(kChunk, T - chunk.t0));
    chunk.start = saved + n * starts;
    gather(x, tile, chunk.t0, chunk.steps, s.x.data());
    if (memory_ == LstmMemory::kEverything) {
      chunk.gates = const_cast<float*>(saved) + chunks * starts + static_cast<size_t>(chunk.t0) * 5 * s.row;
      chunk.layer_stride = static_cast<size_t>(T) * 5 * s.row;
      for (int layer = 0; layer < shape_.layers; ++layer) {
        for (int t = 0; t < chunk.steps; ++t) {
          const float* o = chunk.gates_of(layer, t, H) + 3 * s.row;
          float* h = s.h.data() + (layer * kChunk + t) * s.row;
          for (size_t k = 0; k < s.row; k += kVector) store(h + k, load(o + k) * tanh(load(o + s.row + k)));
        }
      }
    } else {
      chunk.gates = s.local.data();
      chunk.layer_stride = kChunk * 5 * s.row;
      forward_chunk(chunk, s, nullptr);
    }
    const float* above = s.dmean.data();
    size_t stride = 0;
    for (int layer = shape_.layers - 1; layer >= 0; --layer) {
      backward_layer(layer, chunk, s, above, stride, gradient);
      above = s.dhx.data() + layer * kChunk * (s.row + std::max(H, C) * kTileLanes) + s.row;
      stride = s.row + shape_.inputs(layer) * kTileLanes;
    }
  }
}

void LstmPass::add_gradients(const float* tile_gradients, float* gradient) const {
  const int H = shape_.hidden;
  for (int layer = 0; layer < shape_.layers; ++layer) {
    const int inputs = shape_.inputs(layer), n = columns(layer);
    std::vector<float> sum(static_cast<size_t>(4) * H * n, 0.0f);
    for (int64_t tile = 0; tile < tiles(); ++tile) {
      const float* part = tile_gradients + static_cast<size_t>(tile) * gradient_floats_ + gradient_offset_[layer];
      for (size_t k = 0; k < sum.size(); ++k) sum[k] += part[k];
    }
    float *w_ih = gradient, *w_hh = w_ih + 4 * H * inputs, *b_ih = w_hh + 4 * H * H, *b_hh = b_ih + 4 * H;
    gradient += shape_.weight_count(layer);
    for (int r = 0; r < 4 * H; ++r) {
      const float* from = sum.data() + static_cast<size_t>(r) * n;
      for (int k = 0; k < inputs; ++k) w_ih[r * inputs + k] += from[k];
      for (int k = 0; k < H; ++k) w_hh[r * H + k] += from[inputs + k];
      b_ih[r] += from[inputs + H];
      b_hh[r] += from[inputs + H];
    }
  }
}

}  // namespace penn
