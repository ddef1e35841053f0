// What the two halves of the reference share. Internal.
#pragma once

#include <cmath>

#include "penn/features/definitions.h"
#include "penn/features/feature_table.h"

namespace penn::reference {

using Numbers = std::vector<double>;

inline double clamp(double x, double limit) {
  return std::clamp(x, -limit, limit);
}
inline double ramp(double x) {
  return std::clamp(x, 0.0, 1.0);
}
inline double signed_square(double x) {
  return x * std::fabs(x);
}
inline double log_positive(double x) {
  return std::log(std::max(x, 1e-36));
}

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
  Numbers residual;              // of the second regression, t = 1 .. n-2; put_residual clips it
  double residual_floor;         // smallest residual inside a logarithm
};

struct Work {
  const SummaryOptions& options;
  std::vector<Channel> channels;
  // The channels that regressions of c look at.
  std::vector<const Channel*> others(int c) const {
    const int d = static_cast<int>(channels.size());
    std::vector<const Channel*> list;
    for (int j = 0; j < others_of(d); ++j) list.push_back(&channels[other_channel(c, j, d)]);
    return list;
  }
};

// sum over t of a[t] b[t - lag] / (number of terms), for begin <= t - lag, t < end
inline double lagged(const Numbers& a, const Numbers& b, int64_t begin, int64_t end, int lag) {
  return mean(begin + lag, std::max(end, begin + lag + 1), [&](int64_t t) { return t < end ? a[t] * b[t - lag] : 0; });
}

template <size_t N>
void put_autocorrelations(Output& out, const Numbers& s, int64_t begin, int64_t end, const std::array<int, N>& lags) {
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
LogMoments log_moments(const Numbers& s, int64_t begin, int64_t end, double floor);

// Everything about the distribution of a series; returns its geometric mean.
double put_distribution(Output& out, const Numbers& s, int64_t begin, int64_t end, double floor, double unit);

}  // namespace penn::reference
