// The exact posterior of an Ornstein-Uhlenbeck process with white noise, observed without error: the yardstick for
// trained networks. Euler-Maruyama with m steps of dt between samples makes the samples an AR(1) process: with r = 1 -
// dt/tau,
//   x_{k+1} = a x_k + e_k,  a = r^m,  Var e = V (1 - a^2),  V = D / (1 - dt/(2 tau)),  x' = -x/tau + sqrt(2 D/tau) B'.
// The likelihood depends on the data through four sums; the posterior is normalised on a grid over the box of the
// parameters.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace penn {

// tau and D of a point of the box (two parameters, uniform prior).
struct OuProcess {
  double low[2], high[2];
  std::function<void(const double theta[2], double& tau, double& D)> map;
  double step = 0.01;             // dt
  int64_t steps_per_sample = 10;  // m
  int64_t burn_in = 0;            // samples since x = 0, where the process was started
};

class OuPosterior {
 public:
  // x (n): the samples. `grid`: intervals per axis where the mass lies, even; 64 give ln evidence to 5e-4 or better.
  OuPosterior(const OuProcess& process, const float* x, int64_t n, int grid = 64);

  double log_likelihood(const double theta[2]) const;
  double log_density(const double theta[2]) const {
    return log_likelihood(theta) - log_evidence_;
  }                                                      // of the posterior, own units
  double log_evidence() const { return log_evidence_; }  // ln of the likelihood integrated over the box
  // Mean and covariance (row-major 2 x 2) of the posterior.
  void moments(double mean[2], double covariance[4]) const;

 private:
  struct Window {
    double low, high;
  };
  double integrate(double moments[5]) const;
  Window shrink(Window window, const std::function<double(double)>& log_value, double& peak) const;
  Window second_axis() const { return {process_.low[1], process_.high[1]}; }

  OuProcess process_;
  int grid_;
  int64_t n_;
  double first_, sum00_ = 0, sum01_ = 0, sum11_ = 0;  // x_0; sums of x_k x_k, x_k x_{k+1}, x_{k+1} x_{k+1}
  Window first_axis_;                                 // of the first parameter, where the mass lies
  double peak_ = 0, log_evidence_ = 0;
};

}  // namespace penn
