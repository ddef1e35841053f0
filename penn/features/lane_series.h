// What the statistics are built of: series with one trajectory per lane, sums over time, features to be written.
#pragma once

#include "penn/base/aligned.h"
#include "penn/features/feature_table.h"
#include "penn/features/lane_products.h"

namespace penn {

// ---- series ----------------------------------------------------------------------------------------

// Rows of kRow floats, indexed by time. Rows -kMaxLag .. -1 are zero, so that lagged products need no special start.
class LaneSeries {
 public:
  void resize(int64_t rows) {
    if (static_cast<int64_t>(memory_.size()) < (rows + kMaxLag) * kRow) memory_.assign((rows + kMaxLag) * kRow, 0.0f);
  }
  float* row(int64_t t) { return memory_.data() + (t + kMaxLag) * kRow; }
  const float* row(int64_t t) const { return memory_.data() + (t + kMaxLag) * kRow; }
  F operator[](int64_t t) const { return lanes::load(row(t)); }
  void set(int64_t t, F x) { lanes::store(row(t), x); }

 private:
  AlignedVector<float> memory_;
};

// Adds to total[k] what body(t, sum) adds to sum[k], begin <= t < end.
template <int K, class Body>
inline void sum_rows(int64_t begin, int64_t end, D* total, Body body) {
  for (int64_t chunk = begin; chunk < end; chunk += kChunk) {
    const int64_t stop = std::min(end, chunk + kChunk);
    F sum[K] = {};
#pragma GCC unroll 2
    for (int64_t t = chunk; t < stop; ++t) body(t, sum);
    for (int k = 0; k < K; ++k) total[k] += D(sum[k]);
  }
}

// total[i] = sum of a[t] b[t - lags[i]], begin <= t - lag, t < end. Rows of b before `begin` must be zero.
void lagged_sums(const LaneSeries& a, const LaneSeries& b, int64_t begin, int64_t end, const int* lags, int count,
                 D* total);

// ---- features -----------------------------------------------------------------------------------

class FeatureLanes {
 public:
  explicit FeatureLanes(float* rows) : rows_(rows) {}
  void put(F x) { lanes::store(rows_ + count_++ * kRow, lanes::is_finite(x) ? clamp(x, kOutputLimit) : F{}); }
  void put(D x) { put(x.narrow()); }
  void repeat(int64_t count) {  // the last `count` features once more
    for (int64_t i = 0; i < count; ++i, ++count_)
      lanes::store(rows_ + count_ * kRow, lanes::load(rows_ + (count_ - count) * kRow));
  }
  int64_t count() const { return count_; }

 private:
  float* rows_;
  int64_t count_ = 0;
};

// ---- a group of trajectories -----------------------------------------------------------------------

// One channel of kRow trajectories, and what the channels around it need of it (see Channel in summary_reference.cc).
struct ChannelLanes {
  float location, value, velocity, second, third;  // units in y
  // 1 / unit, since a compiler that sees a store to any series must assume that it changed the unit, and divide again
  float per_value, per_velocity, per_second, per_third;
  LaneSeries y;  // from t = 0
  LaneSeries u_rows, w_rows,
      a_rows;  // value (clipped), central velocity and second difference in their units; the latter t = 1 .. n-2
  // The central velocity and the one known before a(t) happens, as regressions take them: clamped to kVelocityLimit
  LaneSeries limited_rows, past_rows;
  LaneSeries centred;              // (y - mean)/spread, clipped
  LaneSeries increment;            // asinh(increment / geometric mean), from t = 1
  LaneSeries residual;             // of the second regression, t = 1 .. n-2
  F centre, spread;                // mean of y, mean |y - mean|, at least kTiny
  F floor;                         // smallest size inside a logarithm
  F value_scale, increment_scale;  // geometric means of |y - location| and of |increments|
  F residual_floor;                // smallest residual inside a logarithm

  F own_floor() const { return larger(floor, increment_scale * kOwnFloor); }
  F u(int64_t t) const { return u_rows[t]; }
  F w(int64_t t) const { return w_rows[t]; }
  F limited_w(int64_t t) const { return limited_rows[t]; }
  F past(int64_t t) const { return past_rows[t]; }
  F a(int64_t t) const { return a_rows[t]; }
};

struct LaneWorkspace {
  const SummaryOptions* options = nullptr;
  int64_t n = 0;
  std::vector<ChannelLanes> channels;
  LaneSeries scratch[4], logs[kDistributionLags.size()];
  ProductSums products;
  AlignedVector<float> features;  // (F, kRow)
  void resize(int64_t length, size_t channel_count, int64_t feature_count);
};

void prepare_channel(const LaneWorkspace& work, ChannelLanes& c);  // all channels, before any row of the table

// Parts that several blocks share.
struct LogDistribution {
  F log2_mean;  // of |s|
  F scale;      // geometric mean of |s|
};
// Distribution of s over begin <= t < end: 4 + kFractions + kTop features. unit: subtracted from the logarithms.
// Overwrites `logs`.
LogDistribution put_distribution(FeatureLanes& out, const LaneSeries& s, LaneSeries& logs, int64_t begin, int64_t end,
                                 F floor, float unit);
void put_fractions(FeatureLanes& out, const LaneSeries& logs, int64_t begin, int64_t end, F log2_mean);
// Autocorrelations; rows before `begin` must be zero. Returns the mean square.
D put_autocorrelations(FeatureLanes& out, const LaneSeries& s, int64_t begin, int64_t end, const int* lags, int count);

}  // namespace penn
