#include "penn/system/expression.h"

#include <bit>
#include <cmath>

namespace penn {

bool is_binary(Op op) {
  return op >= Op::kAdd && op <= Op::kMax;
}
bool is_unary(Op op) {
  return op >= Op::kNeg;
}

const char* op_name(Op op) {
  static const char* const names[] = {"number", "name", "+",   "-",     "*",   "/",   "^",   "min",  "max", "-",
                                      "sqrt",   "exp",  "log", "log10", "sin", "cos", "tan", "tanh", "abs", "sign"};
  return names[static_cast<int>(op)];
}

const std::map<std::string, Op>& language_functions() {
  static const std::map<std::string, Op> functions = {
      {"sqrt", Op::kSqrt}, {"exp", Op::kExp}, {"log", Op::kLog},   {"log10", Op::kLog10}, {"sin", Op::kSin},
      {"cos", Op::kCos},   {"tan", Op::kTan}, {"tanh", Op::kTanh}, {"abs", Op::kAbs},     {"sign", Op::kSign},
      {"min", Op::kMin},   {"max", Op::kMax}, {"pow", Op::kPow}};
  return functions;
}

double apply(Op op, double a, double b) {
  switch (op) {
    case Op::kAdd:
      return a + b;
    case Op::kSub:
      return a - b;
    case Op::kMul:
      return a * b;
    case Op::kDiv:
      return a / b;
    case Op::kPow:
      return std::pow(a, b);
    case Op::kMin:
      return b < a || std::isnan(b) ? b : a;
    case Op::kMax:
      return b > a || std::isnan(b) ? b : a;
    case Op::kNeg:
      return -a;
    case Op::kSqrt:
      return std::sqrt(a);
    case Op::kExp:
      return std::exp(a);
    case Op::kLog:
      return std::log(a);
    case Op::kLog10:
      return std::log10(a);
    case Op::kSin:
      return std::sin(a);
    case Op::kCos:
      return std::cos(a);
    case Op::kTan:
      return std::tan(a);
    case Op::kTanh:
      return std::tanh(a);
    case Op::kAbs:
      return std::abs(a);
    case Op::kSign:
      return a > 0 ? 1 : a < 0 ? -1 : a;
    case Op::kNumber:
    case Op::kSymbol:
      break;
  }
  return std::nan("");
}

NodeId ExpressionGraph::intern(const GraphNode& n) {
  const auto key =
      std::make_tuple(n.op, n.a, n.b, std::bit_cast<uint64_t>(n.number), static_cast<int>(n.kind), n.index);
  const auto [it, is_new] = known_.try_emplace(key, static_cast<NodeId>(nodes_.size()));
  if (is_new) nodes_.push_back(n);
  return it->second;
}

NodeId ExpressionGraph::number(double value) {
  return intern({.op = Op::kNumber, .number = value});
}
NodeId ExpressionGraph::symbol(SymbolKind kind, int index) {
  return intern({.op = Op::kSymbol, .kind = kind, .index = index});
}

NodeId ExpressionGraph::unary(Op op, NodeId a) {
  const GraphNode x = (*this)[a];
  if (x.op == Op::kNumber) return number(apply(op, x.number, 0));
  if (op == Op::kNeg && x.op == Op::kNeg) return x.a;
  return intern({.op = op, .a = a});
}

NodeId ExpressionGraph::binary(Op op, NodeId a, NodeId b) {
  const GraphNode x = (*this)[a], y = (*this)[b];
  if (x.op == Op::kNumber && y.op == Op::kNumber) return number(apply(op, x.number, y.number));
  switch (op) {
    case Op::kAdd:
      if (is_number(a, 0)) return b;
      if (is_number(b, 0)) return a;
      break;
    case Op::kSub:
      if (is_number(b, 0)) return a;
      if (is_number(a, 0)) return unary(Op::kNeg, b);
      break;
    case Op::kMul:
      if (is_number(a, 1)) return b;
      if (is_number(b, 1)) return a;
      break;
    case Op::kDiv:
      if (is_number(b, 1)) return a;
      break;
    case Op::kPow:
      if (y.op == Op::kNumber) {
        if (y.number == 0.5) return unary(Op::kSqrt, a);
        if (y.number == std::floor(y.number) && std::abs(y.number) <= 64) {
          const int exponent = static_cast<int>(y.number);
          const NodeId power = whole_power(a, std::abs(exponent));
          return exponent < 0 ? binary(Op::kDiv, number(1), power) : power;
        }
      }
      break;
    default:
      break;
  }
  return intern({.op = op, .a = a, .b = b});
}

NodeId ExpressionGraph::whole_power(NodeId base, int exponent) {
  if (exponent == 0) return number(1);
  if (exponent == 1) return base;
  const NodeId half = whole_power(base, exponent / 2);
  const NodeId square = binary(Op::kMul, half, half);
  return exponent % 2 ? binary(Op::kMul, square, base) : square;
}

std::vector<char> ExpressionGraph::reachable(const std::vector<NodeId>& roots) const {
  std::vector<char> marks(nodes_.size(), 0);
  for (const NodeId root : roots) marks[static_cast<size_t>(root)] = 1;
  for (size_t i = nodes_.size(); i-- > 0;) {
    if (!marks[i]) continue;
    if (nodes_[i].a >= 0) marks[static_cast<size_t>(nodes_[i].a)] = 1;
    if (nodes_[i].b >= 0) marks[static_cast<size_t>(nodes_[i].b)] = 1;
  }
  return marks;
}

}  // namespace penn
