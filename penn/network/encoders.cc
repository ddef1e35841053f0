#include "penn/network/encoders.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "penn/base/parallel.h"
#include "penn/features/measure_scaling.h"
#include "penn/network/activation.h"

namespace penn {
namespace {

constexpr float kStandardClip = 8;

float median(std::vector<float>& x) {  // reorders x
  const auto middle = x.begin() + static_cast<std::ptrdiff_t>((x.size() - 1) / 2);
  std::nth_element(x.begin(), middle, x.end());
  return *middle;
}

// Centre and unit of many numbers: the median, and the median distance from it in units that are the SD of a Gaussian,
// so that a few wild ones do not set the scale (alpha-stable data have no SD). The mean distance where more than half
// share one value; 1 if there is nothing to measure.
void measure_scale(std::vector<float> x, float& centre, float& unit) {
  centre = median(x);
  double sum = 0;
  for (float& v : x) sum += v = std::fabs(v - centre);
  unit = 1.4826f * median(x);
  if (!(unit > 0)) unit = static_cast<float>(sum / static_cast<double>(x.size()));
  if (!(unit > 0 && std::isfinite(unit))) unit = 1;
}

}  // namespace

StatisticsEncoder::StatisticsEncoder(int inputs)
    : summary_(summary_options(kSummaryVersion, inputs), {std::vector<ChannelScale>(static_cast<size_t>(inputs))}),
      centre_(static_cast<size_t>(summary_.size()), 0.0f),
      unit_(centre_.size(), 1.0f) {}

void StatisticsEncoder::fit_input_scaling(const float* z, int64_t B, int64_t n, int threads) {
  summary_ = Summary(summary_.options(), measure_scaling(z, B, n, summary_.channels()));
  const int64_t F = size();
  std::vector<float> features(static_cast<size_t>(B * F));
  summary_.compute(z, B, n, features.data(), threads);
  for (int64_t f = 0; f < F; ++f) {
    std::vector<float> x(static_cast<size_t>(B));
    for (int64_t b = 0; b < B; ++b) x[static_cast<size_t>(b)] = features[static_cast<size_t>(b * F + f)];
    measure_scale(std::move(x), centre_[static_cast<size_t>(f)], unit_[static_cast<size_t>(f)]);
  }
}

void StatisticsEncoder::encode(const float* z, int64_t B, int64_t n, float* out, int64_t out_step, int threads) const {
  const int64_t F = size();
  thread_local std::vector<float> features;  // the same size in every step
  features.resize(static_cast<size_t>(B * F));
  summary_.compute(z, B, n, features.data(), threads);
  const float* all = features.data();
  parallel_for(B, threads, [&](int64_t b, int) {
    const float *x = all + b * F, *centre = centre_.data(), *unit = unit_.data();
    float* to = out + b * out_step;
    for (int64_t f = 0; f < F; ++f) to[f] = std::clamp((x[f] - centre[f]) / unit[f], -kStandardClip, kStandardClip);
  });
}

std::vector<double> StatisticsEncoder::scaling() const {
  std::vector<double> values;
  for (const ChannelScale& s : summary_.scaling().channels)
    values.insert(values.end(), {s.location, s.value, s.velocity, s.second, s.third});
  return values;
}

void StatisticsEncoder::set(const std::vector<double>& v, std::vector<float> centre, std::vector<float> unit) {
  SummaryScaling scaling;
  for (size_t c = 0; c < v.size(); c += 5) scaling.channels.push_back({v[c], v[c + 1], v[c + 2], v[c + 3], v[c + 4]});
  summary_ = Summary(summary_.options(), scaling);
  centre_ = std::move(centre);
  unit_ = std::move(unit);
}

LstmEncoder::LstmEncoder(WeightList& weights, const NetworkOptions& options)
    : shape_{options.inputs, options.lstm_hidden, options.lstm_layers},
      centre_(static_cast<size_t>(options.inputs), 0.0f),
      unit_(centre_.size(), 1.0f) {
  const size_t H = static_cast<size_t>(shape_.hidden);
  const double spread = 1 / std::sqrt(static_cast<double>(H));
  offset_ = weights.size();
  for (int layer = 0; layer < shape_.layers; ++layer) {
    const auto add = [&](const char* what, Shape shape) {
      weights.add(fmt::format("encoder_lstm.lstm.{}_l{}", what, layer), std::move(shape), spread);
    };
    add("weight_ih", {4 * H, static_cast<size_t>(shape_.inputs(layer))});
    add("weight_hh", {4 * H, H});
    add("bias_ih", {4 * H});
    add("bias_hh", {4 * H});
  }
}

void LstmEncoder::fit_input_scaling(const float* z, int64_t B, int64_t n) {
  const size_t d = centre_.size();
  for (size_t c = 0; c < d; ++c) {
    std::vector<float> x(static_cast<size_t>(B * n));
    for (size_t i = 0; i < x.size(); ++i) x[i] = z[i * d + c];
    measure_scale(std::move(x), centre_[c], unit_[c]);
  }
}

void LstmEncoder::set(std::vector<float> centre, std::vector<float> unit) {
  centre_ = std::move(centre);
  unit_ = std::move(unit);
}

void LstmEncoder::scale(const float* z, int64_t count, std::vector<float>& x, int threads) const {
  const int64_t d = static_cast<int64_t>(centre_.size()), size = count * d;
  constexpr int64_t kChunk = 4096;
  x.resize(static_cast<size_t>(round_up(size, kVector)));  // whole vectors
  parallel_for((size + kChunk - 1) / kChunk, threads, [&](int64_t chunk, int) {
    const int64_t first = chunk * kChunk, last = std::min(size, first + kChunk);
    for (int64_t i = first; i < last; ++i) {
      const size_t c = static_cast<size_t>(i % d);
      x[static_cast<size_t>(i)] = (z[i] - centre_[c]) / unit_[c];
    }
    for (int64_t i = first; i < last; i += kVector) lanes::store(x.data() + i, asinh(lanes::load(x.data() + i)));
  });
}

void LstmEncoder::encode(const float* weights, const float* z, int64_t B, int64_t n, float* out, int64_t out_step,
                         int threads) const {
  std::vector<float> x;
  scale(z, B * n, x, threads);
  const LstmPass pass(shape_, B, n, weights + offset_, LstmMemory::kNothing);
  parallel_for(pass.tiles(), threads, [&](int64_t tile, int) { pass.forward(tile, x.data(), out, out_step, nullptr); });
}

void LstmEncoder::forward(const float* weights, const float* z, int64_t B, int64_t n, float* out, int64_t out_step,
                          State& state, int threads, size_t memory) const {
  scale(z, B * n, state.x, threads);
  state.pass.clear();
  state.pass.emplace_back(shape_, B, n, weights + offset_, LstmMemory::kEverything);
  if (static_cast<size_t>(state.pass[0].tiles()) * state.pass[0].saved_floats_per_tile() * sizeof(float) > memory) {
    state.pass.clear();
    state.pass.emplace_back(shape_, B, n, weights + offset_, LstmMemory::kRecompute);
  }
  const LstmPass& pass = state.pass[0];
  state.saved.resize(static_cast<size_t>(pass.tiles()) * pass.saved_floats_per_tile());
  parallel_for(pass.tiles(), threads, [&](int64_t tile, int) {
    pass.forward(tile, state.x.data(), out, out_step,
                 state.saved.data() + static_cast<size_t>(tile) * pass.saved_floats_per_tile());
  });
}

void LstmEncoder::backward(const float* dout, int64_t dout_step, State& state, float* gradient, int threads) const {
  const LstmPass& pass = state.pass[0];
  state.tile_gradients.resize(static_cast<size_t>(pass.tiles()) * pass.gradient_floats_per_tile());
  parallel_for(pass.tiles(), threads, [&](int64_t tile, int) {
    const size_t t = static_cast<size_t>(tile);
    pass.backward(tile, state.x.data(), dout, dout_step, state.saved.data() + t * pass.saved_floats_per_tile(),
                  state.tile_gradients.data() + t * pass.gradient_floats_per_tile());
  });
  pass.add_gradients(state.tile_gradients.data(), gradient + offset_);
}

}  // namespace penn
