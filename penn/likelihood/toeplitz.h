// Gaussian vectors with a Toeplitz covariance, by the Durbin-Levinson recursion in O(n^2): one-step predictions,
// innovations and their variances v_k, so that ln N(e; 0, T) = -1/2 sum_k [ln(2 pi v_k) + u_k^2 / v_k].
#pragma once

#include <span>
#include <vector>

namespace penn {

class ToeplitzFilter {
 public:
  // e (n) -> innovations u = L^-1 e, L L^T's unit triangular factor of the covariance T_jk = gamma[|j - k|], gamma (n).
  // `other` (n) or empty: a second vector through the same L^-1. False where T is not positive definite.
  bool run(std::span<const double> gamma, std::span<const double> e, std::span<const double> other = {});

  const std::vector<double>& innovations() const { return u_; }
  const std::vector<double>& other_innovations() const { return w_; }
  const std::vector<double>& variances() const { return v_; }
  double log_density() const;  // of e

 private:
  std::vector<double> phi_, reversed_, u_, w_, v_;
};

}  // namespace penn
