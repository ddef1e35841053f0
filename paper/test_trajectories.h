// The trajectories the paper shows, simulated again: its own parameters where it states them, else stated ones of the
// same kind. Fixed seeds.
#pragma once

#include <string>
#include <vector>

#include "penn/data/observation.h"
#include "penn/system/system.h"

namespace penn {

struct TestTrajectory {
  std::string name;           // "(a)", "TRAJ-1", "1"
  std::string about;          // why this one
  std::vector<double> theta;  // (M), the system's order
  int64_t length = 0;         // samples; 0: the system's
  uint64_t seed = 1;
};

// Of a shipped system: soup (Figure 2), oup (4, 5), dvdp (7, 8), cfhn (12, 13), airfoil (16).
const std::vector<TestTrajectory>& test_trajectories(const std::string& system);
// Of Figure 18, whose parameters the paper states.
TestTrajectory ablation_trajectory();

// The same trajectory whatever is observed of it. trained: lengths the model knows; down to the shortest and up to
// twice the longest a trajectory has the length it should, beyond that the nearest such.
ObservedTrajectory simulate_test(const System& system, int observation, const TestTrajectory& test, IntRange trained);

}  // namespace penn
