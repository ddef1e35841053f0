// Expressions of the system language. Text becomes a SyntaxTree (nodes with positions, for messages); the checked
// system becomes an ExpressionGraph: one list of nodes in which operands come before their users and equal nodes are
// one, so that every later pass (evaluate, translate, find coefficients) is a loop and depth costs nothing.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "penn/base/source_text.h"

namespace penn {

enum class Op : uint8_t {
  kNumber,
  kSymbol,  // leaves
  kAdd,
  kSub,
  kMul,
  kDiv,
  kPow,
  kMin,
  kMax,  // two operands
  kNeg,
  kSqrt,
  kExp,
  kLog,
  kLog10,
  kSin,
  kCos,
  kTan,
  kTanh,
  kAbs,
  kSign,  // one operand
};
bool is_binary(Op op);
bool is_unary(Op op);
const char* op_name(Op op);               // as in the language: "+", "sqrt"
double apply(Op op, double a, double b);  // the meaning of an operation, in double precision

// The functions of the language, "sqrt" -> kSqrt; pow, min, max take two arguments.
const std::map<std::string, Op>& language_functions();

struct SyntaxNode {
  Op op;
  int a = -1, b = -1;     // operands: indices of earlier nodes
  double number = 0;      // kNumber
  std::string name = {};  // kSymbol
  Position at = {};
};

struct SyntaxTree {
  std::vector<SyntaxNode> nodes;  // the last one is the whole expression
};

using NodeId = int32_t;

// What a symbol stands for; the meaning of `index` is the owner's.
enum class SymbolKind : uint8_t { kParameter, kNuisance, kState, kNoise, kTime, kSlot };

struct GraphNode {
  Op op;
  NodeId a = -1, b = -1;
  double number = 0;                         // kNumber
  SymbolKind kind = SymbolKind::kParameter;  // kSymbol
  int index = 0;                             // kSymbol
};

class ExpressionGraph {
 public:
  NodeId number(double value);
  NodeId symbol(SymbolKind kind, int index);
  // Folds numbers and trivial operations (x + 0, x * 1), multiplies out whole-number powers.
  NodeId unary(Op op, NodeId a);
  NodeId binary(Op op, NodeId a, NodeId b);

  const std::vector<GraphNode>& nodes() const { return nodes_; }
  const GraphNode& operator[](NodeId id) const { return nodes_[static_cast<size_t>(id)]; }
  bool is_number(NodeId id, double value) const { return (*this)[id].op == Op::kNumber && (*this)[id].number == value; }

  // Marks every node that the roots need, roots included.
  std::vector<char> reachable(const std::vector<NodeId>& roots) const;

  // values[id] for every marked node (all without marks); symbol(kind, index) gives the leaves.
  template <class Symbol>
  void evaluate(std::vector<double>& values, const std::vector<char>& marks, Symbol symbol) const {
    values.resize(nodes_.size());
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (!marks.empty() && !marks[i]) continue;
      const GraphNode& n = nodes_[i];
      if (n.op == Op::kNumber) values[i] = n.number;
      else if (n.op == Op::kSymbol) values[i] = symbol(n.kind, n.index);
      else values[i] = apply(n.op, values[static_cast<size_t>(n.a)], n.b >= 0 ? values[static_cast<size_t>(n.b)] : 0.0);
    }
  }

 private:
  NodeId intern(const GraphNode& node);
  NodeId whole_power(NodeId base, int exponent);
  std::vector<GraphNode> nodes_;
  std::map<std::tuple<Op, NodeId, NodeId, uint64_t, int, int>, NodeId> known_;
};

}  // namespace penn
