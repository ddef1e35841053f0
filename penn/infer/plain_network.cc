#include "penn/infer/plain_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "penn/base/error.h"
#include "penn/base/parallel.h"
#include "penn/kernel/mixture_link.h"

namespace penn {
namespace {

// ln x, the trained range mapped to [-1, 1].
double scaled_log(double x, double low, double high) { return 2 * std::log(x / low) / std::log(high / low) - 1; }

DenseLayer read_layer(const SafetensorsFile& file, const std::string& name, size_t inputs, size_t outputs) {
  const std::vector<float> weight = read_network_tensor(file, name + ".weight", {outputs, inputs});
  DenseLayer layer{PackedMatrix(static_cast<int>(outputs), static_cast<int>(inputs)), read_network_tensor(file, name + ".bias", {outputs})};
  for (size_t r = 0; r < outputs; ++r)
    for (size_t c = 0; c < inputs; ++c) layer.matrix.at(static_cast<int>(r), static_cast<int>(c)) = weight[r * inputs + c];
  return layer;
}

void apply(const DenseLayer& layer, const float* in, float* out) {
  multiply<Start::kBias>(out, layer.matrix, layer.bias.data(), in, layer.matrix.columns());
}

void elu(float* x, int64_t rows) {
  for (int64_t i = 0; i < rows * kTileLanes; i += kVector) {
    const Vec v = load(x + i);
    store(x + i, v > 0.0f ? v : expm1(v));
  }
}

}  // namespace

PlainNetwork::PlainNetwork(const ModelFile& model) : options_(model.info.network) {
  for (const std::string& name : options_.encoders) {
    encoders_.push_back(make_plain_encoder(model, name));
    embedding_size_ += encoders_.back()->size();
  }
  embedding_size_ += options_.varying_length() + options_.varying_sampling();
  const size_t width = static_cast<size_t>(options_.decoder_width);
  if (options_.decoder_stem) stem_ = read_layer(model.file, "decoder.stem", static_cast<size_t>(embedding_size_), width);
  for (int k = 0; k < options_.decoder_blocks; ++k) {
    Block block;
    block.has_skip = k == 0 && !options_.decoder_stem;
    const size_t inputs = block.has_skip ? static_cast<size_t>(embedding_size_) : width;
    const std::string name = fmt::format("decoder.block{}.", k + 1);
    for (int i = 0; i < 3; ++i) block.layers[i] = read_layer(model.file, fmt::format("{}l{}", name, i + 1), i == 0 ? inputs : width, width);
    if (block.has_skip) block.skip = read_layer(model.file, name + "skip", inputs, width);
    blocks_.push_back(std::move(block));
  }
  last_ = read_layer(model.file, "decoder.last", width, static_cast<size_t>(options_.mixture.size()));
}

void PlainNetwork::embed(const float* z, int64_t B, int64_t n, const float* sampling, float* embedding, int threads) const {
  int64_t at = 0;
  const auto put = [&](int64_t columns, const float* from) {
    for (int64_t b = 0; b < B; ++b) std::copy_n(from + b * columns, columns, embedding + b * embedding_size_ + at);
    at += columns;
  };
  std::vector<float> part;
  for (const auto& encoder : encoders_) {
    part.resize(static_cast<size_t>(B * encoder->size()));
    encoder->encode(z, B, n, part.data(), threads);
    put(encoder->size(), part.data());
  }
  if (options_.varying_length()) {
    part.assign(static_cast<size_t>(B), static_cast<float>(scaled_log(static_cast<double>(n), options_.length_low, options_.length_high)));
    put(1, part.data());
  }
  if (options_.varying_sampling()) {
    part.resize(static_cast<size_t>(B));
    for (int64_t b = 0; b < B; ++b) part[static_cast<size_t>(b)] = static_cast<float>(scaled_log(sampling[b], options_.sampling_low, options_.sampling_high));
    put(1, part.data());
  }
}

void PlainNetwork::decode_tile(const float* embedding, int64_t count, float* y) const {
  const int64_t E = embedding_size_, K = output_size(), width = options_.decoder_width;
  const size_t rows = static_cast<size_t>(std::max(E, width) * kTileLanes);
  AlignedBuffer u(rows), a(static_cast<size_t>(width * kTileLanes)), b(static_cast<size_t>(width * kTileLanes)), out(static_cast<size_t>(K * kTileLanes));
  for (int64_t lane = 0; lane < count; ++lane)
    for (int64_t e = 0; e < E; ++e) u.data()[e * kTileLanes + lane] = embedding[lane * E + e];
  if (options_.decoder_stem) {
    apply(stem_, u.data(), a.data());
    std::copy_n(a.data(), width * kTileLanes, u.data());
  }
  for (const Block& block : blocks_) {
    apply(block.layers[0], u.data(), a.data());
    elu(a.data(), width);
    apply(block.layers[1], a.data(), b.data());
    elu(b.data(), width);
    apply(block.layers[2], b.data(), a.data());
    elu(a.data(), width);
    if (block.has_skip) {
      apply(block.skip, u.data(), b.data());
      std::copy_n(b.data(), width * kTileLanes, u.data());
    }
    for (int64_t i = 0; i < width * kTileLanes; i += kVector) store(u.data() + i, load(u.data() + i) + load(a.data() + i));
  }
  apply(last_, u.data(), out.data());
  for (int64_t lane = 0; lane < count; ++lane)
    for (int64_t k = 0; k < K; ++k) y[lane * K + k] = out.data()[k * kTileLanes + lane];
  apply_link(options_.link, options_.mixture, count, y);
}

void PlainNetwork::decode(const float* embedding, int64_t B, float* y, int threads) const {
  parallel_for((B + kTileLanes - 1) / kTileLanes, threads, [&](int64_t tile, int) {
    const int64_t first = tile * kTileLanes;
    decode_tile(embedding + first * embedding_size_, std::min<int64_t>(kTileLanes, B - first), y + first * output_size());
  });
}

}  // namespace penn
