// Constants of the statistics, shared by the fast code, the reference and the names. Changing any of them changes what
// a trained network sees: raise kSummaryVersion.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "penn/features/summary.h"

namespace penn {

inline constexpr int kMaxLag = 256;
inline constexpr int kMaxChannels = 8;
inline constexpr int kMaxBins = 16;

// Trajectories are worked on as y = z * 2^-k with 2^k near the value scale: differences stay as exact as the data are.
inline constexpr float kClip = 8388608.0f;  // of |y|
inline constexpr float kTiny = 1e-18f;      // what counts as zero, in y; its square is still a normal float
inline constexpr float kFloor = 1e-7f;      // smallest size inside a logarithm, in units of the trajectory's spread
inline constexpr float kOwnFloor =
    1e-3f;  // the same for residuals and block means, in units of their own scale: smaller ones are rounding
inline constexpr float kOutputLimit = 1e4f;

// Lags of autocorrelations: of asinh-scaled increments, of asinh-scaled values, of values about their mean, ...
inline constexpr std::array kIncrementAutocorrelationLags = {1,  2,  3,  4,  5,  6,  8,  10, 12,
                                                             16, 20, 24, 32, 48, 64, 96, 128};
inline constexpr std::array kValueAutocorrelationLags = {1, 2, 4, 8, 16, 32, 64, 128, 256};
inline constexpr std::array kCentredAutocorrelationLags = {1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144};
inline constexpr std::array kInnovationAutocorrelationLags = {1,  2,  3,  4,  5,  6,  8,  10, 13,
                                                              16, 20, 26, 34, 44, 56, 72, 96, 128};
inline constexpr std::array kClippedAutocorrelationLags = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
inline constexpr std::array kResponseLags = {1, 2, 4, 8, 16, 32, 64};
inline constexpr std::array kDifferenceAutocorrelationLags = {1, 2, 3, 5, 8, 13, 21, 34, 55};
inline constexpr std::array kResidualAutocorrelationLags = {1, 2, 3, 5, 8, 13, 21, 34, 55};
inline constexpr std::array kNoiseLags = {0, 1, 2, 3, 5, 8, 13, 21, 34, 55};
inline constexpr std::array kBlocks = {2, 4, 8, 16, 32, 64, 128};
// Between channels, both signs: of centred values, increments, residuals.
inline constexpr std::array kCrossValueLags = {0, 1, 2, 4, 8, 16, 32, 64};
inline constexpr std::array kCrossIncrementLags = {0, 1, 2, 4, 8};
inline constexpr std::array kCrossResidualLags = {0, 1, 2, 4};

// A lag k fits a series of m values when half of it is left. One that does not fit gets the numbers of the longest that
// does.
inline bool lag_fits(int64_t lag, int64_t m) {
  return lag <= std::max<int64_t>(1, m / 2);
}
inline bool block_fits(int64_t block, int64_t n) {
  return n / block >= 3;
}

// The distribution of a series: knots in rho = ln(|s| / geometric mean). Between neighbours c < c' the fraction above
// is E[max(rho - c, 0) - max(rho - c', 0)] / (c' - c): an empirical distribution function with soft edges, without
// sorting. Knots below kFractionSplit give the fraction below instead, so that it is always the smaller fraction
// that is encoded.
inline constexpr std::array kKnots = {-3.0f, -2.0f, -1.4f, -0.8f, -0.4f, 0.0f, 0.3f, 0.6f,
                                      0.9f,  1.2f,  1.5f,  1.8f,  2.2f,  2.7f, 3.3f, 4.0f};
inline constexpr float kFractionSplit = 0.2f;
inline constexpr int kFractions = static_cast<int>(kKnots.size()) - 1;
inline constexpr std::array kDistributionLags = {1, 16};  // increments whose distribution is described so
inline constexpr int kPerLag = 7;                         // numbers for every lag of SummaryOptions
inline constexpr int kTop = 4;                            // largest values kept

inline constexpr float kBinReach = 1.2f;    // outermost bins of the value, in its scale
inline constexpr float kGridReach = 1.0f;   // of the grids
inline constexpr float kBinPrior = 0.25f;   // weight of the whole trajectory's mean in every bin
inline constexpr float kValueLimit = 3.0f;  // regressions leave out what lies beyond, with a soft edge
inline constexpr float kVelocityLimit = 5.0f;
inline constexpr float kRidge = 1e-4f;  // relative to a column's own square
inline constexpr float kCoefficientPrior = 10.0f;
inline constexpr float kErrorLimit =
    12.0f;  // of ln(standard error): beyond it there is nothing left to fit, or all of it
inline constexpr float kResidualWeight =
    8.0f;  // residuals beyond this many geometric means count less in the second fit
inline constexpr float kResidualClip = 12.0f;
inline constexpr float kMaxCorrelation = 0.999f;  // of neighbouring residuals
// Residuals are weighted by 1/(kNoiseWeight + u^2) where noise that is added and noise that multiplies u are told
// apart.
inline constexpr float kNoiseWeight = 0.1f, kNoiseRidge = 1e-3f;

// Columns of the regressions: own monomials and three per other channel. One more column, the response, makes a
// multiple of 3.
inline constexpr int kSecondOwn = 8;        // 1 u u^2 u^3 w uw u^2w u^4w
inline constexpr int kFirstOwn = 5;         // 1 u u^2 u^3 u^5
inline constexpr float kCubeFloor = 1e-4f;  // smallest increment of u^3 inside a logarithm
inline constexpr int kCubicOwn = 5;         // 1 u u^2 u^3 du
inline constexpr int kLocalOwn = 4;         // 1 x w xw about the trajectory's mean; two responses
inline constexpr int kMaxOthers = 3;
inline int others_of(int64_t channels) {
  return static_cast<int>(std::min<int64_t>(channels - 1, kMaxOthers));
}
// The j-th other channel of channel c: its neighbours in cyclic order.
inline int other_channel(int c, int j, int64_t channels) {
  return static_cast<int>((c + 1 + j) % channels);
}

// A channel's scale in units of y.
struct ChannelUnits {
  double power;  // y = z * power
  double location, value, velocity, second, third;
};
inline ChannelUnits units_of(const ChannelScale& s) {
  const double power = std::exp2(-std::round(std::log2(s.value)));
  return {power, s.location * power, s.value * power, s.velocity * power, s.second * power, s.third * power};
}

// Of a feature that is the logarithm of a scale; its own square stays below 1e8: see kOutputLimit.
inline double scale_from_log(double x) {
  return std::exp(std::min(x, 9.0));
}

}  // namespace penn
