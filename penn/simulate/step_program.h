// A System and one of its observations, made ready for stepping: everything that is constant over a trajectory becomes
// a slot (computed once per trajectory in double precision), divisions by constants become products, and what remains
// is a graph over slots, states, measurement noises and time.
#pragma once

#include <vector>

#include "penn/system/system.h"

namespace penn {

struct StepProgram {
  const System* system = nullptr;
  ExpressionGraph trajectory_graph;  // System::graph and the reciprocals added to it
  std::vector<NodeId> slots;         // in trajectory_graph
  std::vector<char> slot_marks;      // the nodes of trajectory_graph that slots, shapes and initial values need

  ExpressionGraph graph;      // over kSlot, kState, kNoise (measurement), kTime
  std::vector<NodeId> drift;  // one per state
  struct Term {
    int state, noise;  // noise: index among driving_noises
    NodeId coefficient;
  };
  std::vector<Term> diffusion;
  std::vector<NodeId> channels;  // of the observation
  std::vector<int> driving_noises,
      measurement_noises;     // indices into System::noises; kNoise symbols index the second list
  std::vector<char> is_held;  // states advanced by Euler-Maruyama and held during the stages of rk4
};

// `system` must outlive the program.
StepProgram make_step_program(const System& system, int observation);

}  // namespace penn
