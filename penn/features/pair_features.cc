// How two channels follow each other. Definitions: summary_reference.cc.
#include "penn/features/pair_features.h"

#include "penn/features/lane_series.h"

namespace penn {
namespace {

template <size_t N>
void put_cross(FeatureLanes& out, const LaneSeries& a, const LaneSeries& b, int64_t begin, int64_t end,
               const std::array<int, N>& lags) {
  constexpr int kCount = static_cast<int>(N), kZero = 0;
  D a_follows[N], b_follows[N], square[2];
  lagged_sums(a, b, begin, end, lags.data(), kCount, a_follows);
  lagged_sums(b, a, begin, end, lags.data(), kCount, b_follows);
  lagged_sums(a, a, begin, end, &kZero, 1, &square[0]);
  lagged_sums(b, b, begin, end, &kZero, 1, &square[1]);
  const double m = static_cast<double>(end - begin);
  const F scale = lanes::sqrt((square[0] / D(m)).narrow()) * lanes::sqrt((square[1] / D(m)).narrow()) + 1e-30f;
  for (int i = 0; i < kCount; ++i) {
    if (!lag_fits(lags[i], end - begin)) {
      out.repeat(2);
      continue;
    }
    const D terms(m - lags[i]);
    out.put((a_follows[i] / terms).narrow() / scale);
    if (lags[i] > 0) out.put((b_follows[i] / terms).narrow() / scale);
  }
}

}  // namespace

void put_correlations(FeatureLanes& out, LaneWorkspace& work, Subject at) {
  const ChannelLanes &a = work.channels[at.first], &b = work.channels[at.second];
  const int64_t n = work.n;
  put_cross(out, a.centred, b.centred, 0, n, kCrossValueLags);
  put_cross(out, a.increment, b.increment, 1, n, kCrossIncrementLags);
  put_cross(out, a.residual, b.residual, 1, n - 1, kCrossResidualLags);
}

}  // namespace penn
