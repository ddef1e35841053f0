// The names of a system and what they mean, and the translation of expressions into the graph. An expression may hold
// noises only in affine form, base + sum_k coefficient_k * noise_k; both parts are found symbolically here.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "penn/system/system.h"

namespace penn {

// base + sum coefficient * noise
struct Affine {
  NodeId base = -1;
  std::vector<std::pair<int, NodeId>> noises;  // sorted by noise
};

enum class NameKind { kParameter, kNuisance, kConstant, kDefinition, kNoise, kState };

class Scope {
 public:
  Scope(const SourceText& source, ExpressionGraph& graph) : source_(source), graph_(graph) {}

  // Refuses bad names, names of functions, and names that are already taken.
  void declare(const std::string& name, NameKind kind, int index, const Position& at);
  void define(const std::string& name, const Affine& value, const Position& at);
  void set_constant(const std::string& name, double value, const Position& at);
  // The names of all definitions, so that a use before the definition can be explained.
  void announce_definition(const std::string& name) { announced_.push_back(name); }

  // kDefinition: like kEquation, but a noise counts as used only where the definition is.
  enum class Use { kConstantOverTrajectory, kDefinition, kEquation, kObservation };
  // In kObservation a noise is an ordinary symbol (one draw per sample), so the expression need not be affine.
  Affine translate(const SyntaxTree& tree, Use use);
  // Where a noise was first used, by noise index.
  const std::map<int, Position>& used_in_equations() const { return used_in_equations_; }
  const std::map<int, Position>& used_in_observations() const { return used_in_observations_; }

 private:
  struct Name {
    NameKind kind;
    int index;
    Position at;
    Affine value;  // constants and definitions
  };
  Affine lookup(const SyntaxNode& node, Use use);
  Affine combine(const SyntaxNode& node, const SyntaxTree& tree, const std::vector<Affine>& values);
  bool varies(const Affine& value);  // along a trajectory
  [[noreturn]] void not_affine(const SyntaxNode& node, const Affine& value);
  [[noreturn]] void unknown(const SyntaxNode& node);

  const SourceText& source_;
  ExpressionGraph& graph_;
  std::map<std::string, Name> names_;
  std::vector<std::string> announced_, noise_names_;
  std::map<int, Position> used_in_equations_, used_in_observations_;
  std::vector<char> node_varies_;  // of the graph, as far as it was asked for
};

}  // namespace penn
