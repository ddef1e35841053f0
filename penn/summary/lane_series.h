// What the statistics are built of: series with one trajectory per lane, sums over time, features to be written.
// Terms are added up in float32 over kChunk samples and carried on in double, so sums stay good to 1e-6 at any length.
#pragma once

#include "penn/base/aligned.h"
#include "penn/noise/lanes.h"
#include "penn/summary/definitions.h"
#include "penn/summary/feature_table.h"

namespace penn {

using lanes::F;
inline constexpr int kRow = lanes::kWidth;  // trajectories side by side
inline constexpr int64_t kChunk = 128;
inline constexpr float kLn2 = 0.69314718f, kLog2e = 1.44269504f;

// ---- double precision, as wide as F --------------------------------------------------------------

struct D {
  typedef float HalfFloat __attribute__((vector_size(2 * kRow)));
  typedef double Half __attribute__((vector_size(4 * kRow)));
  Half a{}, b{};
  D() = default;
  D(Half a_, Half b_) : a(a_), b(b_) {}
  D(double x) : a(x - Half{}), b(x - Half{}) {}
  explicit D(F x) {
    HalfFloat half[2];
    std::memcpy(half, &x, sizeof x);
#if defined(__AVX512F__)
    a = (Half)_mm512_cvtps_pd((__m256)half[0]), b = (Half)_mm512_cvtps_pd((__m256)half[1]);
#elif defined(__AVX__)
    a = (Half)_mm256_cvtps_pd((__m128)half[0]),
    b = (Half)_mm256_cvtps_pd((__m128)half[1]);  // gcc 12 makes seven of each
#else
    a = __builtin_convertvector(half[0], Half), b = __builtin_convertvector(half[1], Half);
#endif
  }
  F narrow() const {
    const HalfFloat half[2] = {__builtin_convertvector(a, HalfFloat), __builtin_convertvector(b, HalfFloat)};
    F x;
    std::memcpy(&x, half, sizeof x);
    return x;
  }
};
inline D operator+(D x, D y) {
  return {x.a + y.a, x.b + y.b};
}
inline D operator-(D x, D y) {
  return {x.a - y.a, x.b - y.b};
}
inline D operator*(D x, D y) {
  return {x.a * y.a, x.b * y.b};
}
inline D operator/(D x, D y) {
  return {x.a / y.a, x.b / y.b};
}
inline D& operator+=(D& x, D y) {
  return x = x + y;
}
inline D& operator-=(D& x, D y) {
  return x = x - y;
}
inline D larger(D x, D y) {
  return {x.a > y.a ? x.a : y.a, x.b > y.b ? x.b : y.b};
}

// ---- elementary functions on features and samples ------------------------------------------------

// One instruction each; lanes::max and min, which keep a NaN of the first argument, are often two. There are no NaN
// here.
inline F larger(F x, F y) {
#if defined(__AVX512F__)
  return (F)_mm512_max_ps((__m512)x, (__m512)y);
#elif defined(__AVX__)
  return (F)_mm256_max_ps((__m256)x, (__m256)y);
#elif defined(__SSE2__)
  return (F)_mm_max_ps((__m128)x, (__m128)y);
#else
  return lanes::max(x, y);
#endif
}
inline F smaller(F x, F y) {
#if defined(__AVX512F__)
  return (F)_mm512_min_ps((__m512)x, (__m512)y);
#elif defined(__AVX__)
  return (F)_mm256_min_ps((__m256)x, (__m256)y);
#elif defined(__SSE2__)
  return (F)_mm_min_ps((__m128)x, (__m128)y);
#else
  return lanes::min(x, y);
#endif
}
inline F clamp(F x, float limit) {
  return smaller(larger(x, lanes::splat(-limit)), lanes::splat(limit));
}
inline F ramp(F x) {
  return smaller(larger(x, F{}), lanes::splat(1.0f));
}
inline F signed_square(F x) {
  return x * lanes::abs(x);
}
inline F log_positive(F x) {
  return lanes::log2_positive(larger(x, lanes::splat(1e-36f))) * kLn2;
}
inline F asinh(F x) {
  const F s = smaller(lanes::abs(x), lanes::splat(1e18f));
  return lanes::copy_sign(lanes::log2_positive(s + lanes::sqrt(s * s + 1.0f)) * kLn2, x);
}

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
  LaneSeries y;                                    // from t = 0
  LaneSeries u_rows, w_rows,
      a_rows;            // value, central velocity and second difference in their units; the latter t = 1 .. n-2
  LaneSeries centred;    // (y - mean)/spread, clipped
  LaneSeries increment;  // asinh(increment / geometric mean), from t = 1
  LaneSeries residual;   // of the second regression, t = 1 .. n-2
  F centre, spread;      // mean of y, mean |y - mean|, at least kTiny
  F floor;               // smallest size inside a logarithm
  F value_scale, increment_scale;  // geometric means of |y - location| and of |increments|
  F residual_floor;                // smallest residual inside a logarithm

  F own_floor() const { return larger(floor, increment_scale * kOwnFloor); }
  F u(int64_t t) const { return u_rows[t]; }
  F local(int64_t t) const { return (y[t] - centre) * (1 / value); }
  F w(int64_t t) const { return w_rows[t]; }
  F past(int64_t t) const {
    return clamp((y[t] - y[t - 1]) * (1 / velocity), 1e6f);
  }  // velocity known before a(t) happens
  F a(int64_t t) const { return a_rows[t]; }
};

struct LaneWorkspace {
  const SummaryOptions* options = nullptr;
  int64_t n = 0;
  std::vector<ChannelLanes> channels;
  LaneSeries scratch[4], logs[kLawLags.size()];
  AlignedVector<float> features;  // (F, kRow)
  void resize(int64_t length, size_t channel_count, int64_t feature_count);
};

void prepare_channel(const LaneWorkspace& work, ChannelLanes& c);  // all channels, before any row of the table

// Pieces that several blocks share.
struct LogLaw {
  F log2_mean;  // of |s|
  F scale;      // geometric mean of |s|
};
// Law of s over begin <= t < end: 4 + kShares + kTop features. unit: subtracted from the logarithms. Overwrites `logs`.
LogLaw put_law(FeatureLanes& out, const LaneSeries& s, LaneSeries& logs, int64_t begin, int64_t end, F floor,
               float unit);
void put_shares(FeatureLanes& out, const LaneSeries& logs, int64_t begin, int64_t end, F log2_mean);
// Autocorrelations; rows before `begin` must be zero. Returns the mean square.
D put_memory(FeatureLanes& out, const LaneSeries& s, int64_t begin, int64_t end, const int* lags, int count);

// Sums over hats of two positions (in bins): W and, for each of R responses, the weighted sum: total (grid, grid, 1 +
// R).
template <int R>
void grid_sums(const LaneSeries& first, const LaneSeries& second, const LaneSeries* const (&response)[R], int64_t begin,
               int64_t end, int grid, D* total);
// Position of x among `count` bins in [-reach, reach].
inline F bin_position(F x, int count, float reach) {
  return clamp(x, reach) * (0.5f * static_cast<float>(count - 1) / reach) + 0.5f * static_cast<float>(count - 1);
}
inline F hat(F position, float bin) {
  return larger(1.0f - lanes::abs(position - bin), F{});
}

}  // namespace penn
