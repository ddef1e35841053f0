// A robust AR(1) fit, the law and memory of its innovations, the response after jumps. Definitions:
// summary_reference.cc.
#include "penn/summary/lane_series.h"

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

  LaneSeries &e = work.scratch[0], &jump = work.scratch[1], &bent = work.scratch[2];
  for (int64_t t = 1; t < n; ++t) e.set(t, (c.y[t] - c.y[t - 1]) - slope.b * ((c.y[t - 1] - c.centre) - slope.rest));
  const LogLaw law = put_law(out, e, work.logs[0], 1, n, c.own_floor(), c.value);

  const F inverse = 1.0f / law.scale;
  D jumps(0.5);
  for (LaneSeries* s : {&e, &jump, &bent}) s->set(0, F{});
  sum_rows<1>(
      1, n, &jumps, [&](int64_t t, F(&sum)[1]) __attribute__((always_inline)) {
        const F s = e[t] * inverse, is_jump = ramp(abs(s) * 0.5f - 3.5f);
        sum[0] += is_jump;
        jump.set(t, is_jump / (is_jump > 0.0f ? e[t] : splat(1.0f)));
        bent.set(t, asinh(clamp(s, 1e9f)));
        e.set(t, clamp(s, 3.0f));
      });
  put_memory(out, bent, 1, n, kInnovationMemory.data(), kInnovationMemory.size());
  put_memory(out, e, 1, n, kClippedMemory.data(), kClippedMemory.size());

  constexpr int kCount = kResponseLags.size();
  D response[kCount];
  const float *jumped[kCount], *before[kCount];
  for (int i = 0; i < kCount; ++i) jumped[i] = jump.row(-kResponseLags[i]), before[i] = c.y.row(-kResponseLags[i]);
  sum_rows<kCount>(
      1, n, response, [&](int64_t t, F(&sum)[kCount]) __attribute__((always_inline)) {
        const F y = c.y[t];
#pragma GCC unroll 8
        for (int i = 0; i < kCount; ++i)
          sum[i] += lanes::load(jumped[i] + t * kRow) * (y - lanes::load(before[i] + t * kRow));
      });
  for (int i = 0; i < kCount; ++i) {
    if (lag_fits(kResponseLags[i], n)) out.put(asinh((response[i] / jumps).narrow() * 3.0f));
    else out.repeat(1);
  }
}

}  // namespace penn
