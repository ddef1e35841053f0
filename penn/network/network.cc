#include "penn/network/network.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "penn/base/error.h"
#include "penn/base/parallel.h"
#include "penn/base/random.h"

namespace penn {
namespace {

// ln x, the trained range mapped to [-1, 1].
float scaled_log(double x, double low, double high) {
  return static_cast<float>(2 * std::log(x / low) / std::log(high / low) - 1);
}

const NetworkOptions& checked(const NetworkOptions& options) {
  options.check();
  return options;
}

size_t limited(size_t weights, size_t most) {
  if (weights > most)
    throw ModelError(fmt::format("a network of {} weights, {} at the most are possible", weights, most));
  return weights;
}

double standard_normal(const RandomKey& key, uint32_t stream, uint32_t index) {
  return std::sqrt(-2 * std::log(key.uniform(stream, 2 * index))) *
         std::cos(2 * std::numbers::pi * key.uniform(stream, 2 * index + 1));
}

}  // namespace

Network::Network(const NetworkOptions& options, size_t most)
    : options_(checked(options)),
      statistics_(options.has_encoder("statistics") ? std::optional<StatisticsEncoder>(options.inputs) : std::nullopt),
      lstm_(options.has_encoder("lstm") ? std::optional<LstmEncoder>(std::in_place, list_, options) : std::nullopt),
      embedding_size_(encoded_size() + options.varying_length() + options.varying_sampling()),
      decoder_(list_, embedding_size_, options.decoder_width, options.decoder_blocks, options.mixture.size(),
               options.has_input_projection),
      weights_(limited(list_.size(), most)) {}

void Network::set_random_weights(uint64_t seed) {
  for (size_t b = 0; b < list_.blocks().size(); ++b) {
    const WeightBlock& block = list_.blocks()[b];
    const RandomKey key{seed, b};
    for (size_t i = 0; i < block.size(); ++i)
      weights_[block.offset + i] =
          static_cast<float>(block.spread * (2 * key.uniform(0, static_cast<uint32_t>(i)) - 1));
  }
  if (options_.mixture.parameterisation != "direct") {
    // Components that start in one place split along a few parameters only. These start apart in every one, by about a
    // width in all: with one width in every of 11 parameters, nine components of ten were too far away to be of use
    // ever. The first component's means stay: the others are relative to them.
    const int64_t M = options_.mixture.parameters, N = options_.mixture.components;
    float* bias = weights_.data() + list_.blocks().back().offset;
    const RandomKey key{seed, list_.blocks().size()};
    for (int64_t i = N + M; i < N * (1 + M); ++i)
      bias[i] =
          static_cast<float>(standard_normal(key, 0, static_cast<uint32_t>(i)) / std::sqrt(static_cast<double>(M)));
  }
}

void Network::fit_input_scaling(const float* z, int64_t B, int64_t n, int threads) {
  if (statistics_) statistics_->fit_input_scaling(z, B, n, threads);
  if (lstm_) lstm_->fit_input_scaling(z, B, n);
}

void Network::embed_constants(int64_t B, int64_t n, const float* sampling, float* embedding) const {
  for (int64_t b = 0; b < B; ++b) {
    float* to = embedding + b * embedding_size_ + encoded_size();
    if (options_.varying_length())
      *to++ = scaled_log(static_cast<double>(n), options_.length_low, options_.length_high);
    if (options_.varying_sampling()) *to = scaled_log(sampling[b], options_.sampling_low, options_.sampling_high);
  }
}

void Network::embed(const float* z, int64_t B, int64_t n, const float* sampling, float* embedding, int threads) const {
  embed_constants(B, n, sampling, embedding);
  if (statistics_) statistics_->encode(z, B, n, embedding + statistics_column(), embedding_size_, threads);
  if (lstm_) lstm_->encode(weights_.data(), z, B, n, embedding + lstm_column(), embedding_size_, threads);
}

void Network::embed(const float* z, int64_t B, int64_t n, const float* sampling, float* embedding,
                    LstmEncoder::State& state, int threads, const float* features) const {
  embed_constants(B, n, sampling, embedding);
  const int64_t F = statistics_ ? statistics_->size() : 0;
  if (features)
    for (int64_t b = 0; b < B; ++b)
      std::copy_n(features + b * F, F, embedding + b * embedding_size_ + statistics_column());
  else if (statistics_) statistics_->encode(z, B, n, embedding + statistics_column(), embedding_size_, threads);
  if (lstm_) lstm_->forward(weights_.data(), z, B, n, embedding + lstm_column(), embedding_size_, state, threads);
}

void Network::embed_backward(const float* dembedding, LstmEncoder::State& state, float* gradient, int threads) const {
  if (lstm_) lstm_->backward(dembedding + lstm_column(), embedding_size_, state, gradient, threads);
}

void Network::decode(const float* embedding, int64_t B, float* raw, int threads) const {
  if (B == 0) return;
  const int64_t rows = std::min<int64_t>(kRowTile, (B + threads - 1) / threads);
  parallel_for((B + rows - 1) / rows, threads, [&](int64_t tile, int) {
    const int64_t first = tile * rows, count = std::min(rows, B - first);
    Decoder::State state = decoder_.make_state(count, false);
    decoder_.forward(weights_.data(), embedding + first * embedding_size_, 0, count, state,
                     raw + first * output_size());
  });
}

}  // namespace penn
