// See summary_reference.h. The order of the numbers is that of feature_names.cc.
#include "penn/summary/summary_reference.h"

#include <cmath>

#include "penn/summary/definitions.h"

namespace penn {
namespace {

using Numbers = std::vector<double>;

double clamp(double x, double limit) { return std::clamp(x, -limit, limit); }
double ramp(double x) { return std::clamp(x, 0.0, 1.0); }
double signed_square(double x) { return x * std::fabs(x); }
double log_positive(double x) { return std::log(std::max(x, 1e-36)); }

// Mean of f(t) over begin <= t < end.
template <class Function>
double mean(int64_t begin, int64_t end, Function f) {
  double sum = 0;
  for (int64_t t = begin; t < end; ++t) sum += f(t);
  return sum / static_cast<double>(end - begin);
}

struct Output {
  Numbers numbers;
  void put(double x) { numbers.push_back(std::isfinite(x) ? clamp(x, kOutputLimit) : 0.0); }
  void repeat(size_t count) {  // the last `count` numbers once more
    for (size_t i = 0; i < count; ++i) numbers.push_back(numbers[numbers.size() - count]);
  }
};

// A channel and what the channels around it need of it. Series are indexed by the time of the sample.
struct Channel {
  int64_t n;
  ChannelUnits unit;
  Numbers y, u;                  // in units of 2^k; about the location in units of the value scale
  double centre, spread, floor;  // mean, mean |y - mean|, smallest size inside a logarithm
  Numbers centred;               // (y - mean)/spread, clipped to 6
  Numbers increment;             // asinh(increment / geometric mean), from t = 1
  Numbers w, a;                  // velocity and second difference at t = 1 .. n-2, in their units, clipped to 1e6
  Numbers residual;              // of the second regression, t = 1 .. n-2, clipped
};

// sum over t of a[t] b[t - lag] / (number of terms), for begin <= t - lag, t < end
double lagged(const Numbers& a, const Numbers& b, int64_t begin, int64_t end, int lag) {
  return mean(begin + lag, std::max(end, begin + lag + 1), [&](int64_t t) { return t < end ? a[t] * b[t - lag] : 0; });
}

template <size_t N>
void put_memory(Output& out, const Numbers& s, int64_t begin, int64_t end, const std::array<int, N>& lags) {
  const double square = lagged(s, s, begin, end, 0);
  for (const int lag : lags) {
    if (lag_fits(lag, end - begin)) out.put(lagged(s, s, begin, end, lag) / (square + 1e-30));
    else out.repeat(1);
  }
}

// Mean and standard deviation of ln max(|s|, floor).
struct LogMoments {
  double mean, deviation;
};
LogMoments log_moments(const Numbers& s, int64_t begin, int64_t end, double floor) {
  const auto log_size = [&](int64_t t) { return std::log(std::max(std::fabs(s[t]), floor)); };
  const double m = mean(begin, end, log_size);
  return {m, std::sqrt(mean(begin, end, [&](int64_t t) { return std::pow(log_size(t) - m, 2); }))};
}

void put_shares(Output& out, const Numbers& s, int64_t begin, int64_t end, double floor, double log_scale) {
  for (int i = 0; i < kShares; ++i) {
    const double low = kKnots[i], high = kKnots[i + 1];
    const double below = mean(begin, end, [&](int64_t t) {
      const double rho = std::log(std::max(std::fabs(s[t]), floor)) - log_scale;
      return ramp((high - rho) / (high - low));
    });
    out.put(std::sqrt(low < kShareSplit ? below : std::max(1 - below, 0.0)));  // the root spreads small shares
  }
}

double log_rms(const Numbers& s, int64_t begin, int64_t end) {
  return 0.5 * log_positive(mean(begin, end, [&](int64_t t) { return s[t] * s[t]; }));
}
double asymmetry(const Numbers& s, int64_t begin, int64_t end, double scale) {
  return mean(begin, end, [&](int64_t t) { return signed_square(clamp(s[t] / scale, 4)); });
}

// Everything about the distribution of a series; returns its geometric mean.
double put_law(Output& out, const Numbers& s, int64_t begin, int64_t end, double floor, double unit) {
  const LogMoments m = log_moments(s, begin, end, floor);
  out.put(m.mean - std::log(unit));
  out.put(log_rms(s, begin, end) - std::log(unit));
  out.put(m.deviation);
  out.put(asymmetry(s, begin, end, std::exp(m.mean)));
  put_shares(out, s, begin, end, floor, m.mean);
  Numbers size;
  for (int64_t t = begin; t < end; ++t) size.push_back(std::max(std::fabs(s[t]), floor));
  std::sort(size.rbegin(), size.rend());
  for (int i = 0; i < kTop; ++i) out.put(std::log(size[std::min<size_t>(i, size.size() - 1)]) - m.mean);
  return std::exp(m.mean);
}

void put_values(Output& out, Channel& c) {
  const int64_t n = c.n;
  c.spread = mean(0, n, [&](int64_t t) { return std::fabs(c.y[t] - c.centre); });
  c.floor = std::max<double>(kFloor * c.spread, kTiny);
  const double scale = std::max<double>(c.spread, kTiny);
  c.centred.resize(n);
  for (int64_t t = 0; t < n; ++t) c.centred[t] = clamp((c.y[t] - c.centre) / scale, 6);
  const auto units = [&](double y) { return std::asinh(3 * (y - c.unit.location) / c.unit.value); };
  out.put(units(c.centre));
  out.put(std::log(scale / c.unit.value));
  out.put(mean(0, n, [&](int64_t t) { return signed_square(clamp(c.centred[t], 4)); }));
  out.put(units(*std::min_element(c.y.begin(), c.y.end())));
  out.put(units(*std::max_element(c.y.begin(), c.y.end())));
  out.put(units(c.y.front()));
  out.put(units(c.y.back()));
  for (const int power : {2, 4, 6})
    out.put(std::log(mean(0, n, [&](int64_t t) { return std::pow(clamp(c.u[t], 4), power); }) + 1e-12));
}

// y(t) - y(t - k), from t = k; for k = 0 the value about the location.
Numbers increments(const Channel& c, int k) {
  Numbers d(c.n);
  for (int64_t t = k; t < c.n; ++t) d[t] = c.y[t] - (k == 0 ? c.unit.location : c.y[t - k]);
  return d;
}

void put_lags(Output& out, const Channel& c, const std::vector<int>& lags) {
  for (const int k : lags) {
    if (!lag_fits(k, c.n)) {
      out.repeat(kPerLag);
      continue;
    }
    const Numbers d = increments(c, k);
    const LogMoments m = log_moments(d, k, c.n, c.floor);
    const double scale = std::exp(m.mean);
    const auto size = [&](int64_t t) { return std::fabs(d[t]) / scale; };
    double largest = c.floor;
    for (int64_t t = k; t < c.n; ++t) largest = std::max(largest, std::fabs(d[t]));
    out.put(m.mean - std::log(c.unit.value));
    out.put(log_rms(d, k, c.n) - std::log(c.unit.value));
    out.put(m.deviation);
    out.put(std::sqrt(mean(k, c.n, [&](int64_t t) { return ramp(size(t) - 3.5); })));
    out.put(mean(k, c.n, [&](int64_t t) { return std::log1p(std::pow(std::min(size(t), 1e4), 2)); }));
    out.put(std::log(largest) - m.mean);
    out.put(asymmetry(d, k, c.n, scale));
  }
  for (const int k : kLawLags) {
    if (lag_fits(k, c.n)) put_shares(out, increments(c, k), k, c.n, c.floor, log_moments(increments(c, k), k, c.n, c.floor).mean);
    else out.repeat(kShares);
  }
}

void put_memories(Output& out, Channel& c) {
  const int64_t n = c.n;
  Numbers d = increments(c, 1), x = increments(c, 0);
  const double d_scale = std::exp(log_moments(d, 1, n, c.floor).mean), x_scale = std::exp(log_moments(x, 0, n, c.floor).mean);
  c.increment.assign(n, 0);
  for (int64_t t = 1; t < n; ++t) c.increment[t] = std::asinh(clamp(d[t] / d_scale, 1e9));
  for (double& v : x) v = std::asinh(clamp(v / x_scale, 1e9));
  put_memory(out, c.increment, 1, n, kIncrementMemory);
  put_memory(out, x, 0, n, kValueMemory);
  put_memory(out, c.centred, 0, n, kCentredMemory);
}

// d(t) = y(t) - y(t-1) = b (x(t-1) - m) + e(t) with x = y - mean; large jumps weigh little. Then the law and memory of e, and
// where the trajectory goes after a jump.
void put_innovations(Output& out, const Channel& c) {
  const int64_t n = c.n;
  const Numbers d = increments(c, 1);
  Numbers e(n);
  const double scale = std::exp(log_moments(d, 1, n, c.floor).mean);
  double W = 0, wx = 0, wd = 0, wxx = 0, wxd = 0, xx = 0, xd = 0;
  for (int64_t t = 1; t < n; ++t) {
    const double x = c.y[t - 1] - c.centre, full_x = c.y[t - 1] - c.unit.location, w = 1 / (1 + std::pow(d[t] / (4 * scale), 2));
    W += w, wx += w * x, wd += w * d[t], wxx += w * x * x, wxd += w * x * d[t], xx += full_x * full_x, xd += full_x * d[t];
  }
  const double tiny = static_cast<double>(kTiny) * kTiny, m = wx / W;
  const double b = (wxd - m * wd) / (wxx - m * wx + 1e-6 * wxx + tiny), plain = xd / (xx + tiny);
  for (int64_t t = 1; t < n; ++t) e[t] = d[t] - b * (c.y[t - 1] - c.centre - m);
  for (const double slope : {b, plain}) out.put(std::asinh(30 * slope)), out.put(std::asinh(300 * slope));
  out.put(std::asinh(3 * (m + c.centre - c.unit.location) / c.unit.value));
  const double g = put_law(out, e, 1, n, std::max(c.floor, kOwnFloor * scale), c.unit.value);
  Numbers bent(n), clipped(n), jump(n);
  double jumps = 0.5;
  for (int64_t t = 1; t < n; ++t) {
    bent[t] = std::asinh(clamp(e[t] / g, 1e9));
    clipped[t] = clamp(e[t] / g, 3);
    const double is_jump = ramp(std::fabs(e[t]) / g / 2 - 3.5);
    jumps += is_jump;
    jump[t] = is_jump > 0 ? is_jump / e[t] : 0;
  }
  put_memory(out, bent, 1, n, kInnovationMemory);
  put_memory(out, clipped, 1, n, kClippedMemory);
  for (const int k : kResponseLags) {
    double sum = 0;
    for (int64_t t = 1; t + k < n; ++t) sum += jump[t] * (c.y[t + k] - c.y[t]);
    if (lag_fits(k, n)) out.put(std::asinh(3 * sum / jumps));
    else out.repeat(1);
  }
}

// Differences between means of neighbouring blocks.
void put_blocks(Output& out, const Channel& c) {
  const double floor = std::max(c.floor, kOwnFloor * std::exp(log_moments(increments(c, 1), 1, c.n, c.floor).mean));
  for (const int k : kBlocks) {
    if (!block_fits(k, c.n)) {
      out.repeat(2);
      continue;
    }
    Numbers block(c.n / k), step(c.n / k);
    for (size_t i = 0; i < block.size(); ++i)
      block[i] = mean(static_cast<int64_t>(i) * k, static_cast<int64_t>(i + 1) * k, [&](int64_t t) { return c.y[t]; });
    for (size_t i = 1; i < block.size(); ++i) step[i] = block[i] - block[i - 1];
    const LogMoments m = log_moments(step, 1, static_cast<int64_t>(block.size()), floor);
    out.put(m.mean - std::log(c.unit.value));
    out.put(m.deviation);
  }
}

// Membership of bin i of `count` equidistant ones in [-reach, reach]: hats that sum to one.
double hat(double x, int i, int count, double reach) {
  const double position = (clamp(x, reach) / reach + 1) / 2 * (count - 1);
  return std::max(0.0, 1 - std::fabs(position - i));
}

// Moments of the differences of order 1, 2 and 3 given the value, and of order 2 given value and velocity.
void put_dynamics(Output& out, const Channel& c, const SummaryOptions& options) {
  const int64_t n = c.n, begin = 2, end = n - 2;
  Numbers j(n), step(n);  // third difference and increment between t and t + 1
  for (int64_t t = 1; t + 2 < n; ++t) {
    j[t] = clamp((c.y[t + 2] - 3 * c.y[t + 1] + 3 * c.y[t] - c.y[t - 1]) / c.unit.third, 1e6);
    step[t] = clamp((c.y[t + 1] - c.y[t]) / c.unit.velocity, 1e6);
  }
  const auto jj = [&](int64_t t) { return (j[t] * j[t] + j[t - 1] * j[t - 1]) / 2; };
  const auto jv = [&](int64_t t) { return (j[t] * step[t] + j[t - 1] * step[t - 1]) / 2; };
  const auto j_next = [&](int64_t t) { return j[t] * j[t - 1]; };
  const auto ww = [&](int64_t t) { return c.w[t] * c.w[t]; };
  const auto aa = [&](int64_t t) { return c.a[t] * c.a[t]; };
  const double mean_ww = mean(begin, end, ww), mean_aa = mean(begin, end, aa), mean_jj = mean(begin, end, jj);
  const double count = static_cast<double>(end - begin);
  for (int bin = 0; bin < options.bins; ++bin) {
    const auto sum = [&](auto f) {
      return count * mean(begin, end, [&](int64_t t) { return hat(c.u[t], bin, options.bins, kBinReach) * f(t); });
    };
    const double W = sum([](int64_t) { return 1; }), wa = sum([&](int64_t t) { return c.a[t]; }), waa = sum(aa);
    const double wvv = sum(ww), wjj = sum(jj), m = wa / (W + kBinPrior);
    out.put(std::log((W + kBinPrior) / count));
    out.put(m);
    out.put(sum([&](int64_t t) { return c.a[t] * c.w[t]; }) / (wvv + kBinPrior * mean_ww + 1e-30));
    out.put(log_positive((wvv + kBinPrior * mean_ww) / (W + kBinPrior)));
    const double central = std::max(waa - 2 * m * wa + m * m * W, 1e-5 * waa);
    out.put(log_positive((central + kBinPrior * mean_aa) / (W + kBinPrior)));
    out.put(log_positive((wjj + kBinPrior * mean_jj) / (W + kBinPrior)));
    out.put(sum(jv) / (wvv + kBinPrior * mean_ww + 1e-30));
    out.put(sum(j_next) / (wjj + kBinPrior * mean_jj + 1e-30));
  }
  for (const Numbers* s : {&c.a, &c.w}) {
    put_memory(out, *s, 1, n - 1, kDifferenceMemory);
    const double square = mean(1, n - 1, [&](int64_t t) { return std::pow((*s)[t], 2); });
    out.put(log_positive(mean(1, n - 1, [&](int64_t t) { return std::pow((*s)[t], 4); })) - 2 * log_positive(square));
  }
  for (int row = 0; row < options.grid; ++row) {
    for (int column = 0; column < options.grid; ++column) {
      double W = 0, wa = 0;
      for (int64_t t = begin; t < end; ++t) {
        const double w = hat(c.u[t], row, options.grid, kGridReach) * hat(c.w[t], column, options.grid, kGridReach);
        W += w, wa += w * c.a[t];
      }
      out.put(std::log((W + kBinPrior) / count));
      out.put(wa / (W + kBinPrior));
    }
  }
}

// Least squares with ridge: (G + diag(ridge)) b = g by L D L^T; G (K, K) row-major.
Numbers solve(Numbers G, Numbers g, const Numbers& ridge) {
  const size_t K = g.size();
  for (size_t i = 0; i < K; ++i) G[i * K + i] += ridge[i];
  for (size_t i = 0; i < K; ++i) {
    for (size_t r = i + 1; r < K; ++r) {
      const double factor = G[r * K + i] / G[i * K + i];
      for (size_t s = i; s < K; ++s) G[r * K + s] -= factor * G[i * K + s];
      g[r] -= factor * g[i];
    }
  }
  for (size_t i = K; i-- > 0;) {
    for (size_t s = i + 1; s < K; ++s) g[i] -= G[i * K + s] * g[s];
    g[i] /= G[i * K + i];
  }
  return g;
}

// Weighted regression of response(t) on columns(t), begin <= t < end. noise: mean square that a coefficient of prior size
// kCoefficientPrior is weighed against.
struct Fit {
  Numbers b;
  double unexplained;  // weighted mean square of the response less what the fit explains
};
template <class Columns, class Weight, class Response>
Fit regress(int64_t begin, int64_t end, Columns columns, Weight weight, Response response, double noise) {
  const size_t K = columns(begin).size();
  const double count = static_cast<double>(end - begin);
  Numbers G(K * K), g(K), ridge(K);
  double total = 0, square = 0;
  for (int64_t t = begin; t < end; ++t) {
    const Numbers x = columns(t);
    const double w = weight(t), r = response(t);
    for (size_t i = 0; i < K; ++i) {
      for (size_t s = 0; s < K; ++s) G[i * K + s] += w * x[i] * x[s] / count;
      g[i] += w * x[i] * r / count;
    }
    total += w / count, square += w * r * r / count;
  }
  for (size_t i = 0; i < K; ++i)
    ridge[i] = kRidge * G[i * K + i] + (noise < 0 ? square / (total + 1e-6) : noise) / (kCoefficientPrior * kCoefficientPrior * count) + 1e-30;
  Fit fit{solve(G, g, ridge), square};
  for (size_t i = 0; i < K; ++i) fit.unexplained -= fit.b[i] * g[i];
  fit.unexplained = std::max(fit.unexplained, 1e-5 * square) / (total + 1e-6);
  return fit;
}

Numbers own_and_others(Numbers own, const std::vector<const Channel*>& others, int64_t t, bool velocity) {
  for (const Channel* other : others) {
    const double u = clamp(other->u[t], kValueLimit);
    own.push_back(u);
    own.push_back(velocity ? clamp(other->w[t], kVelocityLimit) : u * u);
    own.push_back(u * u * u);
  }
  return own;
}

// The increment regressed on monomials of the value before it; jumps weigh little.
void put_first_regression(Output& out, const Channel& c, const std::vector<const Channel*>& others) {
  Numbers d(c.n);
  for (int64_t t = 0; t + 1 < c.n; ++t) d[t] = c.y[t + 1] - c.y[t];
  const double scale = std::exp(log_moments(d, 0, c.n - 1, c.floor).mean);
  const auto columns = [&](int64_t t) {
    const double u = clamp(c.u[t], kValueLimit);
    return own_and_others({1, u, u * u, u * u * u, u * u * u * u * u}, others, t, false);
  };
  const auto weight = [&](int64_t t) { return ramp(2 * (kValueLimit - std::fabs(c.u[t]))) / (1 + std::pow(d[t] / (4 * scale), 2)); };
  const auto response = [&](int64_t t) { return clamp(d[t] / c.unit.velocity, 1e6); };
  const Fit fit = regress(0, c.n - 1, columns, weight, response, -1);
  for (const double b : fit.b) out.put(std::asinh(3 * b));
  out.put(log_positive(fit.unexplained));
}

// Least squares of two terms from their sums: a c + b s = y0, b c + d s = y1, with a little ridge.
struct TwoTerms {
  double constant, slope;
};
TwoTerms two_terms(double a, double b, double d, double y0, double y1) {
  a += kNoiseRidge * a, d += kNoiseRidge * d;
  const double determinant = a * d - b * b + 1e-30;
  return {(y0 * d - y1 * b) / determinant, (y1 * a - y0 * b) / determinant};
}

// The second difference regressed on monomials of value and velocity, twice: the second fit knows that neighbouring residuals are
// correlated (both sides are freed of rho times their neighbour: Cochrane and Orcutt) and trusts large ones less. Then the
// law of the residual r, its memory, that of the noise added and of the noise that multiplies the value, and its roughness.
void put_second_regression(Output& out, Channel& c, const std::vector<const Channel*>& others) {
  const int64_t n = c.n, begin = 1, end = n - 1;
  const auto columns = [&](int64_t t) {
    const double u = clamp(c.u[t], kValueLimit), w = clamp(c.w[t], kVelocityLimit);
    return own_and_others({1, u, u * u, u * u * u, w, u * w, u * u * w, u * u * u * u * w}, others, t, true);
  };
  const auto inside = [&](int64_t t) { return ramp(2 * (kValueLimit - std::fabs(c.u[t]))) * ramp(kVelocityLimit - std::fabs(c.w[t])); };
  const auto response = [&](int64_t t) { return c.a[t]; };
  Numbers r(n);
  const auto set_residual = [&](const Numbers& b) {
    for (int64_t t = begin; t < end; ++t) {
      r[t] = c.a[t];
      const Numbers x = columns(t);
      for (size_t i = 0; i < b.size(); ++i) r[t] -= b[i] * x[i];
    }
  };
  const Fit first = regress(begin, end, columns, inside, response, 0);
  const double floor = std::max(c.floor / c.unit.second, kOwnFloor * std::sqrt(first.unexplained));
  set_residual(first.b);
  const double first_scale = std::exp(log_moments(r, begin, end, floor).mean), scale = kResidualWeight * first_scale;
  const double limit = kResidualClip * first_scale;
  const double product = mean(begin + 1, end, [&](int64_t t) { return clamp(r[t], limit) * clamp(r[t - 1], limit); });
  const double squares = mean(begin + 1, end, [&](int64_t t) { return (std::pow(clamp(r[t], limit), 2) + std::pow(clamp(r[t - 1], limit), 2)) / 2; });
  const double rho = std::clamp<double>(product / (squares + 1e-36), 0, kMaxCorrelation);
  Numbers white(n);
  for (int64_t t = begin + 1; t < end; ++t) white[t] = r[t] - rho * r[t - 1];
  const double white_scale = kResidualWeight * std::exp(log_moments(white, begin + 1, end, floor).mean);
  const auto white_columns = [&](int64_t t) {
    Numbers x = columns(t);
    const Numbers before = columns(t - 1);
    for (size_t i = 0; i < x.size(); ++i) x[i] -= rho * before[i];
    return x;
  };
  const Fit fit = regress(begin + 1, end, white_columns, [&](int64_t t) { return inside(t) * inside(t - 1) / (1 + std::pow(white[t] / white_scale, 2)); },
                          [&](int64_t t) { return c.a[t] - rho * c.a[t - 1]; }, first.unexplained * (1 - rho * rho));
  set_residual(fit.b);
  for (const double b : fit.b) out.put(std::asinh(b));
  // The dynamics near where this trajectory lives: linear about its own mean, in the second difference and in what is left of it.
  const auto local_columns = [&](int64_t t) {
    const auto local = [&](const Channel& channel) { return clamp((channel.y[t] - channel.centre) / channel.unit.value, kValueLimit); };
    const double x = local(c);
    Numbers all = {1, x, clamp(c.w[t], kVelocityLimit), x * clamp(c.w[t], kVelocityLimit)};
    for (const Channel* other : others) {
      all.push_back(local(*other));
      all.push_back(clamp(other->w[t], kVelocityLimit));
      all.push_back(x * local(*other));
    }
    return all;
  };
  const auto local_weight = [&](int64_t t) {
    const double x = (c.y[t] - c.centre) / c.unit.value;
    return ramp(2 * (kValueLimit - std::fabs(x))) * ramp(kVelocityLimit - std::fabs(c.w[t])) / (1 + std::pow(r[t] / scale, 2));
  };
  const Fit near_mean = regress(begin, end, local_columns, local_weight, response, first.unexplained);
  const Fit left = regress(begin, end, local_columns, local_weight, [&](int64_t t) { return r[t]; }, first.unexplained);
  for (const double b : near_mean.b) out.put(std::asinh(b));
  for (int64_t t = begin; t < end; ++t)
    for (size_t i = 0; i < left.b.size(); ++i) r[t] -= left.b[i] * local_columns(t)[i];
  const double g = put_law(out, r, begin, end, floor, 1);
  Numbers u(n), weight(n), by_u(n), by_uu(n), r_weight(n), r_by_u(n);
  for (int64_t t = begin; t < end; ++t) {
    r[t] = clamp(r[t], kResidualClip * g);
    u[t] = clamp(c.u[t], kValueLimit);
    weight[t] = 1 / (kNoiseWeight + u[t] * u[t]);
    by_u[t] = weight[t] * u[t], by_uu[t] = by_u[t] * u[t];
    r_weight[t] = weight[t] * r[t], r_by_u[t] = by_u[t] * r[t];
  }
  c.residual = r;
  const double square = lagged(r, r, begin, end, 0) + 1e-36;
  for (const int k : kResidualMemory) {
    if (lag_fits(k, end - begin)) out.put(lagged(r, r, begin, end, k) / square);
    else out.repeat(1);
  }
  // r = eta + u xi: E r(t) r(t-k) = C_eta(k) + u(t) u(t-k) C_xi(k), by weighted least squares for each k.
  for (const int k : kNoiseLags) {
    if (!lag_fits(k, end - begin)) {
      out.repeat(2);
      continue;
    }
    const auto product = [&](const Numbers& s) { return lagged(s, s, begin, end, k); };
    const TwoTerms c = two_terms(product(weight), product(by_u), product(by_uu), product(r_weight), product(r_by_u));
    out.put(std::asinh(4 * c.constant / square));
    out.put(std::asinh(4 * c.slope / square));
  }
  // The squared step q of the residual: its mean, with the weights u^2, W and W u^2, and its weighted fit by 1 and u^2.
  const auto q = [&](int64_t t) { return std::pow(r[t] - r[t - 1], 2) / square; };
  const auto xx = [&](int64_t t) { return u[t] * u[t]; };
  const auto W = [&](int64_t t) { return weight[t] * weight[t]; };
  const auto average = [&](auto f) { return mean(begin + 1, end, f); };
  const double Wq = average([&](int64_t t) { return W(t) * q(t); }), Wqx = average([&](int64_t t) { return W(t) * q(t) * xx(t); });
  const TwoTerms rough = two_terms(average(W), average([&](int64_t t) { return W(t) * xx(t); }),
                                   average([&](int64_t t) { return W(t) * xx(t) * xx(t); }), Wq, Wqx);
  out.put(0.5 * log_positive(square));
  for (const double x : {average(q), average([&](int64_t t) { return q(t) * xx(t); }), Wq, Wqx}) out.put(std::log(x + 1e-12));
  for (const double b : {rough.constant, rough.slope}) out.put(std::asinh(10 * b)), out.put(std::log(std::max(b, 1e-5)));
}

template <size_t N>
void put_cross(Output& out, const Numbers& a, const Numbers& b, int64_t begin, int64_t end, const std::array<int, N>& lags) {
  const double scale = std::sqrt(lagged(a, a, begin, end, 0) * lagged(b, b, begin, end, 0)) + 1e-30;
  for (const int k : lags) {
    if (!lag_fits(k, end - begin)) {
      out.repeat(2);
      continue;
    }
    out.put(lagged(a, b, begin, end, k) / scale);             // the first follows
    if (k > 0) out.put(lagged(b, a, begin, end, k) / scale);  // the second follows
  }
}

void put_pair(Output& out, const Channel& a, const Channel& b, int grid) {
  put_cross(out, a.centred, b.centred, 0, a.n, kCrossValueLags);
  put_cross(out, a.increment, b.increment, 1, a.n, kCrossIncrementLags);
  put_cross(out, a.residual, b.residual, 1, a.n - 1, kCrossResidualLags);
  const double count = static_cast<double>(a.n - 2);
  for (int row = 0; row < grid; ++row) {
    for (int column = 0; column < grid; ++column) {
      double W = 0, wa = 0, wb = 0;
      for (int64_t t = 1; t < a.n - 1; ++t) {
        const double w = hat(a.u[t], row, grid, kGridReach) * hat(b.u[t], column, grid, kGridReach);
        W += w, wa += w * a.a[t], wb += w * b.a[t];
      }
      out.put(std::log((W + kBinPrior) / count));
      out.put(wa / (W + kBinPrior));
      out.put(wb / (W + kBinPrior));
    }
  }
}

}  // namespace

std::vector<double> summary_reference(const SummaryOptions& options, const SummaryScaling& scaling, const float* z, int64_t n) {
  const int64_t d = static_cast<int64_t>(options.channels.size());
  std::vector<Channel> channels(d);
  for (int64_t i = 0; i < d; ++i) {
    Channel& c = channels[i];
    c.n = n;
    c.unit = units_of(scaling.channels[i]);
    for (int64_t t = 0; t < n; ++t) {
      c.y.push_back(clamp(z[t * d + i] * c.unit.power, kClip));
      c.u.push_back((c.y[t] - c.unit.location) / c.unit.value);
    }
    c.w.assign(n, 0), c.a.assign(n, 0);
    for (int64_t t = 1; t + 1 < n; ++t) {
      c.w[t] = clamp((c.y[t + 1] - c.y[t - 1]) / (2 * c.unit.velocity), 1e6);
      c.a[t] = clamp((c.y[t + 1] - 2 * c.y[t] + c.y[t - 1]) / c.unit.second, 1e6);
    }
  }
  for (Channel& c : channels) c.centre = mean(0, n, [&](int64_t t) { return c.y[t]; });
  Output out;
  for (int64_t i = 0; i < d; ++i) {
    std::vector<const Channel*> others;
    for (int j = 0; j < others_of(d); ++j) others.push_back(&channels[other_channel(static_cast<int>(i), j, d)]);
    Channel& c = channels[i];
    put_values(out, c);
    put_lags(out, c, options.lags);
    put_memories(out, c);
    put_innovations(out, c);
    put_blocks(out, c);
    put_dynamics(out, c, options);
    put_first_regression(out, c, others);
    put_second_regression(out, c, others);
  }
  for (int64_t i = 0; i < d; ++i)
    for (int64_t j = i + 1; j < d; ++j) put_pair(out, channels[i], channels[j], options.pair_grid);
  return out.numbers;
}

}  // namespace penn
