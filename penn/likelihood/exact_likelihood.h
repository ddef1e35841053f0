// The likelihood of a trajectory from the text of its system, for the simulation as it is (Euler-Maruyama with its
// step), where it can be computed. Which of these families a system belongs to is found from its equations:
//   linear Gaussian      drift and channels linear in the states, hidden ones too, white Gaussian noises: Kalman filter
//   linear, one state    with stable noise, or with fractional (and white) Gaussian noise, observed as it is
//   transitions          every state observed as it is, one step per sample: Gaussian, stable or fractional increments
//   of any drift measured noise       no states: Gaussian or fractional noise on a function of time
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "penn/system/system.h"

namespace penn {

// ln p(x | theta) of one trajectory. Keeps scratch memory: one for each thread.
class TrajectoryLikelihood {
 public:
  virtual ~TrajectoryLikelihood() = default;
  // theta (M), in the box of the parameters. -inf where the trajectory is impossible, never NaN.
  virtual double log_likelihood(std::span<const double> theta) = 0;
};

class LikelihoodFamily;

class ExactLikelihood {
 public:
  // Nothing where the system is in no family; why_not then says for each of them what is different.
  static std::optional<ExactLikelihood> recognise(const System& system, int observation,
                                                  std::string* why_not = nullptr);

  const std::string& family() const;  // "linear Gaussian (Kalman filter)"
  // "" where the likelihood is exact; else what is left out: after a burn-in the distribution of the first sample of a
  // nonlinear system.
  const std::string& note() const;
  // z (n, channels) and the time between two samples, as the simulator gives them.
  std::unique_ptr<TrajectoryLikelihood> of(std::span<const float> z, double sampling) const;

 private:
  explicit ExactLikelihood(std::shared_ptr<const LikelihoodFamily> family) : family_(std::move(family)) {}
  std::shared_ptr<const LikelihoodFamily> family_;
};

}  // namespace penn
