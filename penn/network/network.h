// The whole network: encoders side by side, ln n and ln of the sampling interval where they vary, decoder, raw output
// (mixture_output.h). A value: one flat array of weights and the constants of its input scaling. Training, validation
// and inference run the same code.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "penn/network/decoder.h"
#include "penn/network/encoders.h"
#include "penn/network/network_options.h"

namespace penn {

inline constexpr int64_t kRowTile = 96;  // trajectories that go through the decoder together

class Network {
 public:
  // Weights are zero. ModelError where the options make no sense or ask for more weights than `most`: a damaged file
  // must not ask for terabytes.
  explicit Network(const NetworkOptions& options, size_t most = size_t{1} << 32);
  void set_random_weights(uint64_t seed);

  const NetworkOptions& options() const { return options_; }
  int64_t embedding_size() const { return embedding_size_; }       // E
  int64_t output_size() const { return options_.mixture.size(); }  // K
  std::span<float> weights() { return weights_; }
  std::span<const float> weights() const { return weights_; }
  const std::vector<WeightBlock>& blocks() const { return list_.blocks(); }

  // Measures the encoders' input scaling on some hundred trajectories (B, n, d); once, before training.
  void fit_input_scaling(const float* z, int64_t B, int64_t n, int threads);

  // z (B, n, d) in the units of the observation, sampling (B): time between samples -> embedding (B, E).
  void embed(const float* z, int64_t B, int64_t n, const float* sampling, float* embedding, int threads) const;
  // The same, ready to go back. features (B, statistics()->size()): where they have been computed before; z is then
  // only read by the LSTM.
  void embed(const float* z, int64_t B, int64_t n, const float* sampling, float* embedding, LstmEncoder::State& state,
             int threads, const float* features = nullptr) const;
  // embedding (B, E) -> raw (B, K).
  void decode(const float* embedding, int64_t B, float* raw, int threads) const;

  const Decoder& decoder() const { return decoder_; }
  bool has_trained_encoder() const { return lstm_.has_value(); }
  // dembedding (B, E) -> adds to the gradient of the weights.
  void embed_backward(const float* dembedding, LstmEncoder::State& state, float* gradient, int threads) const;

  const std::optional<StatisticsEncoder>& statistics() const { return statistics_; }
  std::optional<StatisticsEncoder>& statistics() { return statistics_; }
  const std::optional<LstmEncoder>& lstm() const { return lstm_; }
  std::optional<LstmEncoder>& lstm() { return lstm_; }

 private:
  void embed_constants(int64_t B, int64_t n, const float* sampling, float* embedding) const;
  int64_t lstm_column() const { return options_.encoders[0] == "lstm" || !statistics_ ? 0 : statistics_->size(); }
  int64_t statistics_column() const { return options_.encoders[0] == "statistics" || !lstm_ ? 0 : lstm_->size(); }
  int64_t encoded_size() const { return (statistics_ ? statistics_->size() : 0) + (lstm_ ? lstm_->size() : 0); }

  NetworkOptions options_;
  WeightList list_;
  std::optional<StatisticsEncoder> statistics_;
  std::optional<LstmEncoder> lstm_;
  int64_t embedding_size_;
  Decoder decoder_;
  std::vector<float> weights_;
};

}  // namespace penn
