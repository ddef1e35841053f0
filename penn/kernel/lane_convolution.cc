#include "penn/kernel/lane_convolution.h"

#include <algorithm>

#include "penn/kernel/aligned_buffer.h"

namespace penn {
namespace {

constexpr int kChunk = 16;  // output steps whose gradient sums are formed together

Vec elu(Vec x) {
  return x > 0.0f ? x : expm1(x);
}

// The derivative of ELU from its value y: 1 above 0, e^x = y + 1 below.
Vec elu_slope(Vec y) {
  return y > 0.0f ? broadcast(1.0f) : y + 1.0f;
}

}  // namespace

int ConvolutionShape::steps(int layer) const {
  int n = time;
  for (int l = 0; l < layer; ++l) n = (n + stride - 1) / stride;
  return n;
}

int ConvolutionShape::outputs() const {
  int sum = 0;
  for (int l = 1; l <= layers(); ++l) sum += channels[l];
  return sum;
}

double convolution_flops_forward(const ConvolutionShape& s) {
  double sum = 0;
  for (int l = 1; l <= s.layers(); ++l) sum += 2.0 * s.steps(l) * s.channels[l] * s.kernel * s.channels[l - 1];
  return sum * s.batch;
}

// Zeros before the first and after the last step, as many as a window can reach, and a vector of rows more, because the
// transposition of a window reads whole vectors.
std::size_t LaneConvolution::activation_floats(int layer) const {
  const std::size_t steps = shape_.steps(layer) + 2 * padding() + shape_.stride;
  return (steps * shape_.channels[layer] + kVector) * kTileLanes;
}

LaneConvolution::LaneConvolution(const ConvolutionShape& shape, const std::vector<ConvolutionWeights>& weights)
    : shape_(shape) {
  for (int layer = 0; layer <= shape.layers(); ++layer) {
    saved_offset_.push_back(saved_floats_);
    saved_floats_ += activation_floats(layer);
  }
  for (int layer = 1; layer <= shape.layers(); ++layer) {
    const int in = shape.channels[layer - 1], out = shape.channels[layer], kernel = shape.kernel;
    const ConvolutionWeights& w = weights[layer - 1];
    PackedMatrix forward(out, kernel * in), backward(kernel * in, out);
    for (int o = 0; o < out; ++o)
      for (int c = 0; c < in; ++c)
        for (int k = 0; k < kernel; ++k)
          forward.at(o, k * in + c) = backward.at(k * in + c, o) = w.weight[(o * in + c) * kernel + k];
    forward_weights_.push_back(std::move(forward));
    backward_weights_.push_back(std::move(backward));
    bias_.emplace_back(w.bias, w.bias + out);
    // Gradient of the weights (out, window rounded up), then one vector per channel for the bias.
    gradient_offset_.push_back(gradient_floats_);
    gradient_floats_ += static_cast<std::size_t>(out) * (round_up(window(layer), kVector) + kVector);
  }
  gradient_floats_ = (gradient_floats_ + 15) / 16 * 16;
}

void LaneConvolution::forward(int tile, const float* x, float* mean, float* saved) const {
  const int outputs = shape_.outputs();
  std::fill(saved, saved + activation_floats(0), 0.0f);
  float* input = saved + start(0);
  const int values = shape_.time * shape_.channels[0];
  for (int lane = 0; lane < kTileLanes; ++lane) {
    const int b = tile * kTileLanes + lane;
    if (b >= shape_.batch) break;
    const float* from = x + static_cast<std::size_t>(b) * values;
    for (int k = 0; k < values; ++k) input[k * kTileLanes + lane] = from[k];
  }
  int column = 0;
  AlignedBuffer sum(static_cast<std::size_t>(*std::max_element(shape_.channels.begin(), shape_.channels.end())) *
                    kTileLanes);
  for (int layer = 1; layer <= shape_.layers(); ++layer) {
    const int channels = shape_.channels[layer], row = channels * kTileLanes;
    const int steps = shape_.steps(layer), hop = shape_.stride * shape_.channels[layer - 1] * kTileLanes;
    const float* below = saved + saved_offset_[layer - 1];  // with its padding: the window of step t starts at t * hop
    float* whole = saved + saved_offset_[layer];
    float* out = whole + start(layer);
    std::fill(whole, out, 0.0f);
    std::fill(out + static_cast<std::size_t>(steps) * row, whole + activation_floats(layer), 0.0f);
    sum.zero();
    for (int t = 0; t < steps; ++t, out += row) {
      multiply<Start::kBias>(out, forward_weights_[layer - 1], bias_[layer - 1].data(),
                             below + static_cast<std::size_t>(t) * hop, window(layer));
      for (int k = 0; k < row; k += kVector) {
        const Vec y = elu(load(out + k));
        store(out + k, y);
        store(sum.data() + k, load(sum.data() + k) + y);
      }
    }
    for (int lane = 0; lane < kTileLanes && tile * kTileLanes + lane < shape_.batch; ++lane) {
      float* to = mean + static_cast<std::size_t>(tile * kTileLanes + lane) * outputs + column;
      for (int k = 0; k < channels; ++k) to[k] = sum.data()[k * kTileLanes + lane] / steps;
    }
    column += channels;
  }
}

void LaneConvolution::backward(int tile, const float* dmean, const float* saved, float* gradient) const {
  const int outputs = shape_.outputs();
  std::fill(gradient, gradient + gradient_floats_, 0.0f);
  AlignedBuffer above, below, mean_part, transposed;  // above: gradient of a_layer, later of what ELU was applied to
  int column = outputs;
  for (int layer = shape_.layers(); layer >= 1; --layer) {
    const int channels = shape_.channels[layer], row = channels * kTileLanes, in = shape_.channels[layer - 1];
    const int steps = shape_.steps(layer), hop = shape_.stride * in * kTileLanes;
    column -= channels;
    if (layer == shape_.layers()) {
      above.resize(activation_floats(layer));
      above.zero();
    }
    mean_part.resize(row);
    for (int lane = 0; lane < kTileLanes; ++lane) {
      const int b = tile * kTileLanes + lane;
      for (int k = 0; k < channels; ++k)
        mean_part.data()[k * kTileLanes + lane] =
            b < shape_.batch ? dmean[static_cast<std::size_t>(b) * outputs + column + k] / steps : 0.0f;
    }
    const int columns = round_up(window(layer), kVector);
    float* weight_gradient = gradient + gradient_offset_[layer - 1];
    float* bias_gradient = weight_gradient + static_cast<std::size_t>(channels) * columns;
    const float* input = saved + saved_offset_[layer - 1];
    const float* y = saved + saved_offset_[layer] + start(layer);
    float* d = above.data() + start(layer);
    if (layer > 1) {
      below.resize(activation_floats(layer - 1));
      below.zero();
    }
    transposed.resize(transposed_size(columns, kChunk));
    for (int t0 = 0; t0 < steps; t0 += kChunk) {
      const int count = std::min(kChunk, steps - t0);
      for (int t = t0; t < t0 + count; ++t) {
        float* dt = d + static_cast<std::size_t>(t) * row;
        const float* yt = y + static_cast<std::size_t>(t) * row;
        for (int k = 0; k < channels; ++k) {
          Vec part{};
          for (int half = 0; half < kTileLanes; half += kVector) {
            const int i = k * kTileLanes + half;
            const Vec dx = (load(dt + i) + load(mean_part.data() + i)) * elu_slope(load(yt + i));
            store(dt + i, dx);
            part += dx;
          }
          store_loose(bias_gradient + k * kVector, load_loose(bias_gradient + k * kVector) + part);
        }
        transpose_into(transposed.data(), columns, count, t - t0, input + static_cast<std::size_t>(t) * hop);
        if (layer > 1)
          multiply<Start::kAdd>(below.data() + static_cast<std::size_t>(t) * hop, backward_weights_[layer - 1], nullptr,
                                dt, channels);
      }
      accumulate_outer(weight_gradient, columns, channels, columns, d + static_cast<std::size_t>(t0) * row, row, count,
                       transposed.data());
    }
    std::swap(above, below);
  }
}

void LaneConvolution::sum_gradients(const float* gradient, const std::vector<ConvolutionGradients>& out) const {
  std::vector<float> sum(gradient_floats_, 0.0f);
  for (int tile = 0; tile < tiles(); ++tile)
    for (std::size_t k = 0; k < gradient_floats_; ++k) sum[k] += gradient[tile * gradient_floats_ + k];
  for (int layer = 1; layer <= shape_.layers(); ++layer) {
    const int in = shape_.channels[layer - 1], channels = shape_.channels[layer], kernel = shape_.kernel;
    const int columns = round_up(window(layer), kVector);
    const float* weight = sum.data() + gradient_offset_[layer - 1];
    const float* bias = weight + static_cast<std::size_t>(channels) * columns;
    for (int o = 0; o < channels; ++o) {
      for (int c = 0; c < in; ++c)
        for (int k = 0; k < kernel; ++k)
          out[layer - 1].weight[(o * in + c) * kernel + k] = weight[static_cast<std::size_t>(o) * columns + k * in + c];
      out[layer - 1].bias[o] = 0.0f;
      for (int i = 0; i < kVector; ++i) out[layer - 1].bias[o] += bias[o * kVector + i];
    }
  }
}

}  // namespace penn
