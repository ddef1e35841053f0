#include "penn/system/scope.h"

#include <fmt/core.h>

#include <algorithm>

namespace penn {
namespace {

const char* kind_name(NameKind kind) {
  switch (kind) {
    case NameKind::kParameter:
      return "parameter";
    case NameKind::kNuisance:
      return "nuisance parameter";
    case NameKind::kConstant:
      return "constant";
    case NameKind::kDefinition:
      return "definition";
    case NameKind::kNoise:
      return "noise";
    case NameKind::kState:
      return "state";
  }
  return "";
}

bool is_name(const std::string& name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && name.size() <= 64 && letter(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

}  // namespace

void Scope::declare(const std::string& name, NameKind kind, int index, const Position& at) {
  if (!is_name(name))
    source_.fail(at, fmt::format("'{}' is not a name", name),
                 "a name is a letter followed by letters, digits and _ (at most 64); Greek letters go into label");
  if (language_functions().count(name))
    source_.fail(at, fmt::format("'{}' is the name of a function", name), "choose another name");
  if (name == "pi" || name == "t")
    source_.fail(at, fmt::format("'{}' is reserved: it is {}", name, name == "pi" ? "3.14159..." : "time"),
                 "choose another name");
  const auto [it, is_new] = names_.try_emplace(name, Name{kind, index, at, {}});
  if (!is_new)
    source_.fail(at,
                 fmt::format("'{}' is already a {} (line {})", name, kind_name(it->second.kind), it->second.at.line),
                 "every name may stand for one thing only");
  if (kind == NameKind::kNoise) noise_names_.push_back(name);
}

void Scope::define(const std::string& name, const Affine& value, const Position& at) {
  declare(name, NameKind::kDefinition, 0, at);
  names_.at(name).value = value;
}

void Scope::set_constant(const std::string& name, double value, const Position& at) {
  declare(name, NameKind::kConstant, 0, at);
  names_.at(name).value.base = graph_.number(value);
}

void Scope::unknown(const SyntaxNode& node) {
  if (std::find(announced_.begin(), announced_.end(), node.name) != announced_.end())
    source_.fail(node.at, fmt::format("'{}' is used before it is defined", node.name),
                 "[define] is read from top to bottom; move the definition up");
  std::vector<std::string> candidates;
  std::string list;
  for (const auto& [name, meaning] : names_) {
    candidates.push_back(name);
    if (list.size() < 200) list += (list.empty() ? "" : ", ") + name;
  }
  const std::string close = closest_name(node.name, candidates);
  source_.fail(node.at, fmt::format("unknown name '{}'", node.name),
               (close.empty() ? "" : fmt::format("did you mean '{}'? ", close)) +
                   (list.empty() ? "no names are known yet" : "known: " + list));
}

Affine Scope::lookup(const SyntaxNode& node, Use use) {
  if (node.name == "t") {
    if (use == Use::kConstantOverTrajectory)
      source_.fail(node.at, "time cannot be used here: the value must be constant over a trajectory");
    return {graph_.symbol(SymbolKind::kTime, 0), {}};
  }
  const auto it = names_.find(node.name);
  if (it == names_.end()) unknown(node);
  const Name& name = it->second;
  if (use == Use::kConstantOverTrajectory && (name.kind == NameKind::kState || name.kind == NameKind::kNoise))
    source_.fail(node.at,
                 fmt::format("the {} '{}' cannot be used here: the value must be constant over a trajectory",
                             kind_name(name.kind), node.name),
                 "use parameters, constants and definitions made of them");
  switch (name.kind) {
    case NameKind::kParameter:
      return {graph_.symbol(SymbolKind::kParameter, name.index), {}};
    case NameKind::kNuisance:
      return {graph_.symbol(SymbolKind::kNuisance, name.index), {}};
    case NameKind::kState:
      return {graph_.symbol(SymbolKind::kState, name.index), {}};
    case NameKind::kConstant:
      return name.value;
    case NameKind::kNoise:
      if (use == Use::kObservation) {
        used_in_observations_.try_emplace(name.index, node.at);
        return {graph_.symbol(SymbolKind::kNoise, name.index), {}};
      }
      if (use == Use::kEquation) used_in_equations_.try_emplace(name.index, node.at);
      return {graph_.number(0), {{name.index, graph_.number(1)}}};
    case NameKind::kDefinition:
      break;
  }
  Affine value = name.value;
  if (use == Use::kConstantOverTrajectory && varies(value))
    source_.fail(node.at, fmt::format("'{}' cannot be used here: it changes along a trajectory", node.name),
                 "use parameters, constants and definitions made of them");
  if (use == Use::kEquation)
    for (const auto& [noise, coefficient] : value.noises) used_in_equations_.try_emplace(noise, node.at);
  if (use == Use::kObservation) {
    for (const auto& [noise, coefficient] : value.noises) {
      used_in_observations_.try_emplace(noise, node.at);
      value.base = graph_.binary(Op::kAdd, value.base,
                                 graph_.binary(Op::kMul, coefficient, graph_.symbol(SymbolKind::kNoise, noise)));
    }
    value.noises.clear();
  }
  return value;
}

bool Scope::varies(const Affine& value) {
  for (size_t i = node_varies_.size(); i < graph_.nodes().size(); ++i) {
    const GraphNode& n = graph_.nodes()[i];
    const auto operand = [&](NodeId id) { return id >= 0 && node_varies_[static_cast<size_t>(id)]; };
    node_varies_.push_back(n.op == Op::kSymbol ? n.kind == SymbolKind::kState || n.kind == SymbolKind::kTime
                                               : operand(n.a) || operand(n.b));
  }
  return !value.noises.empty() || node_varies_[static_cast<size_t>(value.base)];
}

void Scope::not_affine(const SyntaxNode& node, const Affine& value) {
  const std::string& noise = noise_names_[static_cast<size_t>(value.noises.front().first)];
  source_.fail(
      node.at, fmt::format("not affine in the noise '{}'", noise),
      fmt::format("a noise may be added, and multiplied or divided by something without noise: f + g*{}", noise));
}

Affine Scope::combine(const SyntaxNode& node, const SyntaxTree& tree, const std::vector<Affine>& values) {
  const Affine& a = values[static_cast<size_t>(node.a)];
  const Affine none{-1, {}};
  const Affine& b = node.b >= 0 ? values[static_cast<size_t>(node.b)] : none;
  const auto operand = [&](int i) -> const SyntaxNode& { return tree.nodes[static_cast<size_t>(i)]; };
  Affine result;
  switch (node.op) {
    case Op::kAdd:
    case Op::kSub: {
      result.base = graph_.binary(node.op, a.base, b.base);
      std::map<int, NodeId> sum(a.noises.begin(), a.noises.end());
      for (const auto& [noise, coefficient] : b.noises) {
        const auto [it, is_new] = sum.try_emplace(noise, coefficient);
        if (is_new && node.op == Op::kSub) it->second = graph_.unary(Op::kNeg, coefficient);
        else if (!is_new) it->second = graph_.binary(node.op, it->second, coefficient);
      }
      result.noises.assign(sum.begin(), sum.end());
      return result;
    }
    case Op::kNeg:
      result.base = graph_.unary(Op::kNeg, a.base);
      for (const auto& [noise, coefficient] : a.noises)
        result.noises.emplace_back(noise, graph_.unary(Op::kNeg, coefficient));
      return result;
    case Op::kMul:
    case Op::kDiv: {
      if (!b.noises.empty() && (node.op == Op::kDiv || !a.noises.empty()))
        not_affine(node.op == Op::kDiv ? operand(node.b) : node, b);
      const bool right = !b.noises.empty();
      const Affine& noisy = right ? b : a;
      const NodeId factor = right ? a.base : b.base;
      // 0 * noise has base 0 exactly; multiplying the zero out keeps it from becoming a term of the drift.
      const auto scaled = [&](NodeId x) {
        return graph_.is_number(x, 0) && !noisy.noises.empty() ? x
               : right                                         ? graph_.binary(node.op, factor, x)
                                                               : graph_.binary(node.op, x, factor);
      };
      result.base = scaled(noisy.base);
      for (const auto& [noise, coefficient] : noisy.noises) result.noises.emplace_back(noise, scaled(coefficient));
      return result;
    }
    default:
      if (!a.noises.empty()) not_affine(node, a);
      if (!b.noises.empty()) not_affine(node, b);
      result.base = node.b >= 0 ? graph_.binary(node.op, a.base, b.base) : graph_.unary(node.op, a.base);
      return result;
  }
}

Affine Scope::translate(const SyntaxTree& tree, Use use) {
  std::vector<Affine> values;
  values.reserve(tree.nodes.size());
  for (const SyntaxNode& node : tree.nodes) {
    if (node.op == Op::kNumber) values.push_back({graph_.number(node.number), {}});
    else if (node.op == Op::kSymbol) values.push_back(lookup(node, use));
    else values.push_back(combine(node, tree, values));
  }
  return values.back();
}

}  // namespace penn
