// Values, increments over many lags, their memory and their block means. Definitions: summary_reference.cc.
#include "penn/features/value_features.h"

#include "penn/features/lane_series.h"

namespace penn {

using lanes::abs, lanes::load, lanes::log2_positive, lanes::splat;

void prepare_channel(const LaneWorkspace& work, ChannelLanes& c) {
  c.per_value = 1 / c.value, c.per_velocity = 1 / c.velocity, c.per_second = 1 / c.second, c.per_third = 1 / c.third;
  const float origin = c.location / c.value;
  D total;
  sum_rows<1>(
      0, work.n, &total, [&](int64_t t, F(&sum)[1]) __attribute__((always_inline)) {
        sum[0] += c.y[t];
        c.u_rows.set(t, clamp(c.y[t] * c.per_value - origin, kValueLimit));
      });
  c.centre = (total / D(static_cast<double>(work.n))).narrow();
  c.w_rows.set(0, F{}), c.a_rows.set(0, F{});
  for (int64_t t = 1; t < work.n - 1; ++t) {
    const F forward = c.y[t + 1] - c.y[t], backward = c.y[t] - c.y[t - 1];
    const F w = clamp((c.y[t + 1] - c.y[t - 1]) * (0.5f * c.per_velocity), 1e6f);
    c.w_rows.set(t, w);
    c.limited_rows.set(t, clamp(w, kVelocityLimit));
    c.past_rows.set(t, clamp(backward * c.per_velocity, kVelocityLimit));
    c.a_rows.set(t, clamp((forward - backward) * c.per_second, 1e6f));
  }
}

void put_values(FeatureLanes& out, LaneWorkspace& work, Subject at) {
  ChannelLanes& c = work.channels[at.first];
  const int64_t n = work.n;
  const D count(static_cast<double>(n));
  const F centre = c.centre;
  D total[4];
  const float origin = c.location / c.value;
  F lowest = c.y[0], highest = c.y[0];
  sum_rows<4>(
      0, n, total, [&](int64_t t, F(&sum)[4]) __attribute__((always_inline)) {
        const F u = clamp(c.y[t] * c.per_value - origin, 4.0f), u2 = u * u, u4 = u2 * u2;
        lowest = smaller(lowest, c.y[t]);
        highest = larger(highest, c.y[t]);
        sum[0] += abs(c.y[t] - centre);
        sum[1] += u2;
        sum[2] += u4;
        sum[3] += u2 * u4;
      });
  const F scale = c.spread = larger((total[0] / count).narrow(), splat(kTiny)), inverse = 1.0f / scale;
  c.floor = larger(scale * kFloor, splat(kTiny));
  D odd;
  sum_rows<1>(
      0, n, &odd, [&](int64_t t, F(&sum)[1]) __attribute__((always_inline)) {
        const F x = clamp((c.y[t] - centre) * inverse, 6.0f);
        c.centred.set(t, x);
        sum[0] += signed_square(clamp(x, 4.0f));
      });
  const auto units = [&](F y) { return asinh((y - c.location) * (3 / c.value)); };
  out.put(units(centre));
  out.put(log_positive(scale * c.per_value));
  out.put(odd / count);
  for (const F& y : {lowest, highest, c.y[0], c.y[n - 1]}) out.put(units(y));
  for (int i = 1; i <= 3; ++i) out.put(log_positive((total[i] / count).narrow() + 1e-12f));
}

namespace {

// The increments over one lag: y[t] less what stood `lag` samples before; for lag 0 less the location.
struct Increments {
  const float* y;
  const float* before;
  int64_t stride;
  F operator[](int64_t t) const { return load(y + t * kRow) - load(before + t * stride); }
};

struct LagMoments {
  F log2_mean, deviation, log_rms, log2_largest;
};

template <bool kStore>
LagMoments lag_moments(const Increments& d, int64_t begin, int64_t end, F floor, LaneSeries* logs) {
  D total[3];
  F largest = floor;
  sum_rows<3>(
      begin, end, total, [&](int64_t t, F(&sum)[3]) __attribute__((always_inline)) {
        const F size = larger(abs(d[t]), floor), l = log2_sample(size);
        if constexpr (kStore) logs->set(t, l);
        sum[0] += l;
        sum[1] += l * l;
        sum[2] += size * size;
        largest = larger(largest, size);
      });
  const D count(static_cast<double>(end - begin)), m = total[0] / count;
  return {m.narrow(), lanes::sqrt(larger(total[1] / count - m * m, D()).narrow()) * kLn2,
          log_positive((total[2] / count).narrow()) * 0.5f, log2_positive(largest)};
}

// The fraction above 4 geometric means, the asymmetry, log2(1 + r^2): total[0..2].
void lag_shape(const Increments& d, int64_t begin, int64_t end, F inverse, D* total) {
  LogProduct growth;
  F product = splat(1.0f);
  sum_rows<2>(
      begin, end, total, [&](int64_t t, F(&sum)[2]) __attribute__((always_inline)) {
        const F s = d[t] * inverse, r = abs(s), r2 = smaller(r * r, splat(1e8f));
        sum[0] += ramp(r - 3.5f);
        sum[1] += signed_square(clamp(s, 4.0f));
        product = product * r2 + product;
        if (t % 4 == 0) {
          growth.multiply(product);
          product = splat(1.0f);
          if (t % 256 == 0) growth.carry();
        }
      });
  growth.multiply(product);
  total[2] = growth.log2();
}

}  // namespace

void put_lags(FeatureLanes& out, LaneWorkspace& work, Subject at) {
  ChannelLanes& c = work.channels[at.first];
  const std::vector<int>& lags = work.options->lags;
  const int64_t n = work.n;
  const float log_value = std::log(c.value);
  alignas(64) float location[kRow];
  lanes::store(location, splat(c.location));
  F distribution_mean[kDistributionLags.size()];
  const auto increments = [&](int k) {
    return k == 0 ? Increments{c.y.row(0), location, 0} : Increments{c.y.row(0), c.y.row(-k), kRow};
  };
  for (const int k : lags) {
    if (!lag_fits(k, n)) {
      out.repeat(kPerLag);
      continue;
    }
    const Increments d = increments(k);
    const size_t distribution = static_cast<size_t>(std::find(kDistributionLags.begin(), kDistributionLags.end(), k) -
                                                    kDistributionLags.begin());
    const LagMoments m = distribution < kDistributionLags.size()
                             ? lag_moments<true>(d, k, n, c.floor, &work.logs[distribution])
                             : lag_moments<false>(d, k, n, c.floor, nullptr);
    if (distribution < kDistributionLags.size()) distribution_mean[distribution] = m.log2_mean;
    if (k == 0) c.value_scale = lanes::exp2_saturating(m.log2_mean);
    if (k == 1) c.increment_scale = lanes::exp2_saturating(m.log2_mean);
    D total[3];
    lag_shape(d, k, n, lanes::exp2_saturating(-m.log2_mean), total);
    const D count(static_cast<double>(n - k));
    out.put(m.log2_mean * kLn2 - log_value);
    out.put(m.log_rms - log_value);
    out.put(m.deviation);
    out.put(lanes::sqrt((total[0] / count).narrow()));
    out.put((total[2] / count).narrow() * kLn2);
    out.put((m.log2_largest - m.log2_mean) * kLn2);
    out.put(total[1] / count);
  }
  for (size_t i = 0; i < kDistributionLags.size(); ++i) {
    const int k = kDistributionLags[i];
    if (!lag_fits(k, n)) {
      out.repeat(kFractions);
      continue;
    }
    if (std::find(lags.begin(), lags.end(), k) == lags.end())
      distribution_mean[i] = lag_moments<true>(increments(k), k, n, c.floor, &work.logs[i]).log2_mean;
    put_fractions(out, work.logs[i], k, n, distribution_mean[i]);
  }
}

void put_all_autocorrelations(FeatureLanes& out, LaneWorkspace& work, Subject at) {
  ChannelLanes& c = work.channels[at.first];
  const int64_t n = work.n;
  const F per_increment = 1.0f / c.increment_scale, per_value = 1.0f / c.value_scale;
  LaneSeries& x = work.scratch[0];
  c.increment.set(0, F{});
  for (int64_t t = 1; t < n; ++t) c.increment.set(t, asinh_sample((c.y[t] - c.y[t - 1]) * per_increment));
  for (int64_t t = 0; t < n; ++t) x.set(t, asinh_sample((c.y[t] - c.location) * per_value));
  put_autocorrelations(out, c.increment, 1, n, kIncrementAutocorrelationLags.data(),
                       kIncrementAutocorrelationLags.size());
  put_autocorrelations(out, x, 0, n, kValueAutocorrelationLags.data(), kValueAutocorrelationLags.size());
  put_autocorrelations(out, c.centred, 0, n, kCentredAutocorrelationLags.data(), kCentredAutocorrelationLags.size());
}

void put_blocks(FeatureLanes& out, LaneWorkspace& work, Subject at) {
  const ChannelLanes& c = work.channels[at.first];
  LaneSeries& block = work.scratch[0];  // sums over 1, 2, 4, ... samples
  for (int64_t t = 0; t < work.n; ++t) block.set(t, c.y[t]);
  for (const int k : kBlocks) {
    const int64_t m = work.n / k;
    if (!block_fits(k, work.n)) {
      out.repeat(2);
      continue;
    }
    for (int64_t i = 0; i < m; ++i) block.set(i, block[2 * i] + block[2 * i + 1]);
    D total[2];
    sum_rows<2>(
        1, m, total, [&](int64_t i, F(&sum)[2]) __attribute__((always_inline)) {
          const F l = log2_sample(larger(abs(block[i] - block[i - 1]) * (1.0f / static_cast<float>(k)), c.own_floor()));
          sum[0] += l;
          sum[1] += l * l;
        });
    const D count(static_cast<double>(m - 1)), mean = total[0] / count;
    out.put(mean.narrow() * kLn2 - std::log(c.value));
    out.put(lanes::sqrt(larger(total[1] / count - mean * mean, D()).narrow()) * kLn2);
  }
}

}  // namespace penn
