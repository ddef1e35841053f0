// A System is a checked system file: names, ranges, and every expression as a node of one graph. Plain values, no
// behaviour.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "penn/noise/noise_type.h"
#include "penn/system/expression.h"

namespace penn {

struct Range {
  double low = 0, high = 0;
  bool is_single() const { return low == high; }
};

struct IntRange {
  int64_t low = 0, high = 0;
  bool is_single() const { return low == high; }
};

// Drawn uniformly from its range for every trajectory; estimated (parameter) or not (nuisance).
struct Parameter {
  std::string name, label;  // the label is what people read: "lg τ"; by default the name
  Range range;
};

struct Noise {
  std::string name;
  const NoiseType* type = nullptr;
  std::vector<NodeId> shapes;   // one per shape of the type, constant over a trajectory
  bool is_measurement = false;  // used in [observe]: one standard draw per sample, instead of a driving noise
  std::string text;
};

struct Diffusion {
  int noise;           // index into System::noises
  NodeId coefficient;  // may depend on the state (Ito)
};

struct Initial {
  NodeId low = -1, high = -1;  // uniform in [low, high]; both the same node for a fixed value
  bool random_sign = false;    // times +1 or -1 with equal probability
};

struct State {
  std::string name, text;
  NodeId drift = -1;
  std::vector<Diffusion> diffusion;
  Initial initial;
};

struct Channel {
  std::string name, text;
  NodeId value = -1;
};

struct Observation {
  std::string name;  // empty where the file has only one
  std::vector<Channel> channels;
};

enum class Method { kEulerMaruyama, kRungeKutta4 };

struct Simulation {
  Method method = Method::kEulerMaruyama;
  double step = 0;               // the largest step; see steps_per_sample
  Range sampling;                // time between samples
  int64_t steps_per_sample = 1;  // the step of a trajectory is its sampling / steps_per_sample
  IntRange burn_in;              // samples that are simulated and thrown away
  IntRange length;               // samples
};

// The scale at which the paper trained this system ([paper], optional).
struct PaperScale {
  int64_t trajectories = 0, batch = 0, epochs = 0;  // 0: not stated
};

// A claim ([exact], optional, checked) that the system is x' = -x/tau + sqrt(2 D/tau) B' with white noise B, observed
// as it is: its posterior is then known exactly (penn/posterior/ou_posterior.h) and a trained model can be compared
// with it.
struct ExactProcess {
  NodeId tau = -1, D = -1;  // expressions of the parameters
  bool is_given() const { return tau >= 0; }
};

struct System {
  std::string name, title, source_name, text;
  std::vector<Parameter> parameters, nuisance;
  std::vector<std::pair<std::string, std::string>> constants, definitions;  // name and text, for people
  std::vector<Noise> noises;
  std::vector<State> states;
  std::vector<Observation> observations;
  Simulation simulation;
  PaperScale paper;
  ExactProcess exact;
  ExpressionGraph graph;

  // The observation of that name ("" where there is only one); throws SystemError and lists the choices.
  int observation_index(const std::string& observation) const;
  int parameter_index(const std::string& parameter) const;  // -1 where there is none
};

}  // namespace penn
