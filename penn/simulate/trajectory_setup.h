// What is drawn or computed once per trajectory, before the first step: parameters, burn-in, sampling interval, initial
// state, shapes of noises and slots. Plain double precision; a few microseconds at most.
#pragma once

#include <vector>

#include "penn/base/random.h"
#include "penn/simulate/step_program.h"

namespace penn {

struct Trajectory {
  std::vector<float> theta;  // parameters, as stored and as simulated
  std::vector<double> nuisance;
  double sampling = 0;
  std::vector<double> initial;              // one per state
  std::vector<std::vector<double>> shapes;  // of every noise of the system
  std::vector<double> slots;
};

class TrajectorySetup {
 public:
  // `fixed` holds one entry per parameter, then per nuisance parameter: NaN where it is to be drawn.
  TrajectorySetup(const StepProgram& program, std::vector<double> fixed) : p_(program), fixed_(std::move(fixed)) {}

  int64_t burn_in(const RandomKey& key) const;  // samples
  // Throws SystemError where a shape falls outside its domain.
  void draw(const RandomKey& key, Trajectory& trajectory) const;

 private:
  const StepProgram& p_;
  std::vector<double> fixed_;
};

}  // namespace penn
