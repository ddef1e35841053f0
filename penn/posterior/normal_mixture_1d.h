// A mixture of normals on the line: the distribution of one parameter, or of one combination of parameters.
//   cdf(x) = sum_j w_j Phi((x - mu_j) / sd_j)
#pragma once

#include <cstddef>
#include <vector>

namespace penn {

class NormalMixture1d {
 public:
  // log_weights up to a common constant; sds > 0.
  NormalMixture1d(std::vector<double> log_weights, std::vector<double> means, std::vector<double> sds);

  std::size_t components() const { return means_.size(); }
  double weight(std::size_t j) const { return weights_[j]; }
  double component_mean(std::size_t j) const { return means_[j]; }
  double component_sd(std::size_t j) const { return sds_[j]; }

  double log_density(double x) const;
  double cdf(double x) const;
  double survival(double x) const;  // 1 - cdf, with its own digits in the upper tail
  double mass(double a, double b) const;

  // The x with cdf(x) = p; -inf at p = 0, +inf at p = 1, NaN for p outside [0, 1]. The answer lies between the smallest
  // and the largest component quantile, so the bracket is exact; Newton inside it, halving whenever Newton leaves.
  // At most 200 evaluations. In a gap between components the cdf is flat and p selects a point of the gap.
  double quantile(double p) const;
  double median() const { return quantile(0.5); }

  double mean() const;
  double sd() const;

 private:
  std::vector<double> log_weights_, weights_, means_, sds_;
};

}  // namespace penn
