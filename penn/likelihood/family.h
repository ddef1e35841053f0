// Inside penn/likelihood: what a family is, and what recognising one needs to know about expressions.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "penn/likelihood/exact_likelihood.h"

namespace penn {

inline constexpr double kNever = -std::numeric_limits<double>::infinity();  // the logarithm of a probability of 0

class LikelihoodFamily {
 public:
  LikelihoodFamily(std::string name, std::string note) : name(std::move(name)), note(std::move(note)) {}
  virtual ~LikelihoodFamily() = default;
  virtual std::unique_ptr<TrajectoryLikelihood> of(std::span<const float> z, double sampling) const = 0;
  const std::string name, note;
};

// What recognise_*() return: null, and why, where the system is not of the family. The system must outlive nothing: it
// is copied.
using Recognised = std::shared_ptr<const LikelihoodFamily>;

// Does the value change with a symbol of this kind (with this index, or any for -1)?
bool depends_on(const ExpressionGraph& graph, NodeId node, SymbolKind kind, int index = -1);

// node = intercept + sum_i slope_i symbol_i over the listed symbols, slopes and intercept free of all of them. Nothing
// where it is not. Found by derivatives; a kink or a jump (abs, sign, min, max of a symbol) has a constant slope almost
// everywhere and is refused as well.
std::optional<std::vector<NodeId>> slopes(ExpressionGraph& graph, NodeId node, const std::vector<NodeId>& symbols);

// Which channel shows which state: channel_of[state]. Nothing unless the channels are the states, each of them once.
std::optional<std::vector<size_t>> channels_of_states(const System& system, int observation);

// Points of the box of the parameters, for what must hold everywhere: uniform, inside.
std::vector<std::vector<double>> box_points(const System& system, int count);

// Values of some nodes at (theta, state, time): only what they need is evaluated.
class NodeValues {
 public:
  NodeValues(const ExpressionGraph& graph, const std::vector<NodeId>& roots)
      : graph_(graph), marks_(graph.reachable(roots)) {}
  // states may be empty: zeros then. Measurement noises are zero.
  void evaluate(std::span<const double> theta, std::span<const double> states, double time);
  double operator[](NodeId node) const { return values_[static_cast<size_t>(node)]; }

 private:
  const ExpressionGraph& graph_;
  std::vector<char> marks_;
  std::vector<double> values_;
};

// The density of a first sample that is an initial value: burn_in = 0.
//   fixed: nothing, if it does not depend on the parameters; uniform: 1 / (high - low), half of it on each side with a
//   random sign.
double log_initial_density(const Initial& initial, double low, double high, double x);

}  // namespace penn
