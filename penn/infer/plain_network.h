// The network of a model file, forward only and without a tensor library: what PennNetwork computes, to rounding (tests/network/plain_test.cc).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "penn/kernel/aligned_buffer.h"
#include "penn/kernel/lane_gemm.h"
#include "penn/model/model_file.h"

namespace penn {

class PlainEncoder {
 public:
  virtual ~PlainEncoder() = default;
  virtual int64_t size() const = 0;  // features
  // z (B, n, d) -> out (B, size).
  virtual void encode(const float* z, int64_t B, int64_t n, float* out, int threads) const = 0;
};

// A dense layer whose columns are lanes: out = A x + bias.
struct DenseLayer {
  PackedMatrix matrix;
  std::vector<float> bias;
};

class PlainNetwork {
 public:
  explicit PlainNetwork(const ModelFile& model);  // ModelError where a tensor is missing or has another shape

  int64_t embedding_size() const { return embedding_size_; }
  int64_t output_size() const { return options_.mixture.size(); }
  // z (B, n, d), sampling (B) -> embedding (B, E).
  void embed(const float* z, int64_t B, int64_t n, const float* sampling, float* embedding, int threads) const;
  // embedding (B, E) -> free vectors y (B, K).
  void decode(const float* embedding, int64_t B, float* y, int threads) const;

 private:
  struct Block {
    DenseLayer layers[3];
    bool has_skip = false;
    DenseLayer skip;
  };
  void decode_tile(const float* embedding, int64_t count, float* y) const;

  NetworkOptions options_;
  std::vector<std::unique_ptr<PlainEncoder>> encoders_;
  int64_t embedding_size_ = 0;
  DenseLayer stem_;  // empty: none
  std::vector<Block> blocks_;
  DenseLayer last_;
};

// By the name in NetworkOptions; ModelError for one that has no twin here.
std::unique_ptr<PlainEncoder> make_plain_encoder(const ModelFile& model, const std::string& name);

}  // namespace penn
