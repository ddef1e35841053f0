// The residual of the second regression: its distribution, autocorrelation and roughness. Definitions:
// regression_reference.cc.
#include "penn/features/residual_features.h"

#include "penn/features/lane_series.h"

namespace penn {

using lanes::splat;

namespace {

// Least squares of two terms from their sums, as in regression_reference.cc.
struct TwoTerms {
  D constant, slope;
};
TwoTerms two_terms(D a, D b, D d, D y0, D y1) {
  a += D(kNoiseRidge) * a, d += D(kNoiseRidge) * d;
  const D determinant = a * d - b * b + D(1e-30);
  return {(y0 * d - y1 * b) / determinant, (y1 * a - y0 * b) / determinant};
}

// Autocorrelation of the noise that is added and of the noise that multiplies u. Leaves the weights in scratch[0].
void put_noise_autocorrelations(FeatureLanes& out, LaneWorkspace& work, const ChannelLanes& c, const LaneSeries& r,
                                D square) {
  const int64_t n = work.n;
  constexpr int kCount = kNoiseLags.size(), kSeries = 5;
  LaneSeries* const series[kSeries] = {&work.scratch[0], &work.scratch[1], &work.scratch[2], &work.scratch[3],
                                       &work.logs[0]};
  D total[kSeries][kCount];
  for (LaneSeries* s : series) s->set(0, F{});
  for (int64_t t = 1; t < n - 1; ++t) {
    const F u = c.u(t), weight = 1.0f / (u * u + kNoiseWeight), by_u = weight * u;
    series[0]->set(t, weight);
    series[1]->set(t, by_u);
    series[2]->set(t, by_u * u);
    series[3]->set(t, weight * r[t]);
    series[4]->set(t, by_u * r[t]);
  }
  for (int i = 0; i < kSeries; ++i) lagged_sums(*series[i], *series[i], 1, n - 1, kNoiseLags.data(), kCount, total[i]);
  for (int k = 0; k < kCount; ++k) {
    if (!lag_fits(kNoiseLags[k], n - 2)) {
      out.repeat(2);
      continue;
    }
    const D per_term(1 / static_cast<double>(n - 2 - kNoiseLags[k]));
    for (auto& sums : total) sums[k] = sums[k] * per_term;
    const TwoTerms noise = two_terms(total[0][k], total[1][k], total[2][k], total[3][k], total[4][k]);
    out.put(asinh((noise.constant / square).narrow() * 4.0f));
    out.put(asinh((noise.slope / square).narrow() * 4.0f));
  }
}

// Roughness of the clipped residual r: q = (r(t) - r(t-1))^2 / square, its mean, weighted means, and weighted fit by 1
// and u^2.
void put_roughness(FeatureLanes& out, const ChannelLanes& c, const LaneSeries& r, const LaneSeries& weight, D square,
                   int64_t n) {
  D total[7];
  const F per_square = (D(1) / square).narrow();
  sum_rows<7>(
      2, n - 1, total, [&](int64_t t, F(&sum)[7]) __attribute__((always_inline)) {
        const F u = c.u(t), xx = u * u, step = r[t] - r[t - 1], q = step * step * per_square;
        const F near = weight[t] * weight[t], near_q = q * near, near_x = near * xx;
        sum[0] += q;
        sum[1] += q * xx;
        sum[2] += near_q;
        sum[3] += near_q * xx;
        sum[4] += near;
        sum[5] += near_x;
        sum[6] += near_x * xx;
      });
  for (D& sum : total) sum = sum / D(static_cast<double>(n - 3));
  const TwoTerms fit = two_terms(total[4], total[5], total[6], total[2], total[3]);
  out.put(log_positive(square.narrow()) * 0.5f);
  for (int i = 0; i < 4; ++i) out.put(log_positive(total[i].narrow() + 1e-12f));
  for (const D& b : {fit.constant, fit.slope}) {
    out.put(asinh(b.narrow() * 10.0f));
    out.put(log_positive(larger(b.narrow(), splat(1e-5f))));
  }
}

}  // namespace

void put_residual(FeatureLanes& out, LaneWorkspace& work, Subject at) {
  ChannelLanes& c = work.channels[at.first];
  const int64_t n = work.n;
  LaneSeries& r = c.residual;
  const LogDistribution distribution = put_distribution(out, r, work.logs[0], 1, n - 1, c.residual_floor, 1.0f);
  const F limit = distribution.scale * kResidualClip;
  r.set(0, F{});
  for (int64_t t = 1; t < n - 1; ++t) r.set(t, smaller(larger(r[t], -limit), limit));
  const D square =
      put_autocorrelations(out, r, 1, n - 1, kResidualAutocorrelationLags.data(), kResidualAutocorrelationLags.size()) +
      D(1e-36);
  put_noise_autocorrelations(out, work, c, r, square);
  put_roughness(out, c, r, work.scratch[0], square, n);
}

}  // namespace penn
