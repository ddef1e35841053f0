// Regressions of the first and second difference on monomials, and the residual of the second: law, memory, roughness.
// Definitions: regression_reference.cc.
#include "penn/summary/lane_regression.h"

namespace penn {

using lanes::abs, lanes::splat;

namespace {

// The other channels of a regression; each gives three columns.
struct Others {
  const ChannelLanes* channel[kMaxOthers];
  int count;
  Others(const LaneWorkspace& work, int c) : count(others_of(static_cast<int64_t>(work.channels.size()))) {
    for (int j = 0; j < count; ++j)
      channel[j] = &work.channels[other_channel(c, j, static_cast<int64_t>(work.channels.size()))];
  }
};

void put_coefficients(FeatureLanes& out, const Fit& fit, float factor) {
  for (int i = 0; i < fit.size; ++i) out.put(asinh(fit.b[i] * factor));
  for (int i = 0; i < fit.size; ++i) out.put(fit.log_error[i]);
}

F inside(F u) {
  return ramp((kValueLimit - abs(u)) * 2.0f);
}

// The regression about the trajectory's mean: its coefficients are told, and what it explains of r is taken from r.
void put_local_regression(FeatureLanes& out, const ChannelLanes& c, const Others& others, int64_t n, F per_scale,
                          const D& noise, LaneSeries& r) {
  const int K = kLocalOwn + 3 * others.count;
  const auto columns = [&](int64_t t, F local, F scale, F * x) __attribute__((always_inline)) {
    const F own = clamp(local, kValueLimit), w = clamp(c.w(t), kVelocityLimit) * scale;
    x[0] = scale;
    x[1] = own * scale;
    x[2] = w;
    x[3] = own * w;
    for (int j = 0; j < others.count; ++j) {
      const ChannelLanes& other = *others.channel[j];
      const F theirs = clamp(other.local(t), kValueLimit) * scale;
      x[kLocalOwn + 3 * j] = theirs;
      x[kLocalOwn + 3 * j + 1] = clamp(other.w(t), kVelocityLimit) * scale;
      x[kLocalOwn + 3 * j + 2] = own * theirs;
    }
  };
  Gram G;
  fill_gram(
      1, n - 1, K + 2, G, [&](int64_t t, F * x) __attribute__((always_inline)) {
        const F local = c.local(t), s = r[t] * per_scale;
        const F scale = lanes::sqrt(inside(local) * ramp(kVelocityLimit - abs(c.w(t))) / (s * s + 1.0f));
        columns(t, local, scale, x);
        x[K] = scale * c.a(t);
        x[K + 1] = scale * r[t];
      });
  const Fit near_mean = solve(G, K, K, static_cast<double>(n - 2), &noise),
            left = solve(G, K, K + 1, static_cast<double>(n - 2), &noise);
  put_coefficients(out, near_mean, 1);
  for (int64_t t = 1; t < n - 1; ++t) {
    F x[kMaxColumns], rest = r[t];
    columns(t, c.local(t), splat(1.0f), x);
    for (int i = 0; i < K; ++i) rest -= left.b[i] * x[i];
    r.set(t, rest);
  }
}

F second_weight(const ChannelLanes& c, int64_t t) {
  return inside(c.u(t)) * ramp(kVelocityLimit - abs(c.w(t)));
}

// Columns and response of the second regression at t, times scale.
template <bool kCausal>
inline __attribute__((always_inline)) void second_columns(const ChannelLanes& c, const Others& others, int64_t t,
                                                          F scale, F* x) {
  const F u = clamp(c.u(t), kValueLimit), u2 = u * u, su = scale * u;
  const F sw = scale * clamp(kCausal ? c.past(t) : c.w(t), kVelocityLimit);
  x[0] = scale;
  x[1] = su;
  x[2] = su * u;
  x[3] = su * u2;
  x[4] = sw;
  x[5] = sw * u;
  x[6] = sw * u2;
  x[7] = sw * u2 * u2;
  x += kSecondOwn;
  for (int j = 0; j < others.count; ++j, x += 3) {
    const ChannelLanes& other = *others.channel[j];
    const F theirs = clamp(other.u(t), kValueLimit), scaled = scale * theirs;
    x[0] = scaled;
    x[1] = scale * clamp(kCausal ? other.past(t) : other.w(t), kVelocityLimit);
    x[2] = scaled * theirs * theirs;
  }
  x[0] = scale * c.a(t);
}

// r = a - fit, t = 1 .. n-2.
void set_residual(const ChannelLanes& c, const Others& others, const Fit& fit, int64_t n, LaneSeries& r) {
  for (int64_t t = 1; t < n - 1; ++t) {
    F x[kMaxColumns];
    second_columns<false>(c, others, t, splat(1.0f), x);
    F rest = x[fit.size];
    for (int i = 0; i < fit.size; ++i) rest -= fit.b[i] * x[i];
    r.set(t, rest);
  }
}

// The fit with both sides freed of rho times their neighbour; white: the first fit's residual, freed likewise.
template <bool kCausal>
Fit white_fit(const ChannelLanes& c, const Others& others, int64_t n, const LaneSeries& white, F per_white, F rho,
              const D& noise) {
  const int K = kSecondOwn + 3 * others.count;
  F before[kMaxColumns], weight_before = second_weight(c, 1);
  second_columns<kCausal>(c, others, 1, splat(1.0f), before);
  return regress(
      2, n - 1, K, &noise,
      [&](int64_t t, F * x) __attribute__((always_inline)) {
        F now[kMaxColumns];
        second_columns<kCausal>(c, others, t, splat(1.0f), now);
        const F s = white[t] * per_white, weight = second_weight(c, t),
                scale = lanes::sqrt(weight * weight_before / (s * s + 1.0f));
        for (int k = 0; k <= K; ++k) {
          x[k] = scale * (now[k] - rho * before[k]);
          before[k] = now[k];
        }
        weight_before = weight;
      },
      D(1) - D(rho));
}

F geometric_mean(const LaneSeries& s, int64_t begin, int64_t end, F floor) {
  D total;
  sum_rows<1>(
      begin, end, &total, [&](int64_t t, F(&sum)[1]) __attribute__((always_inline)) {
        sum[0] += lanes::log2_positive(larger(abs(s[t]), floor));
      });
  return lanes::exp2_saturating((total / D(static_cast<double>(end - begin))).narrow());
}

// Correlation of neighbouring residuals, clipped to +-limit: between 0 and kMaxCorrelation.
F lag_one_correlation(const LaneSeries& r, int64_t n, F limit) {
  D total[2];
  sum_rows<2>(
      2, n - 1, total, [&](int64_t t, F(&sum)[2]) __attribute__((always_inline)) {
        const F now = smaller(larger(r[t], -limit), limit), before = smaller(larger(r[t - 1], -limit), limit);
        sum[0] += now * before;
        sum[1] += (now * now + before * before) * 0.5f;
      });
  return smaller(larger((total[0] / (total[1] + D(1e-36))).narrow(), F{}), splat(kMaxCorrelation));
}

// Least squares of two terms from their sums, as in regression_reference.cc.
struct TwoTerms {
  D constant, slope;
};
TwoTerms two_terms(D a, D b, D d, D y0, D y1) {
  a += D(kNoiseRidge) * a, d += D(kNoiseRidge) * d;
  const D determinant = a * d - b * b + D(1e-30);
  return {(y0 * d - y1 * b) / determinant, (y1 * a - y0 * b) / determinant};
}

// Memory of the noise that is added and of the noise that multiplies u.
void put_noise_memory(FeatureLanes& out, LaneWorkspace& work, const ChannelLanes& c, const LaneSeries& r, D square) {
  const int64_t n = work.n;
  constexpr int kCount = kNoiseLags.size(), kSeries = 5;
  LaneSeries* const series[kSeries] = {&work.scratch[0], &work.scratch[1], &work.scratch[2], &work.scratch[3],
                                       &work.logs[0]};
  D total[kSeries][kCount];
  for (LaneSeries* s : series) s->set(0, F{});
  for (int64_t t = 1; t < n - 1; ++t) {
    const F u = clamp(c.u(t), kValueLimit), weight = 1.0f / (u * u + kNoiseWeight), by_u = weight * u;
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
void put_roughness(FeatureLanes& out, const ChannelLanes& c, const LaneSeries& r, D square, int64_t n) {
  D total[7];
  const F per_square = (D(1) / square).narrow();
  sum_rows<7>(
      2, n - 1, total, [&](int64_t t, F(&sum)[7]) __attribute__((always_inline)) {
        const F u = clamp(c.u(t), kValueLimit), xx = u * u, step = r[t] - r[t - 1], q = step * step * per_square;
        const F root = 1.0f / (xx + kNoiseWeight), near = root * root, near_q = q * near, near_x = near * xx;
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

void put_first_regression(FeatureLanes& out, LaneWorkspace& work, Subject at) {
  const ChannelLanes& c = work.channels[at.first];
  const Others others(work, at.first);
  const F per_jump = 0.25f / c.increment_scale;
  const int K = kFirstOwn + 3 * others.count;
  const Fit fit = regress(
      0, work.n - 1, K, nullptr, [&](int64_t t, F * x) __attribute__((always_inline)) {
        const F full_u = c.u(t), u = clamp(full_u, kValueLimit), d = c.y[t + 1] - c.y[t], s = d * per_jump;
        const F scale = lanes::sqrt(inside(full_u) / (s * s + 1.0f)), su = scale * u, u2 = u * u;
        x[0] = scale;
        x[1] = su;
        x[2] = su * u;
        x[3] = su * u2;
        x[4] = su * u2 * u2;
        for (int j = 0; j < others.count; ++j) {
          const F theirs = clamp(others.channel[j]->u(t), kValueLimit), scaled = scale * theirs;
          x[kFirstOwn + 3 * j] = scaled;
          x[kFirstOwn + 3 * j + 1] = scaled * theirs;
          x[kFirstOwn + 3 * j + 2] = scaled * theirs * theirs;
        }
        x[K] = scale * clamp(d * (1 / c.velocity), 1e6f);
      });
  put_coefficients(out, fit, 3);
  out.put(log_positive(fit.unexplained.narrow()));
}

void put_cubic_regression(FeatureLanes& out, LaneWorkspace& work, Subject at) {
  const ChannelLanes& c = work.channels[at.first];
  const Others others(work, at.first);
  const int64_t n = work.n;
  LaneSeries& d = work.scratch[0];
  F before = clamp(c.u(0), kValueLimit);
  for (int64_t t = 0; t + 1 < n; ++t) {
    const F after = clamp(c.u(t + 1), kValueLimit);
    d.set(t, after * after * after - before * before * before);
    before = after;
  }
  const F per_jump = 0.25f / geometric_mean(d, 0, n - 1, splat(kCubeFloor));
  const int K = kCubicOwn + 3 * others.count;
  const Fit fit = regress(
      0, n - 1, K, nullptr, [&](int64_t t, F * x) __attribute__((always_inline)) {
        const F u = clamp(c.u(t), kValueLimit), next = clamp(c.u(t + 1), kValueLimit), s = d[t] * per_jump;
        const F scale = lanes::sqrt(inside(c.u(t)) / (s * s + 1.0f)), su = scale * u;
        x[0] = scale;
        x[1] = su;
        x[2] = su * u;
        x[3] = su * u * u;
        x[4] = scale * (next - u);
        for (int j = 0; j < others.count; ++j) {
          const F theirs = clamp(others.channel[j]->u(t), kValueLimit),
                  then = clamp(others.channel[j]->u(t + 1), kValueLimit), scaled = scale * theirs;
          x[kCubicOwn + 3 * j] = scaled;
          x[kCubicOwn + 3 * j + 1] = scale * (then - theirs);
          x[kCubicOwn + 3 * j + 2] = scaled * theirs * theirs;
        }
        x[K] = scale * d[t];
      });
  put_coefficients(out, fit, 3);
  out.put(log_positive(fit.unexplained.narrow()));
}

void put_second_regression(FeatureLanes& out, LaneWorkspace& work, Subject at) {
  ChannelLanes& c = work.channels[at.first];
  const Others others(work, at.first);
  const int64_t n = work.n;
  const int K = kSecondOwn + 3 * others.count;
  LaneSeries& r = c.residual;
  const D no_noise;
  const Fit first = regress(
      1, n - 1, K, &no_noise, [&](int64_t t, F * x) __attribute__((always_inline)) {
        second_columns<false>(c, others, t, lanes::sqrt(second_weight(c, t)), x);
      });
  const F floor = c.residual_floor =
      larger(c.floor * (1 / c.second), lanes::sqrt(first.unexplained.narrow()) * kOwnFloor);
  set_residual(c, others, first, n, r);
  const F first_scale = geometric_mean(r, 1, n - 1, floor), per_scale = (1 / kResidualWeight) / first_scale;

  const F rho = lag_one_correlation(r, n, first_scale * kResidualClip);
  LaneSeries& white = work.scratch[0];
  for (int64_t t = 2; t < n - 1; ++t) white.set(t, r[t] - rho * r[t - 1]);
  const F per_white = (1 / kResidualWeight) / geometric_mean(white, 2, n - 1, floor);
  const D noise = first.unexplained * (D(1) - D(rho) * D(rho));
  const Fit fit = white_fit<false>(c, others, n, white, per_white, rho, noise),
            causal = white_fit<true>(c, others, n, white, per_white, rho, noise);
  put_coefficients(out, fit, 1);
  put_coefficients(out, causal, 1);
  set_residual(c, others, fit, n, r);
  put_local_regression(out, c, others, n, per_scale, first.unexplained, r);
}

void put_residual(FeatureLanes& out, LaneWorkspace& work, Subject at) {
  ChannelLanes& c = work.channels[at.first];
  const int64_t n = work.n;
  LaneSeries& r = c.residual;
  const LogLaw law = put_law(out, r, work.logs[0], 1, n - 1, c.residual_floor, 1.0f);
  const F limit = law.scale * kResidualClip;
  r.set(0, F{});
  for (int64_t t = 1; t < n - 1; ++t) r.set(t, smaller(larger(r[t], -limit), limit));
  const D square = put_memory(out, r, 1, n - 1, kResidualMemory.data(), kResidualMemory.size()) + D(1e-36);
  put_noise_memory(out, work, c, r, square);
  put_roughness(out, c, r, square, n);
}

}  // namespace penn
