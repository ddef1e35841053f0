#include "penn/noise/fractional_covariance.h"

#include <cmath>

namespace penn {

double fractional_covariance(double lag, double H) {
  const double k = std::abs(lag), a = 2 * H;
  if (k < 30) return 0.5 * (std::pow(k + 1, a) - 2 * std::pow(k, a) + std::pow(std::abs(k - 1), a));
  // (1 + 1/k)^a + (1 - 1/k)^a - 2 = 2 sum_j binomial(a, 2j) k^-2j, without the cancellation.
  double sum = 0, binomial = 1, power = 1;
  for (int j = 1; j <= 7; ++j) {
    binomial *= (a - 2 * j + 2) * (a - 2 * j + 1) / ((2 * j - 1) * (2 * j));
    power /= k * k;
    sum += binomial * power;
  }
  return std::pow(k, a) * sum;
}

}  // namespace penn
