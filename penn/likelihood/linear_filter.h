// The Kalman filter of a linear system under its own scheme. With x' = A x + b + G dB and a step h,
//   x -> (1 + h A) x + h b + N(0, h G G^T),   y = C x + c + D e,  e standard normal:
// steps are composed exactly, the burn-in too, so that a stationary start arises by itself. Measurement noises are
// states that live for one sample; channels are taken one after the other, which needs no inverse and shows where a
// channel is known beforehand.
#pragma once

#include <Eigen/Cholesky>
#include <memory>
#include <string>
#include <vector>

#include "penn/likelihood/family.h"

namespace penn {

inline constexpr int kMostFilterStates = 16;  // with measurement noises

using FilterMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kMostFilterStates, kMostFilterStates>;
using FilterVector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kMostFilterStates, 1>;

// Coefficients of a linear system as nodes of its graph.
struct LinearSystem {
  System system;
  std::vector<std::vector<NodeId>> A;                // (S, S)
  std::vector<int> driving;                          // noises of the system; G's columns
  std::vector<std::vector<NodeId>> C;                // (d, S + q): of the states, then of the measurement noises
  std::vector<NodeId> channels;                      // (d): their values with states and noises zero are c
  bool matrices_vary = false, offsets_vary = false;  // with time
  bool starts_seen = false;  // no burn-in, every state seen as it is: the first sample is the initial state
  std::vector<size_t> channel_of;
};

// x -> F x + c + N(0, Q)
struct GaussianMap {
  FilterMatrix F, Q;
  FilterVector c;
};
GaussianMap compose(const GaussianMap& second, const GaussianMap& first);
GaussianMap power(const GaussianMap& map, int64_t count);

class LinearFilter final : public TrajectoryLikelihood {
 public:
  LinearFilter(std::shared_ptr<const LinearSystem> linear, std::span<const float> z, double sampling);
  double log_likelihood(std::span<const double> theta) override;
  // Mean and covariance at the first sample before it is seen; the part of the covariance that is left of the initial
  // values' spread.
  void start(std::span<const double> theta, FilterVector& mean, FilterMatrix& covariance, FilterMatrix& of_spread);

 private:
  void set_coefficients(std::span<const double> theta, double time);  // step_, C_ and offsets
  void advance(std::span<const double> theta, int64_t sample, FilterVector& mean, FilterMatrix& P);
  bool see(size_t channel, double y, FilterVector& mean, FilterMatrix& P, const FilterVector& prior,
           double& log_density);

  std::shared_ptr<const LinearSystem> linear_;
  std::vector<double> z_;
  Eigen::Index S_, q_;
  size_t d_;
  double sampling_, dt_;
  NodeValues values_;
  GaussianMap step_, per_sample_;
  FilterMatrix C_;
  FilterVector c_;
  std::vector<FilterVector> gain_;  // of every channel, as last computed
  std::vector<double> variance_;    // of every channel's innovation; 0: known beforehand
};

}  // namespace penn
