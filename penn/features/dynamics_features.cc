// Moments of differences of order 1, 2, 3 given the value, and of order 2 given value and velocity or the values of two
// channels. Definitions: summary_reference.cc.
#include "penn/features/dynamics_features.h"

#include "penn/features/lane_series.h"

namespace penn {

using lanes::splat, lanes::store;

namespace {

constexpr int kQuantities = 7;  // a, a^2, a w, w^2, j^2, j v, j j'

// total[bin][0] = W, then the weighted sums of the quantities, times 2 <= t < n - 2.
void bin_sums(ProductSums& products, const ChannelLanes& c, int64_t n, int bins, D (*total)[1 + kQuantities]) {
  const auto third = [&](int64_t t) {
    const F second_now = (c.y[t + 1] - c.y[t]) - (c.y[t] - c.y[t - 1]),
            second_next = (c.y[t + 2] - c.y[t + 1]) - (c.y[t + 1] - c.y[t]);
    return clamp((second_next - second_now) * c.per_third, 1e6f);
  };
  const auto step = [&](int64_t t) { return clamp((c.y[t + 1] - c.y[t]) * c.per_velocity, 1e6f); };
  F j_before = third(1), v_before = step(1);
  products.compute(
      2, n - 2,
      {{0, bins, bins, 1 + kQuantities, ProductBlock::kHats}}, [&](int64_t t, float* x) __attribute__((always_inline)) {
        const F A = c.a(t), w = c.w(t), j = third(t), v = step(t);
        const F q[1 + kQuantities] = {splat(1.0f),
                                      A,
                                      A * A,
                                      A * w,
                                      w * w,
                                      (j * j + j_before * j_before) * 0.5f,
                                      (j * v + j_before * v_before) * 0.5f,
                                      j * j_before};
#pragma GCC unroll 8
        for (int k = 0; k <= kQuantities; ++k) store(x + (bins + k) * ProductSums::kColumn, q[k]);
        j_before = j, v_before = v;
        store(x, bin_position(c.u(t), bins, kBinReach));
      });
  for (int bin = 0; bin < bins; ++bin)
    for (int k = 0; k <= kQuantities; ++k) total[bin][k] = products(bin, bins + k) * D(static_cast<double>(n - 4));
}

// Means of R responses given two series in bins, and how often a cell is visited.
template <int R>
void put_cells(FeatureLanes& out, ProductSums& products, const LaneSeries& first, const LaneSeries& second,
               const LaneSeries* const (&response)[R], int64_t begin, int64_t end, int grid) {
  products.compute(
      begin, end,
      {{0, grid, grid, (1 + R) * grid, ProductBlock::kHats}}, [&](int64_t t, float* x) __attribute__((always_inline)) {
        store(x, bin_position(first[t], grid, kGridReach));
        F column = bin_position(second[t], grid, kGridReach);
        x += grid * ProductSums::kColumn;
        for (int i = 0; i < grid; ++i, x += (1 + R) * ProductSums::kColumn, column -= 1.0f) {
          const F h = hat(column, 0);
          store(x, h);
          for (int r = 0; r < R; ++r) store(x + (1 + r) * ProductSums::kColumn, h * (*response[r])[t]);
        }
      });
  const D prior(kBinPrior / static_cast<double>(end - begin));
  for (int i = 0; i < grid; ++i) {
    for (int j = 0; j < grid; ++j) {
      const int column = grid + (1 + R) * j;
      const D W = products(i, column) + prior;
      out.put(log_positive(W.narrow()));
      for (int r = 1; r <= R; ++r) out.put(products(i, column + r) / W);
    }
  }
}

}  // namespace

void put_bins(FeatureLanes& out, LaneWorkspace& work, Subject at) {
  const int bins = work.options->bins;
  const double count = static_cast<double>(work.n - 4);
  D total[kMaxBins][1 + kQuantities];
  bin_sums(work.products, work.channels[at.first], work.n, bins, total);
  D mean_aa, mean_ww, mean_jj;  // hats sum to one, so bins sum to the whole trajectory
  for (int bin = 0; bin < bins; ++bin) mean_aa += total[bin][2], mean_ww += total[bin][4], mean_jj += total[bin][5];
  const D prior(kBinPrior), fraction(kBinPrior / count);
  mean_aa = mean_aa * fraction, mean_ww = mean_ww * fraction, mean_jj = mean_jj * fraction;
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
    const D square = put_autocorrelations(out, i == 0 ? c.a_rows : c.w_rows, 1, n - 1,
                                          kDifferenceAutocorrelationLags.data(), kDifferenceAutocorrelationLags.size());
    out.put(log_positive((fourth[i] / D(static_cast<double>(n - 2))).narrow()) - 2.0f * log_positive(square.narrow()));
  }
}

void put_grid(FeatureLanes& out, LaneWorkspace& work, Subject at) {
  const ChannelLanes& c = work.channels[at.first];
  put_cells<1>(out, work.products, c.u_rows, c.w_rows, {&c.a_rows}, 2, work.n - 2, work.options->grid);
}

void put_pair_grid(FeatureLanes& out, LaneWorkspace& work, Subject at) {
  const ChannelLanes &a = work.channels[at.first], &b = work.channels[at.second];
  put_cells<2>(out, work.products, a.u_rows, b.u_rows, {&a.a_rows, &b.a_rows}, 1, work.n - 1, work.options->pair_grid);
}

}  // namespace penn
