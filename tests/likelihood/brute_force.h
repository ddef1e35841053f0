// The density of a whole trajectory by brute force. A linear system maps its noises to its samples linearly: with the
// samples for no noise and for each noise value alone, mean and covariance of everything are known, and so is the
// density.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

#include "penn/likelihood/exact_likelihood.h"
#include "penn/noise/fractional_covariance.h"
#include "penn/posterior/linear_algebra.h"

namespace penn::brute_force {

// noises (N) -> samples (n); `first` values are left out: those that are the same whatever the noise.
using Samples = std::function<std::vector<double>(const std::vector<double>& noises)>;

inline double log_normal(double x, double mean, double variance) {
  return -0.5 * (std::log(2 * std::numbers::pi * variance) + (x - mean) * (x - mean) / variance);
}

// ln N(z; mean, W K W^T), K the covariance of the noises.
template <class Values>
double log_density(const Samples& samples, size_t noises, const std::function<double(size_t, size_t)>& K,
                   const Values& z, size_t first = 0) {
  const std::vector<double> mean = samples(std::vector<double>(noises, 0.0));
  const size_t n = mean.size() - first;
  DenseMatrix W(n, noises), covariance(n, n), L;
  for (size_t j = 0; j < noises; ++j) {
    std::vector<double> unit(noises, 0.0);
    unit[j] = 1;
    const std::vector<double> column = samples(unit);
    for (size_t i = 0; i < n; ++i) W(i, j) = column[first + i] - mean[first + i];
  }
  DenseMatrix WK(n, noises);
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < noises; ++j)
      for (size_t k = 0; k < noises; ++k) WK(i, j) += W(i, k) * K(k, j);
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) covariance(i, j) = dot(WK.row(i), W.row(j));
  EXPECT_TRUE(cholesky(covariance, &L));
  std::vector<double> e(n), solved;
  double sum = 0;
  for (size_t i = 0; i < n; ++i) {
    e[i] = static_cast<double>(z[first + i]) - mean[first + i];
    sum -= 0.5 * std::log(2 * std::numbers::pi) + std::log(L(i, i));
  }
  solved = e;
  solve_cholesky(L, solved);
  return sum - 0.5 * dot(e, solved);
}

inline double white(size_t i, size_t j) {
  return i == j ? 1 : 0;
}

inline ExactLikelihood recognised(const System& system, const std::string& family, const std::string& note = "") {
  std::string why_not;
  const auto likelihood = ExactLikelihood::recognise(system, 0, &why_not);
  EXPECT_TRUE(likelihood) << why_not;
  EXPECT_NE(likelihood->family().find(family), std::string::npos) << likelihood->family();
  EXPECT_EQ(likelihood->note(), note);
  return *likelihood;
}

inline std::string reasons(const System& system) {
  std::string why_not = "recognised";
  ExactLikelihood::recognise(system, 0, &why_not);
  return why_not;
}

}  // namespace penn::brute_force
