// Regressions of the first and second difference on monomials. Definitions: regression_reference.cc.
#include "penn/features/regression_features.h"

#include "penn/features/lane_series.h"

namespace penn {

using lanes::abs, lanes::splat, lanes::store;

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
F inside(F u, F w) {
  return inside(u) * ramp(kVelocityLimit - abs(w));
}

// Columns 0 .. K-1 in order, responses after them.
Terms first_columns(int K, int response) {
  Terms terms;
  for (int k = 0; k < K; ++k) terms.add(k);
  terms.response = response;
  return terms;
}

// Geometric mean of max(|make(t)|, floor).
template <class Make>
F geometric_mean(int64_t begin, int64_t end, F floor, Make make) {
  LogProduct product;
  for (int64_t t = begin; t < end; ++t) {
    product.multiply(larger(abs(make(t)), floor));
    if ((t - begin) % 64 == 63) product.carry();
  }
  return lanes::exp2_saturating((product.log2() / D(static_cast<double>(end - begin))).narrow());
}

// ---- the second regression ----------------------------------------------------------------------------

// Its columns: first what does not hold the velocity (1 u u^2 u^3, the response a, and u u^3 of others), then w uw u^2w
// u^4w and w of others, then the same with the past velocity.
struct SecondLayout {
  int shared, block;
  explicit SecondLayout(const Others& others) : shared(5 + 2 * others.count), block(4 + others.count) {}
  Terms terms(const Others& others, bool causal) const {
    Terms terms;
    const int w = causal ? shared + block : shared;
    for (const int k : {0, 1, 2, 3, w, w + 1, w + 2, w + 3}) terms.add(k);
    for (int j = 0; j < others.count; ++j)
      for (const int k : {5 + 2 * j, w + 4 + j, 6 + 2 * j}) terms.add(k);
    terms.response = 4;
    return terms;
  }
};

struct Own {
  F x[13];
  Own(const ChannelLanes& c, int64_t t) {
    const F u = c.u(t), u2 = u * u, u4 = u2 * u2, w = c.limited_w(t), v = c.past(t);
    const F all[13] = {splat(1.0f), u, u2, u2 * u, c.a(t), w, u * w, u2 * w, u4 * w, v, u * v, u2 * v, u4 * v};
    std::memcpy(x, all, sizeof x);
  }
};
struct Theirs {
  F x[4];
  Theirs(const ChannelLanes& c, int64_t t) {
    const F u = c.u(t);
    x[0] = u, x[1] = u * u * u, x[2] = c.limited_w(t), x[3] = c.past(t);
  }
};

// Columns at t times `root`; where kWhite, those of both velocities and less rho times their neighbours.
template <bool kWhite>
inline __attribute__((always_inline)) void second_columns(const ChannelLanes& c, const Others& others, int64_t t, F rho,
                                                          F root, float* x) {
  const SecondLayout layout(others);
  const Own now(c, t), before(c, t - 1);
  const auto value = [&](const auto& now, const auto& before, int k) {
    return (kWhite ? now.x[k] - rho * before.x[k] : now.x[k]) * root;
  };
  float *w = x + layout.shared * ProductSums::kColumn, *past = w + layout.block * ProductSums::kColumn;
#pragma GCC unroll 8
  for (int k = 0; k < 5; ++k) store(x + k * ProductSums::kColumn, value(now, before, k));
#pragma GCC unroll 8
  for (int k = 0; k < 4; ++k) {
    store(w + k * ProductSums::kColumn, value(now, before, 5 + k));
    if (kWhite) store(past + k * ProductSums::kColumn, value(now, before, 9 + k));
  }
  for (int j = 0; j < others.count; ++j) {
    const Theirs theirs(*others.channel[j], t), theirs_before(*others.channel[j], t - 1);
    store(x + (5 + 2 * j) * ProductSums::kColumn, value(theirs, theirs_before, 0));
    store(x + (6 + 2 * j) * ProductSums::kColumn, value(theirs, theirs_before, 1));
    store(w + (4 + j) * ProductSums::kColumn, value(theirs, theirs_before, 2));
    if (kWhite) store(past + (4 + j) * ProductSums::kColumn, value(theirs, theirs_before, 3));
  }
}

// a less the fit.
inline F second_residual(const ChannelLanes& c, const Others& others, const Fit& fit, int64_t t) {
  const F u = c.u(t), w = c.limited_w(t), *b = fit.b;
  F rest = c.a(t) - (b[0] + u * (b[1] + u * (b[2] + u * b[3]))) - w * (b[4] + u * (b[5] + u * (b[6] + u * u * b[7])));
  for (int j = 0; j < others.count; ++j) {
    const Theirs theirs(*others.channel[j], t);
    b = fit.b + kSecondOwn + 3 * j;
    rest -= theirs.x[0] * b[0] + theirs.x[2] * b[1] + theirs.x[1] * b[2];
  }
  return rest;
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

// The regression about the trajectory's mean: its coefficients are features, and what it explains of r is taken from r.
void put_local_regression(FeatureLanes& out, LaneWorkspace& work, ChannelLanes& c, const Others& others, const Fit& fit,
                          F per_scale, const D& noise) {
  const int64_t n = work.n;
  const int K = kLocalOwn + 3 * others.count;
  const double count = static_cast<double>(n - 2);
  LaneSeries& r = c.residual;
  const auto local = [&](const ChannelLanes& of, int64_t t) {
    return clamp((of.y[t] - of.centre) * of.per_value, kValueLimit);
  };
  work.products.compute(
      1, n - 1, {{0, K + 2, 0, K + 2}}, [&](int64_t t, float* x) __attribute__((always_inline)) {
        const F u = local(c, t), w = c.limited_w(t), rest = second_residual(c, others, fit, t);
        r.set(t, rest);
        const F s = rest * per_scale, root = lanes::sqrt(inside(u, w) / (s * s + 1.0f)), root_u = root * u;
        store(x, root);
        store(x + ProductSums::kColumn, root_u);
        store(x + 2 * ProductSums::kColumn, root * w);
        store(x + 3 * ProductSums::kColumn, root_u * w);
        for (int j = 0; j < others.count; ++j) {
          const F theirs = local(*others.channel[j], t);
          store(x + (kLocalOwn + 3 * j) * ProductSums::kColumn, root * theirs);
          store(x + (kLocalOwn + 3 * j + 1) * ProductSums::kColumn, root * others.channel[j]->limited_w(t));
          store(x + (kLocalOwn + 3 * j + 2) * ProductSums::kColumn, root_u * theirs);
        }
        store(x + K * ProductSums::kColumn, root * c.a(t));
        store(x + (K + 1) * ProductSums::kColumn, root * rest);
      });
  put_coefficients(out, work.products.solve(first_columns(K, K), count, &noise), 1);
  const Fit left = work.products.solve(first_columns(K, K + 1), count, &noise);
  for (int64_t t = 1; t < n - 1; ++t) {
    const F u = local(c, t), w = c.limited_w(t), *b = left.b;
    F rest = r[t] - (b[0] + u * b[1]) - w * (b[2] + u * b[3]);
    for (int j = 0; j < others.count; ++j) {
      b = left.b + kLocalOwn + 3 * j;
      rest -= local(*others.channel[j], t) * (b[0] + u * b[2]) + others.channel[j]->limited_w(t) * b[1];
    }
    r.set(t, rest);
  }
}

// ---- the increment, and that of the cube ----------------------------------------------------------------

// increment(t) per_unit on 1 u u^2 u^3 fifth(t, u) and, of other channels, u theirs(channel, t, u) u^3; those
// beyond 4 typical ones, 1 / per_jump, weigh little.
template <class Increment, class Fifth, class Theirs>
void put_increment_regression(FeatureLanes& out, LaneWorkspace& work, Subject at, F per_jump, float per_unit,
                              Increment increment, Fifth fifth, Theirs theirs) {
  constexpr int own_terms = kFirstOwn;
  static_assert(kFirstOwn == kCubicOwn);
  const ChannelLanes& c = work.channels[at.first];
  const Others others(work, at.first);
  const int K = own_terms + 3 * others.count;
  work.products.compute(
      0, work.n - 1, {{0, K + 1, 0, K + 1}}, [&](int64_t t, float* x) __attribute__((always_inline)) {
        const F u = c.u(t), u2 = u * u, d = increment(t), s = d * per_jump;
        const F root = lanes::sqrt(inside(u) / (s * s + 1.0f)), root_u = root * u;
        store(x, root);
        store(x + ProductSums::kColumn, root_u);
        store(x + 2 * ProductSums::kColumn, root * u2);
        store(x + 3 * ProductSums::kColumn, root_u * u2);
        store(x + 4 * ProductSums::kColumn, root * fifth(t, u));
        for (int j = 0; j < others.count; ++j) {
          const F u_j = others.channel[j]->u(t), root_j = root * u_j;
          float* at_j = x + (own_terms + 3 * j) * ProductSums::kColumn;
          store(at_j, root_j);
          store(at_j + ProductSums::kColumn, root * theirs(*others.channel[j], t, u_j));
          store(at_j + 2 * ProductSums::kColumn, root_j * (u_j * u_j));
        }
        store(x + K * ProductSums::kColumn, root * clamp(d * per_unit, 1e6f));
      });
  const Fit fit = work.products.solve(first_columns(K, K), static_cast<double>(work.n - 1), nullptr);
  put_coefficients(out, fit, 3);
  out.put(log_positive(fit.unexplained.narrow()));
}

}  // namespace

void put_first_regression(FeatureLanes& out, LaneWorkspace& work, Subject at) {
  const ChannelLanes& c = work.channels[at.first];
  put_increment_regression(
      out, work, at, 0.25f / c.increment_scale,
      c.per_velocity, [&](int64_t t) __attribute__((always_inline)) { return c.y[t + 1] - c.y[t]; },
      [](int64_t, F u) __attribute__((always_inline)) { return u * u * (u * u) * u; },
      [](const ChannelLanes&, int64_t, F u) __attribute__((always_inline)) { return u * u; });
}

void put_cubic_regression(FeatureLanes& out, LaneWorkspace& work, Subject at) {
  const ChannelLanes& c = work.channels[at.first];
  const auto increment = [&](int64_t t) __attribute__((always_inline)) {
    const F u = c.u(t), next = c.u(t + 1);
    return next * next * next - u * u * u;
  };
  const F per_jump = 0.25f / geometric_mean(0, work.n - 1, splat(kCubeFloor), increment);
  put_increment_regression(
      out, work, at, per_jump, 1.0f,
      increment, [&](int64_t t, F u) __attribute__((always_inline)) { return c.u(t + 1) - u; },
      [](const ChannelLanes& other, int64_t t, F u) __attribute__((always_inline)) { return other.u(t + 1) - u; });
}

void put_second_regression(FeatureLanes& out, LaneWorkspace& work, Subject at) {
  ChannelLanes& c = work.channels[at.first];
  const Others others(work, at.first);
  const SecondLayout layout(others);
  const int64_t n = work.n;
  const int S = layout.shared, M = layout.block;
  LaneSeries& r = c.residual;
  const D no_noise;
  work.products.compute(
      1, n - 1, {{0, S + M, 0, S + M}}, [&](int64_t t, float* x) __attribute__((always_inline)) {
        second_columns<false>(c, others, t, F{}, lanes::sqrt(inside(c.u(t), c.w(t))), x);
      });
  const Fit first = work.products.solve(layout.terms(others, false), static_cast<double>(n - 2), &no_noise);
  const F floor = c.residual_floor =
      larger(c.floor * c.per_second, lanes::sqrt(first.unexplained.narrow()) * kOwnFloor);
  const F first_scale = geometric_mean(
      1, n - 1, floor, [&](int64_t t) __attribute__((always_inline)) {
        const F rest = second_residual(c, others, first, t);
        r.set(t, rest);
        return rest;
      });

  const F rho = lag_one_correlation(r, n, first_scale * kResidualClip);
  const auto white = [&](int64_t t) { return r[t] - rho * r[t - 1]; };
  const F per_white = (1 / kResidualWeight) / geometric_mean(2, n - 1, floor, white);
  const D noise = first.unexplained * (D(1) - D(rho) * D(rho)), constant = D(1) - D(rho);
  F inside_before = inside(c.u(1), c.w(1));
  work.products.compute(
      2, n - 1, {{0, S, 0, S + 2 * M}, {S, M, S, M}, {S + M, M, S + M, M}},
      [&](int64_t t, float* x) __attribute__((always_inline)) {
        const F s = white(t) * per_white, now = inside(c.u(t), c.w(t)), weight = now * inside_before / (s * s + 1.0f);
        inside_before = now;
        second_columns<true>(c, others, t, rho, lanes::sqrt(weight), x);
      });
  const double count = static_cast<double>(n - 3);
  const Fit fit = work.products.solve(layout.terms(others, false), count, &noise, constant);
  put_coefficients(out, fit, 1);
  put_coefficients(out, work.products.solve(layout.terms(others, true), count, &noise, constant), 1);
  put_local_regression(out, work, c, others, fit, (1 / kResidualWeight) / first_scale, first.unexplained);
}

}  // namespace penn
