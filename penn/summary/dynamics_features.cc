// Moments of differences of order 1, 2, 3 given the value, and of order 2 given value and velocity. Definitions:
// summary_reference.cc.
#include "penn/summary/lane_series.h"

namespace penn {

using lanes::abs, lanes::load, lanes::store;

namespace {

constexpr int kQuantities = 7;  // a, a^2, a w, w^2, j^2, j v, j j'
constexpr int kBinChunk = 64;

// total[bin][0] = W, then the weighted sums of the quantities.
void bin_sums(const ChannelLanes& c, int64_t n, int bins, D (*total)[1 + kQuantities]) {
  alignas(64) float position[kBinChunk * kRow], quantity[kQuantities][kBinChunk * kRow];
  const auto third = [&](int64_t t) {
    const F second_now = (c.y[t + 1] - c.y[t]) - (c.y[t] - c.y[t - 1]),
            second_next = (c.y[t + 2] - c.y[t + 1]) - (c.y[t + 1] - c.y[t]);
    return clamp((second_next - second_now) * (1 / c.third), 1e6f);
  };
  const auto step = [&](int64_t t) { return clamp((c.y[t + 1] - c.y[t]) * (1 / c.velocity), 1e6f); };
  F j_before = third(1), v_before = step(1);
  for (int64_t chunk = 2; chunk < n - 2; chunk += kBinChunk) {
    const int count = static_cast<int>(std::min<int64_t>(kBinChunk, n - 2 - chunk));
    for (int i = 0; i < count; ++i) {
      const int64_t t = chunk + i;
      const F A = c.a(t), w_t = c.w(t), j = third(t), v = step(t);
      const F q[kQuantities] = {A,
                                A * A,
                                A * w_t,
                                w_t * w_t,
                                (j * j + j_before * j_before) * 0.5f,
                                (j * v + j_before * v_before) * 0.5f,
                                j * j_before};
      for (int k = 0; k < kQuantities; ++k) store(quantity[k] + i * kRow, q[k]);
      store(position + i * kRow, bin_position(c.u(t), bins, kBinReach));
      j_before = j, v_before = v;
    }
    for (int bin = 0; bin < bins; ++bin) {
      F sum[1 + kQuantities] = {};
      for (int i = 0; i < count; ++i) {
        const F weight = hat(load(position + i * kRow), static_cast<float>(bin));
        sum[0] += weight;
#pragma GCC unroll 8
        for (int k = 0; k < kQuantities; ++k) sum[1 + k] += weight * load(quantity[k] + i * kRow);
      }
      for (int k = 0; k <= kQuantities; ++k) total[bin][k] += D(sum[k]);
    }
  }
}

}  // namespace

void put_bins(FeatureLanes& out, LaneWorkspace& work, Subject at) {
  const int bins = work.options->bins;
  const double count = static_cast<double>(work.n - 4);
  D total[kMaxBins][1 + kQuantities];
  bin_sums(work.channels[at.first], work.n, bins, total);
  D mean_aa, mean_ww, mean_jj;  // hats sum to one, so bins sum to the whole trajectory
  for (int bin = 0; bin < bins; ++bin) mean_aa += total[bin][2], mean_ww += total[bin][4], mean_jj += total[bin][5];
  const D prior(kBinPrior), share(kBinPrior / count);
  mean_aa = mean_aa * share, mean_ww = mean_ww * share, mean_jj = mean_jj * share;
  for (int bin = 0; bin < bins; ++bin) {
    const D *s = total[bin], W = s[0] + prior, m = s[1] / W, ww = s[4] + mean_ww, jj = s[5] + mean_jj;
    const D central = larger(s[2] - D(2) * m * s[1] + m * m * s[0], D(1e-5) * s[2]);
    out.put(log_positive((W / D(count)).narrow()));
    out.put(m);
    out.put(s[3] / (ww + D(1e-30)));
    out.put(log_positive((ww / W).narrow()));
    out.put(log_positive(((central + mean_aa) / W).narrow()));
    out.put(log_positive((jj / W).narrow()));
    out.put(s[6] / (ww + D(1e-30)));
    out.put(s[7] / (jj + D(1e-30)));
  }
}

void put_differences(FeatureLanes& out, LaneWorkspace& work, Subject at) {
  const ChannelLanes& c = work.channels[at.first];
  const int64_t n = work.n;
  D fourth[2];
  sum_rows<2>(
      1, n - 1, fourth, [&](int64_t t, F(&sum)[2]) __attribute__((always_inline)) {
        const F A = c.a(t), W = c.w(t), A2 = A * A, W2 = W * W;
        sum[0] += A2 * A2;
        sum[1] += W2 * W2;
      });
  for (int i = 0; i < 2; ++i) {
    const D square =
        put_memory(out, i == 0 ? c.a_rows : c.w_rows, 1, n - 1, kDifferenceMemory.data(), kDifferenceMemory.size());
    out.put(log_positive((fourth[i] / D(static_cast<double>(n - 2))).narrow()) - 2.0f * log_positive(square.narrow()));
  }
}

void put_grid(FeatureLanes& out, LaneWorkspace& work, Subject at) {
  const ChannelLanes& c = work.channels[at.first];
  const int64_t n = work.n;
  const int grid = work.options->grid;
  LaneSeries &position = work.scratch[0], &velocity = work.scratch[1];
  for (int64_t t = 2; t < n - 2; ++t) {
    position.set(t, bin_position(c.u(t), grid, kGridReach));
    velocity.set(t, bin_position(c.w(t), grid, kGridReach));
  }
  D cells[kMaxBins * kMaxBins * 2];
  const LaneSeries* const response[] = {&c.a_rows};
  grid_sums<1>(position, velocity, response, 2, n - 2, grid, cells);
  for (int i = 0; i < grid * grid; ++i) {
    const D W = cells[2 * i] + D(kBinPrior);
    out.put(log_positive((W / D(static_cast<double>(n - 4))).narrow()));
    out.put(cells[2 * i + 1] / W);
  }
}

}  // namespace penn
