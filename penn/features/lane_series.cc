// See lane_series.h: lagged products, distributions, grids.
#include "penn/features/lane_series.h"

namespace penn {

using lanes::abs, lanes::load, lanes::log2_positive, lanes::splat;

void LaneWorkspace::resize(int64_t length, size_t channel_count, int64_t feature_count) {
  n = length;
  channels.resize(channel_count);
  for (ChannelLanes& c : channels)
    for (LaneSeries* s :
         {&c.y, &c.u_rows, &c.w_rows, &c.a_rows, &c.limited_rows, &c.past_rows, &c.centred, &c.increment, &c.residual})
      s->resize(length);
  for (LaneSeries& s : scratch) s.resize(length);
  for (LaneSeries& s : logs) s.resize(length);
  features.resize(feature_count * kRow);
}

namespace {

// G lags at a time: their sums stay in registers.
template <int G>
void lagged_group(const LaneSeries& a, const LaneSeries& b, int64_t begin, int64_t end, const int* lags, D* total) {
  const float* before[G];
  for (int i = 0; i < G; ++i) total[i] = D(), before[i] = b.row(-lags[i]);
  sum_rows<G>(
      begin, end, total, [&](int64_t t, F(&sum)[G]) __attribute__((always_inline)) {
        const F now = a[t];
#pragma GCC unroll 16
        for (int i = 0; i < G; ++i) sum[i] += now * load(before[i] + t * kRow);
      });
}
constexpr decltype(&lagged_group<1>) kLaggedGroups[] = {
    lagged_group<1>, lagged_group<2>, lagged_group<3>, lagged_group<4>,  lagged_group<5>,  lagged_group<6>,
    lagged_group<7>, lagged_group<8>, lagged_group<9>, lagged_group<10>, lagged_group<11>, lagged_group<12>};

}  // namespace

void lagged_sums(const LaneSeries& a, const LaneSeries& b, int64_t begin, int64_t end, const int* lags, int count,
                 D* total) {
  for (int i = 0, group; i < count; i += group) {
    group = even_part(count - i, 12);
    kLaggedGroups[group - 1](a, b, begin, end, lags + i, total + i);
  }
}

D put_autocorrelations(FeatureLanes& out, const LaneSeries& s, int64_t begin, int64_t end, const int* lags, int count) {
  D total[1 + 32];
  int all[1 + 32] = {0};
  std::copy(lags, lags + count, all + 1);
  lagged_sums(s, s, begin, end, all, 1 + count, total);
  const int64_t m = end - begin;
  const D square = total[0] / D(static_cast<double>(m));
  for (int i = 0; i < count; ++i) {
    if (lag_fits(lags[i], m)) out.put(total[1 + i] / (D(static_cast<double>(m - lags[i])) * (square + D(1e-30))));
    else out.repeat(1);
  }
  return square;
}

namespace {

// Fixed point: a float from 16 to 32 is a whole number of 2^-19, and so are the differences of its bits. Whole numbers
// add up without rounding: a fraction that is zero must be exactly zero, since its root is taken.
constexpr float kFixedOrigin = 24.0f;
constexpr int64_t kFixedChunk = 1024;  // samples whose distances from knot to knot stay below 2^31

// sum[i] = sum of the bits of max(x, knot i) with x = logs + shift, modulo 2^32.
constexpr int kKnotGroup = 8;
void hinge_sums(const LaneSeries& logs, int64_t begin, int64_t end, F shift, F last, const F* knots, lanes::U* sum) {
  lanes::U s[kKnotGroup] = {};
  for (int64_t t = begin; t < end; ++t) {
    const F x = smaller(logs[t] + shift, last);
#pragma GCC unroll 8
    for (int i = 0; i < kKnotGroup; ++i) s[i] += (lanes::U)lanes::as_int(larger(x, knots[i]));
  }
  std::copy(s, s + kKnotGroup, sum);
}

}  // namespace

void put_fractions(FeatureLanes& out, const LaneSeries& logs, int64_t begin, int64_t end, F log2_mean) {
  constexpr int kCount = static_cast<int>(kKnots.size());
  static_assert(kCount % kKnotGroup == 0);
  F knots[kCount];
  for (int i = 0; i < kCount; ++i) knots[i] = splat(kFixedOrigin + kKnots[i] * kLog2e);
  const auto width = [&](int i) { return (lanes::U)lanes::as_int(knots[i + 1]) - (lanes::U)lanes::as_int(knots[i]); };
  D fraction[kFractions];
  for (int64_t chunk = begin; chunk < end; chunk += kFixedChunk) {
    const int64_t stop = std::min(end, chunk + kFixedChunk);
    lanes::U sum[kCount];
    for (int i = 0; i < kCount; i += kKnotGroup)
      hinge_sums(logs, chunk, stop, kFixedOrigin - log2_mean, knots[kCount - 1], knots + i, sum + i);
    for (int i = 0; i < kFractions; ++i) {
      const lanes::U below = sum[i + 1] - sum[i], all = width(i) * static_cast<uint32_t>(stop - chunk);
      fraction[i] += D(lanes::to_float((lanes::I)(kKnots[i] < kFractionSplit ? below : all - below)));
    }
  }
  for (int i = 0; i < kFractions; ++i) {
    const D all = D(lanes::to_float((lanes::I)width(i))) * D(static_cast<double>(end - begin));
    out.put(lanes::sqrt(ramp((fraction[i] / all).narrow())));
  }
}

LogDistribution put_distribution(FeatureLanes& out, const LaneSeries& s, LaneSeries& logs, int64_t begin, int64_t end,
                                 F floor, float unit) {
  D total[3];
  F top[kTop] = {floor, floor, floor, floor};
  static_assert(kTop == 4);
  sum_rows<3>(
      begin, end, total, [&](int64_t t, F(&sum)[3]) __attribute__((always_inline)) {
        F size = larger(abs(s[t]), floor);
        const F l = log2_sample(size);
        logs.set(t, l);
        sum[0] += l;
        sum[1] += l * l;
        sum[2] += size * size;
#pragma GCC unroll 4
        for (int i = 0; i < kTop; ++i) {
          const F upper = larger(top[i], size);
          size = smaller(top[i], size);
          top[i] = upper;
        }
      });
  const D count(static_cast<double>(end - begin)), m = total[0] / count;
  const LogDistribution distribution{m.narrow(), lanes::exp2_saturating(m.narrow())};
  const F inverse = lanes::exp2_saturating(-distribution.log2_mean);
  D odd;
  sum_rows<1>(
      begin, end, &odd, [&](int64_t t, F(&sum)[1]) __attribute__((always_inline)) {
        sum[0] += signed_square(clamp(s[t] * inverse, 4.0f));
      });
  out.put(distribution.log2_mean * kLn2 - std::log(unit));
  out.put(log_positive((total[2] / count).narrow()) * 0.5f - std::log(unit));
  out.put(lanes::sqrt(larger(total[1] / count - m * m, D()).narrow()) * kLn2);
  out.put(odd / count);
  put_fractions(out, logs, begin, end, distribution.log2_mean);
  for (const F& size : top) out.put((log2_positive(size) - distribution.log2_mean) * kLn2);
  return distribution;
}

}  // namespace penn
