// A robust AR(1) fit, the distribution and memory of its innovations, the response after jumps. Definitions:
// summary_reference.cc.
#include "penn/features/innovation_features.h"

#include "penn/features/lane_series.h"

namespace penn {

using lanes::abs, lanes::splat;

namespace {

struct Slope {
  F b, rest, plain;  // d = b (x - rest) + e with x = y - centre; slope about the location, without weights
};

Slope fit_slope(const ChannelLanes& c, int64_t n) {
  D total[7];
  const F per_jump = 0.25f / c.increment_scale;
  sum_rows<7>(
      1, n, total, [&](int64_t t, F(&sum)[7]) __attribute__((always_inline)) {
        const F x = c.y[t - 1] - c.centre, full_x = c.y[t - 1] - c.location, d = c.y[t] - c.y[t - 1], s = d * per_jump;
        const F w = 1.0f / (s * s + 1.0f), wx = w * x, wd = w * d;
        sum[0] += w;
        sum[1] += wx;
        sum[2] += wd;
        sum[3] += wx * x;
        sum[4] += wx * d;
        sum[5] += full_x * full_x;
        sum[6] += full_x * d;
      });
  const D tiny(static_cast<double>(kTiny) * kTiny), rest = total[1] / larger(total[0], D(1e-30));
  const D b = (total[4] - rest * total[2]) / (total[3] - rest * total[1] + D(1e-6) * total[3] + tiny);
  return {b.narrow(), rest.narrow(), (total[6] / (total[5] + tiny)).narrow()};
}

}  // namespace

void put_innovations(FeatureLanes& out, LaneWorkspace& work, Subject at) {
  const ChannelLanes& c = work.channels[at.first];
  const int64_t n = work.n;
  const Slope slope = fit_slope(c, n);
  for (const F& b : {slope.b, slope.plain}) {
    out.put(asinh(b * 30.0f));
    out.put(asinh(b * 300.0f));
  }
  out.put(asinh((slope.rest + (c.centre - c.location)) * (3 / c.value)));

  LaneSeries &e = work.scratch[0], &bent = work.scratch[2];
  for (int64_t t = 1; t < n; ++t) e.set(t, (c.y[t] - c.y[t - 1]) - slope.b * ((c.y[t - 1] - c.centre) - slope.rest));
  const LogDistribution distribution = put_distribution(out, e, work.logs[0], 1, n, c.own_floor(), c.value);

  const F inverse = 1.0f / distribution.scale;
  D jumps(0.5), response[kResponseLags.size()];
  for (LaneSeries* s : {&e, &bent}) s->set(0, F{});
  for (int64_t t = 1; t < n; ++t) {
    const F s = e[t] * inverse, is_jump = ramp(abs(s) * 0.5f - 3.5f);
    if (any_lane(is_jump)) {  // seldom
      jumps += D(is_jump);
      const F jump = is_jump / (is_jump > 0.0f ? e[t] : splat(1.0f));
      for (size_t i = 0; i < kResponseLags.size() && t + kResponseLags[i] < n; ++i)
        response[i] += D(jump * (c.y[t + kResponseLags[i]] - c.y[t]));
    }
    bent.set(t, asinh_sample(s));
    e.set(t, clamp(s, 3.0f));
  }
  put_autocorrelations(out, bent, 1, n, kInnovationAutocorrelationLags.data(), kInnovationAutocorrelationLags.size());
  put_autocorrelations(out, e, 1, n, kClippedAutocorrelationLags.data(), kClippedAutocorrelationLags.size());
  for (size_t i = 0; i < kResponseLags.size(); ++i) {
    if (lag_fits(kResponseLags[i], n)) out.put(asinh((response[i] / jumps).narrow() * 3.0f));
    else out.repeat(1);
  }
}

}  // namespace penn
