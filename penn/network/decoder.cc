#include "penn/network/decoder.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "penn/network/activation.h"
#include "penn/network/lane_tile.h"
#include "penn/network/matrix.h"

namespace penn {
namespace {

Dense add_dense(WeightList& list, const std::string& name, int64_t inputs, int64_t outputs) {
  const double spread = 1 / std::sqrt(static_cast<double>(inputs));
  Dense layer{.inputs = inputs, .outputs = outputs};
  layer.weight = list.add(name + ".weight", {static_cast<size_t>(outputs), static_cast<size_t>(inputs)}, spread);
  layer.bias = list.add(name + ".bias", {static_cast<size_t>(outputs)}, spread);
  return layer;
}

// x (rows, inputs) -> y (rows, outputs)
void dense_forward(const Dense& layer, const float* weights, const float* x, int64_t rows, float* y) {
  const float* bias = weights + layer.bias;
  for (int64_t r = 0; r < rows; ++r) std::copy_n(bias, layer.outputs, y + r * layer.outputs);
  multiply(y, layer.outputs, rows_of(x, layer.inputs), transposed(weights + layer.weight, layer.inputs), rows,
           layer.outputs, layer.inputs, true);
}

// dy (rows, outputs) -> dx (rows, inputs), added where asked for
void dense_backward(const Dense& layer, const float* weights, const float* dy, int64_t rows, float* dx, bool add) {
  multiply(dx, layer.inputs, rows_of(dy, layer.outputs), rows_of(weights + layer.weight, layer.inputs), rows,
           layer.inputs, layer.outputs, add);
}

// Calls f(begin, whole) for vectors of x, the last one through a buffer: every element is computed in a whole vector.
template <class Function>
void for_vectors(int64_t count, Function f) {
  int64_t i = 0;
  for (; i + kVector <= count; i += kVector) f(i, kVector);
  if (i < count) f(i, static_cast<int>(count - i));
}
lanes::F load_part(const float* p, int count) {
  if (count == kVector) return lanes::load(p);
  float part[kVector] = {};
  std::copy_n(p, count, part);
  return lanes::load(part);
}
void store_part(float* p, lanes::F x, int count) {
  if (count == kVector) return lanes::store(p, x);
  float part[kVector];
  lanes::store(part, x);
  std::copy_n(part, count, p);
}

void elu_forward(float* x, int64_t count) {
  for_vectors(count, [&](int64_t i, int n) { store_part(x + i, elu(load_part(x + i, n)), n); });
}
// delta = dh * slope, the slope computed from the output h
void elu_backward(const float* h, const float* dh, float* delta, int64_t count) {
  for_vectors(count, [&](int64_t i, int n) {
    const lanes::F out = load_part(h + i, n), d = load_part(dh + i, n);
    store_part(delta + i, out > 0.0f ? d : d * (out + 1.0f), n);
  });
}

}  // namespace

Decoder::Decoder(WeightList& weights, int64_t inputs, int64_t width, int64_t blocks, int64_t outputs,
                 bool has_projection)
    : inputs_(inputs), width_(width), outputs_(outputs), has_projection_(has_projection) {
  if (has_projection) projection_ = add_dense(weights, "decoder.input_projection", inputs, width);
  for (int64_t k = 0; k < blocks; ++k) {
    const bool is_first = k == 0 && !has_projection;
    const std::string name = fmt::format("decoder.block{}.", k + 1);
    Block block;
    for (int i = 0; i < 3; ++i)
      block.layers[i] =
          add_dense(weights, fmt::format("{}l{}", name, i + 1), i == 0 && is_first ? inputs : width, width);
    if (is_first) block.skip = add_dense(weights, name + "skip", inputs, width);
    blocks_.push_back(block);
  }
  last_ = add_dense(weights, "decoder.last", width, outputs);
}

Decoder::State Decoder::make_state(int64_t rows, bool with_backward) const {
  const size_t size = static_cast<size_t>(rows * width_);
  State state;
  if (has_projection_) state.projected.resize(size);
  if (has_projection_ && with_backward) state.dprojected.resize(size);
  state.blocks.resize(blocks_.size());
  for (State::Block& block : state.blocks) {
    for (auto* buffer : {&block.h[0], &block.h[1], &block.h[2], &block.out}) buffer->resize(size);
    if (!with_backward) continue;
    for (auto* buffer : {&block.delta[0], &block.delta[1], &block.delta[2], &block.dout}) buffer->resize(size);
  }
  return state;
}

void Decoder::forward(const float* weights, const float* embedding, int64_t first, int64_t last, State& state,
                      float* raw) const {
  const int64_t rows = last - first, at = first * width_, size = rows * width_;
  const float* u = embedding + first * inputs_;
  if (has_projection_) {
    dense_forward(projection_, weights, u, rows, state.projected.data() + at);
    u = state.projected.data() + at;
  }
  for (size_t k = 0; k < blocks_.size(); ++k) {
    const Block& block = blocks_[k];
    State::Block& s = state.blocks[k];
    const float* v = u;
    for (int i = 0; i < 3; ++i) {
      float* h = s.h[i].data() + at;
      dense_forward(block.layers[i], weights, v, rows, h);
      elu_forward(h, size);
      v = h;
    }
    float* out = s.out.data() + at;
    if (block.skip.inputs > 0) dense_forward(block.skip, weights, u, rows, out);
    else std::copy_n(u, size, out);
    for (int64_t i = 0; i < size; ++i) out[i] += v[i];
    u = out;
  }
  dense_forward(last_, weights, u, rows, raw + first * outputs_);
}

void Decoder::backward(const float* weights, const float* draw, int64_t first, int64_t last, State& state,
                       float* dembedding) const {
  const int64_t rows = last - first, at = first * width_, size = rows * width_;
  dense_backward(last_, weights, draw + first * outputs_, rows, state.blocks.back().dout.data() + at, false);
  for (size_t k = blocks_.size(); k-- > 0;) {
    const Block& block = blocks_[k];
    State::Block& s = state.blocks[k];
    const float* dout = s.dout.data() + at;
    elu_backward(s.h[2].data() + at, dout, s.delta[2].data() + at, size);
    for (int i = 2; i > 0; --i) {
      float* delta = s.delta[i - 1].data() + at;
      dense_backward(block.layers[i], weights, s.delta[i].data() + at, rows, delta, false);
      elu_backward(s.h[i - 1].data() + at, delta, delta, size);
    }
    float* du = k > 0             ? state.blocks[k - 1].dout.data() + at
                : has_projection_ ? state.dprojected.data() + at
                : dembedding      ? dembedding + first * inputs_
                                  : nullptr;
    if (!du) continue;
    if (block.skip.inputs > 0) dense_backward(block.skip, weights, dout, rows, du, false);
    else std::copy_n(dout, size, du);
    dense_backward(block.layers[0], weights, s.delta[0].data() + at, rows, du, true);
  }
  if (has_projection_ && dembedding)
    dense_backward(projection_, weights, state.dprojected.data() + at, rows, dembedding + first * inputs_, false);
}

std::vector<Decoder::GradientTerm> Decoder::gradient_terms(const State& state, const float* embedding,
                                                           const float* draw) const {
  std::vector<GradientTerm> terms;
  const float* u = embedding;
  if (has_projection_) {
    terms.push_back({&projection_, state.dprojected.data(), u});
    u = state.projected.data();
  }
  for (size_t k = 0; k < blocks_.size(); ++k) {
    const State::Block& s = state.blocks[k];
    terms.push_back({&blocks_[k].layers[0], s.delta[0].data(), u});
    terms.push_back({&blocks_[k].layers[1], s.delta[1].data(), s.h[0].data()});
    terms.push_back({&blocks_[k].layers[2], s.delta[2].data(), s.h[1].data()});
    if (blocks_[k].skip.inputs > 0) terms.push_back({&blocks_[k].skip, s.dout.data(), u});
    u = s.out.data();
  }
  terms.push_back({&last_, draw, u});
  return terms;
}

void dense_gradient(const Decoder::GradientTerm& term, int64_t B, int64_t shard, int64_t first, int64_t last,
                    float* gradient) {
  const int64_t inputs = term.layer->inputs, outputs = term.layer->outputs;
  multiply(gradient + term.layer->weight + static_cast<size_t>(first), inputs, transposed(term.delta, outputs),
           rows_of(term.input + first, inputs), outputs, last - first, B, false, shard);
  if (first > 0) return;
  float* bias = gradient + term.layer->bias;
  std::fill(bias, bias + outputs, 0.0f);
  std::vector<float> sum(static_cast<size_t>(outputs));
  for (int64_t begin = 0; begin < B; begin += shard) {
    std::fill(sum.begin(), sum.end(), 0.0f);
    for (int64_t b = begin; b < std::min(B, begin + shard); ++b)
      for (int64_t r = 0; r < outputs; ++r) sum[static_cast<size_t>(r)] += term.delta[b * outputs + r];
    for (int64_t r = 0; r < outputs; ++r) bias[r] += sum[static_cast<size_t>(r)];
  }
}

}  // namespace penn
