#include "penn/density/ou_posterior.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace penn {

OuPosterior::OuPosterior(const OuProcess& process, const float* x, int64_t n, int grid) : process_(process), grid_(grid), n_(n), first_(x[0]) {
  for (int64_t k = 0; k + 1 < n; ++k) {
    const double a = x[k], b = x[k + 1];
    sum00_ += a * a;
    sum01_ += a * b;
    sum11_ += b * b;
  }
  cell_ = cell_with_mass();
  double unused[5];
  log_evidence_ = std::log(integrate(cell_, grid_, peak_, unused)) + peak_;
}

double OuPosterior::log_likelihood(const double theta[2]) const {
  double tau, D;
  process_.map(theta, tau, D);
  const double r = 1 - process_.step / tau, a = std::pow(r, static_cast<double>(process_.steps_per_sample));
  const double V = D / (1 - process_.step / (2 * tau));
  // Started at 0 a burn-in ago, the first sample has not quite reached the stationary variance.
  const double first_variance = process_.burn_in > 0 ? V * (1 - std::pow(a * a, static_cast<double>(process_.burn_in))) : V;
  const double innovation = V * (1 - a * a);
  const double transitions = static_cast<double>(n_ - 1);
  const double residual = sum11_ - 2 * a * sum01_ + a * a * sum00_;
  return -0.5 * (std::log(2 * std::numbers::pi * first_variance) + first_ * first_ / first_variance) -
         0.5 * (transitions * std::log(2 * std::numbers::pi * innovation) + residual / innovation);
}

// Simpson's rule for exp(log likelihood - shift) over a cell, and the first and second moments of theta under it.
double OuPosterior::integrate(const Cell& cell, int grid, double shift, double moments[5]) const {
  std::fill(moments, moments + 5, 0.0);
  const auto simpson = [grid](int i) { return i == 0 || i == grid ? 1.0 : i % 2 ? 4.0 : 2.0; };
  const double area = cell.size[0] * cell.size[1] / (9.0 * grid * grid);
  double sum = 0;
  for (int i = 0; i <= grid; ++i)
    for (int j = 0; j <= grid; ++j) {
      const double theta[2] = {cell.low[0] + i * cell.size[0] / grid, cell.low[1] + j * cell.size[1] / grid};
      const double weight = simpson(i) * simpson(j) * area * std::exp(log_likelihood(theta) - shift);
      sum += weight;
      moments[0] += weight * theta[0];
      moments[1] += weight * theta[1];
      moments[2] += weight * theta[0] * theta[0];
      moments[3] += weight * theta[0] * theta[1];
      moments[4] += weight * theta[1] * theta[1];
    }
  return sum;
}

// Shrinks the box, grid by grid, to the rectangle where the likelihood is within e^-30 of its peak.
OuPosterior::Cell OuPosterior::cell_with_mass() {
  constexpr int grid = 32;
  Cell cell{{process_.low[0], process_.low[1]}, {process_.high[0] - process_.low[0], process_.high[1] - process_.low[1]}};
  for (int round = 0; round < 4; ++round) {
    std::vector<double> value(static_cast<size_t>(grid) * grid);
    peak_ = -std::numeric_limits<double>::infinity();
    for (int i = 0; i < grid; ++i)
      for (int j = 0; j < grid; ++j) {
        const double theta[2] = {cell.low[0] + (i + 0.5) * cell.size[0] / grid, cell.low[1] + (j + 0.5) * cell.size[1] / grid};
        value[static_cast<size_t>(i) * grid + j] = log_likelihood(theta);
        peak_ = std::max(peak_, value[static_cast<size_t>(i) * grid + j]);
      }
    int low[2] = {grid, grid}, high[2] = {-1, -1};
    for (int i = 0; i < grid; ++i)
      for (int j = 0; j < grid; ++j)
        if (value[static_cast<size_t>(i) * grid + j] > peak_ - 30) {
          low[0] = std::min(low[0], i), high[0] = std::max(high[0], i);
          low[1] = std::min(low[1], j), high[1] = std::max(high[1], j);
        }
    bool has_shrunk = false;
    for (int axis = 0; axis < 2; ++axis) {
      // One grid line more on each side, inside the old cell.
      const int begin = std::max(low[axis] - 1, 0), end = std::min(high[axis] + 2, grid);
      has_shrunk = has_shrunk || end - begin < grid * 3 / 4;
      cell.low[axis] += begin * cell.size[axis] / grid;
      cell.size[axis] *= static_cast<double>(end - begin) / grid;
    }
    if (!has_shrunk) break;
  }
  return cell;
}

void OuPosterior::moments(double mean[2], double covariance[4]) const {
  double m[5];
  const double sum = integrate(cell_, grid_, peak_, m);
  mean[0] = m[0] / sum;
  mean[1] = m[1] / sum;
  covariance[0] = m[2] / sum - mean[0] * mean[0];
  covariance[1] = covariance[2] = m[3] / sum - mean[0] * mean[1];
  covariance[3] = m[4] / sum - mean[1] * mean[1];
}

}  // namespace penn
