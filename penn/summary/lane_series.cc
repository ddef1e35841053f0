// See lane_series.h: lagged products, laws, grids.
#include "penn/summary/lane_series.h"

namespace penn {

using lanes::abs, lanes::load, lanes::log2_positive, lanes::splat;

void LaneWorkspace::resize(int64_t length, size_t channel_count, int64_t feature_count) {
  n = length;
  channels.resize(channel_count);
  for (ChannelLanes& c : channels)
    for (LaneSeries* s : {&c.y, &c.u_rows, &c.w_rows, &c.a_rows, &c.centred, &c.increment, &c.residual})
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

D put_memory(FeatureLanes& out, const LaneSeries& s, int64_t begin, int64_t end, const int* lags, int count) {
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

// total[i] = sum of max(rho - knot, 0), or of max(knot - rho, 0) where kBelow, with rho = logs - log2_mean. Distances
// from the knot and not max(rho, knot): a share that is zero must be exactly zero, since its root is taken.
template <int K, bool kBelow>
void hinge_sums(const LaneSeries& logs, int64_t begin, int64_t end, F log2_mean, const float* knots, D* total) {
  F one = splat(1.0f);
  in_register(one);
  sum_rows<K>(
      begin, end, total, [&](int64_t t, F(&sum)[K]) __attribute__((always_inline)) {
        const F rho = logs[t] - log2_mean;
#pragma GCC unroll 16
        for (int i = 0; i < K; ++i) {
          const F hinge = larger(kBelow ? knots[i] * kLog2e - rho : rho - knots[i] * kLog2e, F{});
          sum[i] = i % 2 ? lanes::fma(hinge, one, sum[i]) : sum[i] + hinge;  // adders and multipliers share the work
        }
      });
}

}  // namespace

void put_shares(FeatureLanes& out, const LaneSeries& logs, int64_t begin, int64_t end, F log2_mean) {
  constexpr int kSplit = 6,
                kAbove = static_cast<int>(kKnots.size()) - kSplit;  // intervals from kSplit on are seen from above
  static_assert(kKnots[kSplit - 1] < kShareSplit && kKnots[kSplit] > kShareSplit);
  D below[kSplit + 1], above[kAbove];
  hinge_sums<kSplit + 1, true>(logs, begin, end, log2_mean, kKnots.data(), below);
  hinge_sums<kAbove / 2, false>(logs, begin, end, log2_mean, kKnots.data() + kSplit, above);
  hinge_sums<kAbove - kAbove / 2, false>(logs, begin, end, log2_mean, kKnots.data() + kSplit + kAbove / 2,
                                         above + kAbove / 2);
  for (int i = 0; i < kShares; ++i) {
    const double width = static_cast<double>(end - begin) * (kKnots[i + 1] - kKnots[i]) * kLog2e;
    const D share = i < kSplit ? below[i + 1] - below[i] : above[i - kSplit] - above[i - kSplit + 1];
    out.put(lanes::sqrt(ramp((share / D(width)).narrow())));
  }
}

LogLaw put_law(FeatureLanes& out, const LaneSeries& s, LaneSeries& logs, int64_t begin, int64_t end, F floor,
               float unit) {
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
  const LogLaw law{m.narrow(), lanes::exp2_saturating(m.narrow())};
  const F inverse = lanes::exp2_saturating(-law.log2_mean);
  D odd;
  sum_rows<1>(
      begin, end, &odd, [&](int64_t t, F(&sum)[1]) __attribute__((always_inline)) {
        sum[0] += signed_square(clamp(s[t] * inverse, 4.0f));
      });
  out.put(law.log2_mean * kLn2 - std::log(unit));
  out.put(log_positive((total[2] / count).narrow()) * 0.5f - std::log(unit));
  out.put(lanes::sqrt(larger(total[1] / count - m * m, D()).narrow()) * kLn2);
  out.put(odd / count);
  put_shares(out, logs, begin, end, law.log2_mean);
  for (const F& size : top) out.put((log2_positive(size) - law.log2_mean) * kLn2);
  return law;
}

}  // namespace penn
