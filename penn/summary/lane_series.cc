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

}  // namespace

void lagged_sums(const LaneSeries& a, const LaneSeries& b, int64_t begin, int64_t end, const int* lags, int count,
                 D* total) {
  int i = 0;
  for (; i + 8 <= count; i += 8) lagged_group<8>(a, b, begin, end, lags + i, total + i);
  for (; i + 3 <= count; i += 3) lagged_group<3>(a, b, begin, end, lags + i, total + i);
  for (; i < count; ++i) lagged_group<1>(a, b, begin, end, lags + i, total + i);
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
  sum_rows<K>(
      begin, end, total, [&](int64_t t, F(&sum)[K]) __attribute__((always_inline)) {
        const F rho = logs[t] - log2_mean;
#pragma GCC unroll 16
        for (int i = 0; i < K; ++i) sum[i] += larger(kBelow ? knots[i] * kLog2e - rho : rho - knots[i] * kLog2e, F{});
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
        const F l = log2_positive(size);
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

namespace {

// Columns first_column .. first_column + C - 1 of one row of the grid, for up to kGridChunk samples.
constexpr int kGridChunk = 64;
template <int R, int C>
void grid_row(const float* row_hat, const float (*column_hat)[kGridChunk * kRow], const float* const (&response)[R],
              int count, D* total) {
  F sum[C][1 + R] = {};
  for (int t = 0; t < count; ++t) {
    const F h = load(row_hat + t * kRow);
#pragma GCC unroll 4
    for (int c = 0; c < C; ++c) {
      const F weight = h * load(column_hat[c] + t * kRow);
      sum[c][0] += weight;
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) sum[c][1 + r] += weight * load(response[r] + t * kRow);
    }
  }
  for (int c = 0; c < C; ++c)
    for (int r = 0; r <= R; ++r) total[c * (1 + R) + r] += D(sum[c][r]);
}

}  // namespace

template <int R>
void grid_sums(const LaneSeries& first, const LaneSeries& second, const LaneSeries* const (&response)[R], int64_t begin,
               int64_t end, int grid, D* total) {
  std::fill(total, total + grid * grid * (1 + R), D());
  alignas(64) float row_hat[kGridChunk * kRow], column_hat[kMaxBins][kGridChunk * kRow];
  for (int64_t chunk = begin; chunk < end; chunk += kGridChunk) {
    const int count = static_cast<int>(std::min<int64_t>(kGridChunk, end - chunk));
    const float* at[R];
    for (int r = 0; r < R; ++r) at[r] = response[r]->row(chunk);
    for (int column = 0; column < grid; ++column)
      for (int t = 0; t < count; ++t)
        lanes::store(column_hat[column] + t * kRow, hat(second[chunk + t], static_cast<float>(column)));
    for (int row = 0; row < grid; ++row) {
      for (int t = 0; t < count; ++t) lanes::store(row_hat + t * kRow, hat(first[chunk + t], static_cast<float>(row)));
      D* sums = total + row * grid * (1 + R);
      int column = 0;
      for (; column + 3 <= grid; column += 3)
        grid_row<R, 3>(row_hat, column_hat + column, at, count, sums + column * (1 + R));
      for (; column < grid; ++column) grid_row<R, 1>(row_hat, column_hat + column, at, count, sums + column * (1 + R));
    }
  }
}

template void grid_sums<1>(const LaneSeries&, const LaneSeries&, const LaneSeries* const (&)[1], int64_t, int64_t, int,
                           D*);
template void grid_sums<2>(const LaneSeries&, const LaneSeries&, const LaneSeries* const (&)[2], int64_t, int64_t, int,
                           D*);

}  // namespace penn
