// Covariance of unit fractional Gaussian noise (fGn) at a lag: (|k+1|^2H - 2 |k|^2H + |k-1|^2H) / 2, without
// cancellation at large lags.
#pragma once

namespace penn {

double fractional_covariance(double lag, double H);

}  // namespace penn
