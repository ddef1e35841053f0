// What summarises a trajectory: (n, d) numbers in, a fixed number out.
//   StatisticsEncoder   the fixed features of penn/features, standardised: no weights
//   LstmEncoder         the paper's: an LSTM over asinh((z - centre) / unit), mean over time
// Input scaling is measured once, before training, and travels with the weights.
#pragma once

#include <cstdint>
#include <vector>

#include "penn/network/lstm.h"
#include "penn/network/network_options.h"
#include "penn/network/weights.h"

namespace penn {

class StatisticsEncoder {
 public:
  explicit StatisticsEncoder(int inputs);
  int64_t size() const { return summary_.size(); }
  void fit_input_scaling(const float* z, int64_t B, int64_t n, int threads);
  // z (B, n, d) -> out (B, size), rows of out_step floats.
  void encode(const float* z, int64_t B, int64_t n, float* out, int64_t out_step, int threads) const;

  // For files. scaling (d, 5), centre and unit (size).
  std::vector<double> scaling() const;
  void set(const std::vector<double>& scaling, std::vector<float> centre, std::vector<float> unit);
  const std::vector<float>& centre() const { return centre_; }
  const std::vector<float>& unit() const { return unit_; }

 private:
  Summary summary_;
  std::vector<float> centre_, unit_;
};

class LstmEncoder {
 public:
  LstmEncoder(WeightList& weights, const NetworkOptions& options);
  const LstmShape& shape() const { return shape_; }
  int64_t size() const { return shape_.hidden; }
  void fit_input_scaling(const float* z, int64_t B, int64_t n);
  void set(std::vector<float> centre, std::vector<float> unit);
  const std::vector<float>& centre() const { return centre_; }  // (d)
  const std::vector<float>& unit() const { return unit_; }      // (d)

  void encode(const float* weights, const float* z, int64_t B, int64_t n, float* out, int64_t out_step,
              int threads) const;

  // A pass that can go back. `memory` bytes may be kept before gates are computed again instead.
  struct State {
    std::vector<float> x;        // (B, n, d), scaled
    std::vector<LstmPass> pass;  // one
    AlignedVector<float> saved, tile_gradients;
  };
  void forward(const float* weights, const float* z, int64_t B, int64_t n, float* out, int64_t out_step, State& state,
               int threads, size_t memory = size_t{4} << 30) const;
  // Adds to the gradient of the flat array.
  void backward(const float* dout, int64_t dout_step, State& state, float* gradient, int threads) const;

 private:
  void scale(const float* z, int64_t count, std::vector<float>& x, int threads) const;  // count = B n
  LstmShape shape_;
  size_t offset_ = 0;  // of its weights
  std::vector<float> centre_, unit_;
};

}  // namespace penn
