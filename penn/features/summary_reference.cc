// See summary_reference.h. The order of the numbers is that of feature_table.cc. The regressions are in
// regression_reference.cc.
#include "penn/features/summary_reference.h"

#include "penn/features/reference_parts.h"

namespace penn {
namespace reference {

LogMoments log_moments(const Numbers& s, int64_t begin, int64_t end, double floor) {
  const auto log_size = [&](int64_t t) { return std::log(std::max(std::fabs(s[t]), floor)); };
  const double m = mean(begin, end, log_size);
  return {m, std::sqrt(mean(begin, end, [&](int64_t t) { return std::pow(log_size(t) - m, 2); }))};
}

namespace {

void put_fractions(Output& out, const Numbers& s, int64_t begin, int64_t end, double floor, double log_scale) {
  for (int i = 0; i < kFractions; ++i) {
    const double low = kKnots[i], high = kKnots[i + 1];
    const double below = mean(begin, end, [&](int64_t t) {
      const double rho = std::log(std::max(std::fabs(s[t]), floor)) - log_scale;
      return ramp((high - rho) / (high - low));
    });
    out.put(std::sqrt(low < kFractionSplit ? below : std::max(1 - below, 0.0)));  // the root spreads small fractions
  }
}

double log_rms(const Numbers& s, int64_t begin, int64_t end) {
  return 0.5 * log_positive(mean(begin, end, [&](int64_t t) { return s[t] * s[t]; }));
}
double asymmetry(const Numbers& s, int64_t begin, int64_t end, double scale) {
  return mean(begin, end, [&](int64_t t) { return signed_square(clamp(s[t] / scale, 4)); });
}

}  // namespace

double put_distribution(Output& out, const Numbers& s, int64_t begin, int64_t end, double floor, double unit) {
  const LogMoments m = log_moments(s, begin, end, floor);
  out.put(m.mean - std::log(unit));
  out.put(log_rms(s, begin, end) - std::log(unit));
  out.put(m.deviation);
  out.put(asymmetry(s, begin, end, std::exp(m.mean)));
  put_fractions(out, s, begin, end, floor, m.mean);
  Numbers size;
  for (int64_t t = begin; t < end; ++t) size.push_back(std::max(std::fabs(s[t]), floor));
  std::sort(size.rbegin(), size.rend());
  for (int i = 0; i < kTop; ++i) out.put(std::log(size[std::min<size_t>(i, size.size() - 1)]) - m.mean);
  return std::exp(m.mean);
}

void put_values(Output& out, Work& work, Subject at) {
  Channel& c = work.channels[at.first];
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

namespace {

// y(t) - y(t - k), from t = k; for k = 0 the value about the location.
Numbers increments(const Channel& c, int k) {
  Numbers d(c.n);
  for (int64_t t = k; t < c.n; ++t) d[t] = c.y[t] - (k == 0 ? c.unit.location : c.y[t - k]);
  return d;
}

}  // namespace

void put_lags(Output& out, Work& work, Subject at) {
  const Channel& c = work.channels[at.first];
  for (const int k : work.options.lags) {
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
  for (const int k : kDistributionLags) {
    if (lag_fits(k, c.n))
      put_fractions(out, increments(c, k), k, c.n, c.floor, log_moments(increments(c, k), k, c.n, c.floor).mean);
    else out.repeat(kFractions);
  }
}

void put_all_autocorrelations(Output& out, Work& work, Subject at) {
  Channel& c = work.channels[at.first];
  const int64_t n = c.n;
  Numbers d = increments(c, 1), x = increments(c, 0);
  const double d_scale = std::exp(log_moments(d, 1, n, c.floor).mean),
               x_scale = std::exp(log_moments(x, 0, n, c.floor).mean);
  c.increment.assign(n, 0);
  for (int64_t t = 1; t < n; ++t) c.increment[t] = std::asinh(clamp(d[t] / d_scale, 1e9));
  for (double& v : x) v = std::asinh(clamp(v / x_scale, 1e9));
  put_autocorrelations(out, c.increment, 1, n, kIncrementAutocorrelationLags);
  put_autocorrelations(out, x, 0, n, kValueAutocorrelationLags);
  put_autocorrelations(out, c.centred, 0, n, kCentredAutocorrelationLags);
}

// d(t) = y(t) - y(t-1) = b (x(t-1) - m) + e(t) with x = y - mean; large jumps weigh little. Then the distribution and
// memory of e, and where the trajectory goes after a jump.
void put_innovations(Output& out, Work& work, Subject at) {
  const Channel& c = work.channels[at.first];
  const int64_t n = c.n;
  const Numbers d = increments(c, 1);
  Numbers e(n);
  const double scale = std::exp(log_moments(d, 1, n, c.floor).mean);
  double W = 0, wx = 0, wd = 0, wxx = 0, wxd = 0, xx = 0, xd = 0;
  for (int64_t t = 1; t < n; ++t) {
    const double x = c.y[t - 1] - c.centre, full_x = c.y[t - 1] - c.unit.location,
                 w = 1 / (1 + std::pow(d[t] / (4 * scale), 2));
    W += w, wx += w * x, wd += w * d[t], wxx += w * x * x, wxd += w * x * d[t], xx += full_x * full_x,
        xd += full_x * d[t];
  }
  const double tiny = static_cast<double>(kTiny) * kTiny, m = wx / W;
  const double b = (wxd - m * wd) / (wxx - m * wx + 1e-6 * wxx + tiny), plain = xd / (xx + tiny);
  for (int64_t t = 1; t < n; ++t) e[t] = d[t] - b * (c.y[t - 1] - c.centre - m);
  for (const double slope : {b, plain}) out.put(std::asinh(30 * slope)), out.put(std::asinh(300 * slope));
  out.put(std::asinh(3 * (m + c.centre - c.unit.location) / c.unit.value));
  const double g = put_distribution(out, e, 1, n, std::max(c.floor, kOwnFloor * scale), c.unit.value);
  Numbers bent(n), clipped(n), jump(n);
  double jumps = 0.5;
  for (int64_t t = 1; t < n; ++t) {
    bent[t] = std::asinh(clamp(e[t] / g, 1e9));
    clipped[t] = clamp(e[t] / g, 3);
    const double is_jump = ramp(std::fabs(e[t]) / g / 2 - 3.5);
    jumps += is_jump;
    jump[t] = is_jump > 0 ? is_jump / e[t] : 0;
  }
  put_autocorrelations(out, bent, 1, n, kInnovationAutocorrelationLags);
  put_autocorrelations(out, clipped, 1, n, kClippedAutocorrelationLags);
  for (const int k : kResponseLags) {
    double sum = 0;
    for (int64_t t = 1; t + k < n; ++t) sum += jump[t] * (c.y[t + k] - c.y[t]);
    if (lag_fits(k, n)) out.put(std::asinh(3 * sum / jumps));
    else out.repeat(1);
  }
}

// Differences between means of neighbouring blocks.
void put_blocks(Output& out, Work& work, Subject at) {
  const Channel& c = work.channels[at.first];
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

namespace {

// Membership of bin i of `count` equidistant ones in [-reach, reach]: hats that sum to one.
double hat(double x, int i, int count, double reach) {
  const double position = (clamp(x, reach) / reach + 1) / 2 * (count - 1);
  return std::max(0.0, 1 - std::fabs(position - i));
}

}  // namespace

// Moments of the differences of order 1, 2 and 3 given the value.
void put_bins(Output& out, Work& work, Subject at) {
  const Channel& c = work.channels[at.first];
  const int bins = work.options.bins;
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
  for (int bin = 0; bin < bins; ++bin) {
    const auto sum = [&](auto f) {
      return count * mean(begin, end, [&](int64_t t) { return hat(c.u[t], bin, bins, kBinReach) * f(t); });
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
}

void put_differences(Output& out, Work& work, Subject at) {
  const Channel& c = work.channels[at.first];
  const int64_t n = c.n;
  for (const Numbers* s : {&c.a, &c.w}) {
    put_autocorrelations(out, *s, 1, n - 1, kDifferenceAutocorrelationLags);
    const double square = mean(1, n - 1, [&](int64_t t) { return std::pow((*s)[t], 2); });
    out.put(log_positive(mean(1, n - 1, [&](int64_t t) { return std::pow((*s)[t], 4); })) - 2 * log_positive(square));
  }
}

namespace {

// Means of responses given the bins of two series, and how often a cell is visited.
void put_cells(Output& out, const Numbers& first, const Numbers& second, const std::vector<const Numbers*>& responses,
               int64_t begin, int64_t end, int grid) {
  for (int cell = 0; cell < grid * grid; ++cell) {
    const auto weight = [&](int64_t t) {
      return hat(first[t], cell / grid, grid, kGridReach) * hat(second[t], cell % grid, grid, kGridReach);
    };
    const double prior = kBinPrior / static_cast<double>(end - begin), W = mean(begin, end, weight) + prior;
    out.put(std::log(W));
    for (const Numbers* x : responses) out.put(mean(begin, end, [&](int64_t t) { return weight(t) * (*x)[t]; }) / W);
  }
}

}  // namespace

void put_grid(Output& out, Work& work, Subject at) {
  const Channel& c = work.channels[at.first];
  put_cells(out, c.u, c.w, {&c.a}, 2, c.n - 2, work.options.grid);
}

void put_pair_grid(Output& out, Work& work, Subject at) {
  const Channel &a = work.channels[at.first], &b = work.channels[at.second];
  put_cells(out, a.u, b.u, {&a.a, &b.a}, 1, a.n - 1, work.options.pair_grid);
}

namespace {

template <size_t N>
void put_cross(Output& out, const Numbers& a, const Numbers& b, int64_t begin, int64_t end,
               const std::array<int, N>& lags) {
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

}  // namespace

void put_correlations(Output& out, Work& work, Subject at) {
  const Channel &a = work.channels[at.first], &b = work.channels[at.second];
  put_cross(out, a.centred, b.centred, 0, a.n, kCrossValueLags);
  put_cross(out, a.increment, b.increment, 1, a.n, kCrossIncrementLags);
  put_cross(out, a.residual, b.residual, 1, a.n - 1, kCrossResidualLags);
}

}  // namespace reference

std::vector<double> summary_reference(const SummaryOptions& options, const SummaryScaling& scaling, const float* z,
                                      int64_t n) {
  using namespace reference;
  const int64_t d = static_cast<int64_t>(options.channels.size());
  Work work{options, std::vector<Channel>(d)};
  for (int64_t i = 0; i < d; ++i) {
    Channel& c = work.channels[i];
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
  for (Channel& c : work.channels) c.centre = mean(0, n, [&](int64_t t) { return c.y[t]; });
  const FeatureTable table = feature_table(options);
  Output out;
  for (const FeatureRow& row : table.rows) row.reference(out, work, row.subject);
  std::vector<double> numbers = out.numbers;
  for (const int i : table.log_scales) {
    const double s = scale_from_log(out.numbers[static_cast<size_t>(i)]);
    numbers.push_back(std::min(s, static_cast<double>(kOutputLimit)));
    numbers.push_back(std::min(s * s, static_cast<double>(kOutputLimit)));
  }
  return numbers;
}

}  // namespace penn
