#include "penn/posterior/ou_posterior.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace penn {

OuPosterior::OuPosterior(const OuProcess& process, const float* x, int64_t n, int grid)
    : process_(process), grid_(grid), n_(n), first_(x[0]) {
  for (int64_t k = 0; k + 1 < n; ++k) {
    const double a = x[k], b = x[k + 1];
    sum00_ += a * a;
    sum01_ += a * b;
    sum11_ += b * b;
  }
  // Along the first axis, the largest likelihood over the second.
  first_axis_ = shrink(
      {process_.low[0], process_.high[0]},
      [this](double theta0) {
        double peak;
        shrink(
            second_axis(),
            [&](double theta1) {
              const double theta[2] = {theta0, theta1};
              return log_likelihood(theta);
            },
            peak);
        return peak;
      },
      peak_);
  double unused[5];
  log_evidence_ = std::log(integrate(unused)) + peak_;
}

double OuPosterior::log_likelihood(const double theta[2]) const {
  double tau, D;
  process_.map(theta, tau, D);
  const double r = 1 - process_.step / tau, a = std::pow(r, static_cast<double>(process_.steps_per_sample));
  const double V = D / (1 - process_.step / (2 * tau));
  // Started at 0 a burn-in ago, the first sample has not quite reached the stationary variance.
  const double first_variance =
      process_.burn_in > 0 ? V * (1 - std::pow(a * a, static_cast<double>(process_.burn_in))) : V;
  const double innovation = V * (1 - a * a);
  const double transitions = static_cast<double>(n_ - 1);
  const double residual = sum11_ - 2 * a * sum01_ + a * a * sum00_;
  return -0.5 * (std::log(2 * std::numbers::pi * first_variance) + first_ * first_ / first_variance) -
         0.5 * (transitions * std::log(2 * std::numbers::pi * innovation) + residual / innovation);
}

// Simpson's rule for exp(log likelihood - peak), line by line: the posterior of a short trajectory is a thin curved
// ridge, so every value of the first parameter has a window of its own for the second. Also the first and second
// moments of theta.
double OuPosterior::integrate(double moments[5]) const {
  std::fill(moments, moments + 5, 0.0);
  const auto simpson = [this](int i) { return i == 0 || i == grid_ ? 1.0 : i % 2 ? 4.0 : 2.0; };
  const double h0 = (first_axis_.high - first_axis_.low) / grid_;
  double sum = 0;
  for (int i = 0; i <= grid_; ++i) {
    double theta[2] = {first_axis_.low + i * h0, 0}, line_peak;
    const Window window = shrink(
        second_axis(),
        [&](double theta1) {
          theta[1] = theta1;
          return log_likelihood(theta);
        },
        line_peak);
    const double h1 = (window.high - window.low) / grid_;
    for (int j = 0; j <= grid_; ++j) {
      theta[1] = window.low + j * h1;
      const double weight = simpson(i) * simpson(j) * h0 * h1 / 9 * std::exp(log_likelihood(theta) - peak_);
      sum += weight;
      moments[0] += weight * theta[0];
      moments[1] += weight * theta[1];
      moments[2] += weight * theta[0] * theta[0];
      moments[3] += weight * theta[0] * theta[1];
      moments[4] += weight * theta[1] * theta[1];
    }
  }
  return sum;
}

// Shrinks a window, grid by grid, to where a function is within 25 of its peak (e^-25 of the density is nothing).
OuPosterior::Window OuPosterior::shrink(Window window, const std::function<double(double)>& log_value,
                                        double& peak) const {
  constexpr int kPoints = 24;
  for (int round = 0; round < 6; ++round) {
    const double h = (window.high - window.low) / kPoints;
    double value[kPoints];
    for (int i = 0; i < kPoints; ++i) value[i] = log_value(window.low + (i + 0.5) * h);
    peak = *std::max_element(value, value + kPoints);
    int first = kPoints, last = -1;
    for (int i = 0; i < kPoints; ++i)
      if (value[i] > peak - 25) first = std::min(first, i), last = i;
    // One grid line more on each side, inside the old window.
    first = std::max(first - 1, 0);
    last = std::min(last + 2, kPoints);
    window = {window.low + first * h, window.low + last * h};
    if (last - first > kPoints * 3 / 4) break;
  }
  return window;
}

void OuPosterior::moments(double mean[2], double covariance[4]) const {
  double m[5];
  const double sum = integrate(m);
  mean[0] = m[0] / sum;
  mean[1] = m[1] / sum;
  covariance[0] = m[2] / sum - mean[0] * mean[0];
  covariance[1] = covariance[2] = m[3] / sum - mean[0] * mean[1];
  covariance[3] = m[4] / sum - mean[1] * mean[1];
}

}  // namespace penn
