#include "penn/system/derivative.h"

#include <cmath>

namespace penn {
namespace {

// The operations of the graph, with 0 and 1 taken out. The graph itself keeps 0 * x, which is NaN where x is not
// finite: a simulated trajectory that explodes must be seen to. A derivative need not keep it.
class Algebra {
 public:
  explicit Algebra(ExpressionGraph& graph) : graph_(graph) {}

  NodeId number(double value) { return graph_.number(value); }
  bool is_zero(NodeId a) const { return graph_.is_number(a, 0) || graph_.is_number(a, -0.0); }
  NodeId add(NodeId a, NodeId b) { return graph_.binary(Op::kAdd, a, b); }
  NodeId sub(NodeId a, NodeId b) { return a == b ? number(0) : graph_.binary(Op::kSub, a, b); }
  NodeId neg(NodeId a) { return is_zero(a) ? number(0) : graph_.unary(Op::kNeg, a); }
  NodeId mul(NodeId a, NodeId b) {
    if (is_zero(a) || is_zero(b)) return number(0);
    if (graph_.is_number(a, -1)) return neg(b);
    if (graph_.is_number(b, -1)) return neg(a);
    return graph_.binary(Op::kMul, a, b);
  }
  NodeId div(NodeId a, NodeId b) { return is_zero(a) ? number(0) : graph_.binary(Op::kDiv, a, b); }
  NodeId pow(NodeId a, NodeId b) { return graph_.binary(Op::kPow, a, b); }
  NodeId call(Op op, NodeId a) { return graph_.unary(op, a); }

 private:
  ExpressionGraph& graph_;
};

// d (a op b) from a' and b'; `self` is the node a op b, so that exp' = exp costs nothing.
NodeId chain_rule(Algebra& g, const GraphNode& n, NodeId self, NodeId da, NodeId db) {
  const NodeId a = n.a, b = n.b;
  switch (n.op) {
    case Op::kAdd:
      return g.add(da, db);
    case Op::kSub:
      return g.sub(da, db);
    case Op::kMul:
      return g.add(g.mul(da, b), g.mul(a, db));
    case Op::kDiv:
      return g.sub(g.div(da, b), g.div(g.mul(self, db), b));
    case Op::kPow: {  // b a^(b-1) a' + a^b ln a b', each only where it is needed: ln of a negative base would spoil the
                      // other
      const NodeId base = g.is_zero(da) ? da : g.mul(g.mul(b, g.pow(a, g.sub(b, g.number(1)))), da);
      const NodeId exponent = g.is_zero(db) ? db : g.mul(g.mul(self, g.call(Op::kLog, a)), db);
      return g.add(base, exponent);
    }
    case Op::kMin:
    case Op::kMax: {  // the step (1 + sign(b - a)) / 2 chooses b' over a' for max
      if (da == db) return da;
      const NodeId difference = n.op == Op::kMax ? g.sub(b, a) : g.sub(a, b);
      const NodeId step = g.mul(g.number(0.5), g.add(g.number(1), g.call(Op::kSign, difference)));
      return g.add(g.mul(g.sub(g.number(1), step), da), g.mul(step, db));
    }
    case Op::kNeg:
      return g.neg(da);
    case Op::kSqrt:
      return g.div(da, g.mul(g.number(2), self));
    case Op::kExp:
      return g.mul(self, da);
    case Op::kLog:
      return g.div(da, a);
    case Op::kLog10:
      return g.div(da, g.mul(g.number(std::log(10.0)), a));
    case Op::kSin:
      return g.mul(g.call(Op::kCos, a), da);
    case Op::kCos:
      return g.neg(g.mul(g.call(Op::kSin, a), da));
    case Op::kTan:
      return g.mul(g.add(g.number(1), g.mul(self, self)), da);
    case Op::kTanh:
      return g.mul(g.sub(g.number(1), g.mul(self, self)), da);
    case Op::kAbs:
      return g.mul(g.call(Op::kSign, a), da);
    case Op::kSign:
    case Op::kNumber:
    case Op::kSymbol:
      break;
  }
  return g.number(0);
}

}  // namespace

NodeId derivative(ExpressionGraph& graph, NodeId of, NodeId leaf) {
  const std::vector<char> needed = graph.reachable({of});
  Algebra algebra(graph);
  const NodeId zero = graph.number(0), one = graph.number(1);
  std::vector<NodeId> d(needed.size(), zero);  // of every node that was there before; none of the new ones is needed
  for (size_t i = 0; i < needed.size(); ++i) {
    const NodeId self = static_cast<NodeId>(i);
    const GraphNode node = graph[self];  // a copy: the list of nodes grows below
    if (self == leaf) d[i] = one;
    if (!needed[i] || node.op == Op::kNumber || node.op == Op::kSymbol) continue;
    const NodeId da = d[static_cast<size_t>(node.a)], db = node.b >= 0 ? d[static_cast<size_t>(node.b)] : zero;
    if (da != zero || db != zero) d[i] = chain_rule(algebra, node, self, da, db);
  }
  return d[static_cast<size_t>(of)];
}

}  // namespace penn
