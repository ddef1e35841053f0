// Derivatives against central differences: every operation alone and composed, every coefficient of every shipped
// system, once and twice.
#include "penn/system/derivative.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

#include "penn/base/files.h"
#include "penn/base/random.h"
#include "penn/system/load_system.h"
#include "penn/system/system.h"

namespace penn {
namespace {

using Leaf = std::pair<SymbolKind, int>;
using Point = std::map<Leaf, double>;

double value_at(const ExpressionGraph& graph, NodeId node, const Point& at) {
  std::vector<double> values;
  graph.evaluate(values, graph.reachable({node}), [&](SymbolKind kind, int index) { return at.at({kind, index}); });
  return values[static_cast<size_t>(node)];
}

// Fourth order, h^4 f'''''/30. h is a thousandth of x, since roots and powers vary on the scale of their argument: both
// the remainder and the rounding are then about 1e-12 of the value.
double central_difference(const ExpressionGraph& graph, NodeId node, Point at, const Leaf& leaf) {
  const double x = at.at(leaf), h = 1e-3 * std::max(std::abs(x), 0.01);
  const auto moved = [&](double by) {
    at[leaf] = x + by;
    return value_at(graph, node, at);
  };
  return (8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h);
}

void expect_derivatives(ExpressionGraph& graph, NodeId node, const Point& at, const std::string& what) {
  for (const auto& [leaf, value] : at) {
    const NodeId symbol = graph.symbol(leaf.first, leaf.second), first = derivative(graph, node, symbol);
    const double scale = 1 + std::abs(value_at(graph, node, at));
    const double expected = central_difference(graph, node, at, leaf);
    ASSERT_NEAR(value_at(graph, first, at), expected, 1e-8 * (scale + std::abs(expected))) << what;
    for (const auto& [other, unused] : at) {
      const NodeId second = derivative(graph, first, graph.symbol(other.first, other.second));
      const double curvature = central_difference(graph, first, at, other);
      ASSERT_NEAR(value_at(graph, second, at), curvature, 1e-8 * (scale + std::abs(expected) + std::abs(curvature)))
          << what;
    }
  }
}

const Leaf kX{SymbolKind::kState, 0}, kA{SymbolKind::kParameter, 0}, kT{SymbolKind::kTime, 0},
    kE{SymbolKind::kNoise, 0};

TEST(derivative_test, every_operation_agrees_with_central_differences) {
  ExpressionGraph g;
  const NodeId x = g.symbol(kX.first, 0), a = g.symbol(kA.first, 0), t = g.symbol(kT.first, 0),
               e = g.symbol(kE.first, 0);
  // Both operands depend on everything, so that each rule shows both its terms; positive, and below the pole of tan.
  const NodeId sum = g.binary(Op::kAdd, g.binary(Op::kMul, x, a), g.unary(Op::kExp, g.binary(Op::kMul, t, e)));
  const NodeId left = g.binary(Op::kMul, g.number(0.3), sum);
  const NodeId right =
      g.binary(Op::kDiv, g.binary(Op::kAdd, a, g.binary(Op::kMul, t, t)), g.binary(Op::kAdd, x, g.unary(Op::kExp, e)));
  for (uint64_t repeat = 0; repeat < 20; ++repeat) {
    const RandomKey key{3, repeat, 0};
    const auto draw = [&](uint32_t i) { return 0.4 + 0.5 * key.uniform(0, i); };
    const Point at = {{kX, draw(0)}, {kA, draw(1)}, {kT, draw(2)}, {kE, draw(3)}};
    for (int op = static_cast<int>(Op::kAdd); op <= static_cast<int>(Op::kSign); ++op) {
      const Op o = static_cast<Op>(op);
      const NodeId node = is_binary(o) ? g.binary(o, left, right) : g.unary(o, left);
      expect_derivatives(g, node, at, op_name(o));
      if (is_binary(o)) expect_derivatives(g, g.binary(o, right, left), at, op_name(o));
    }
    for (const double exponent : {-3.0, -0.5, 0.5, 1.7, 5.0})
      expect_derivatives(g, g.binary(Op::kPow, left, g.number(exponent)), at, "power");
  }
}

TEST(derivative_test, negative_bases_and_arguments_are_no_obstacle) {
  ExpressionGraph g;
  const NodeId x = g.symbol(kX.first, 0), a = g.symbol(kA.first, 0);
  const Point at = {{kX, -1.3}, {kA, 0.7}};
  for (const Op op : {Op::kAbs, Op::kSign, Op::kTanh, Op::kSin}) expect_derivatives(g, g.unary(op, x), at, op_name(op));
  for (const int exponent : {2, 3, -1, 4})
    expect_derivatives(g, g.binary(Op::kPow, x, g.number(exponent)), at, "whole power");
  expect_derivatives(g, g.binary(Op::kMin, x, a), at, "min");
  expect_derivatives(g, g.binary(Op::kMax, x, a), at, "max");
}

TEST(derivative_test, results_are_simplified_and_shared) {
  ExpressionGraph g;
  const NodeId x = g.symbol(kX.first, 0), a = g.symbol(kA.first, 0), exponential = g.unary(Op::kExp, x);
  EXPECT_EQ(derivative(g, x, x), g.number(1));
  EXPECT_EQ(derivative(g, a, x), g.number(0));
  EXPECT_EQ(derivative(g, g.number(3), x), g.number(0));
  EXPECT_EQ(derivative(g, exponential, x), exponential);
  EXPECT_EQ(derivative(g, g.binary(Op::kMul, a, x), x), a);
  EXPECT_EQ(derivative(g, g.binary(Op::kSub, a, g.binary(Op::kMul, g.number(3), x)), x), g.number(-3));
  const NodeId line = g.binary(Op::kDiv, g.unary(Op::kNeg, x), a);  // -x/a
  EXPECT_EQ(derivative(g, derivative(g, line, x), x), g.number(0));
  EXPECT_EQ(derivative(g, line, x), derivative(g, line, x));
  EXPECT_EQ(derivative(g, g.unary(Op::kSign, x), x), g.number(0));
}

TEST(derivative_test, depth_costs_nothing) {
  ExpressionGraph g;
  const NodeId x = g.symbol(kX.first, 0);
  NodeId nested = x;
  for (int i = 0; i < 30000; ++i) nested = g.unary(Op::kSin, nested);
  EXPECT_TRUE(std::isfinite(value_at(g, derivative(g, nested, x), {{kX, 0.5}})));
}

TEST(derivative_test, every_coefficient_of_the_shipped_systems) {
  int coefficients = 0;
  for (const std::string& name : shared_names("systems", ".toml")) {
    System system = find_system(name);
    for (uint64_t repeat = 0; repeat < 5; ++repeat) {
      const RandomKey key{5, repeat, 0};
      uint32_t draw = 0;
      Point all;  // parameters inside their range, since roots and logarithms end at its edges; small states
      for (size_t i = 0; i < system.parameters.size(); ++i) {
        const Range range = system.parameters[i].range;
        all[{SymbolKind::kParameter, static_cast<int>(i)}] =
            range.low + (0.1 + 0.8 * key.uniform(0, draw++)) * (range.high - range.low);
      }
      for (size_t i = 0; i < system.nuisance.size(); ++i) {
        const Range range = system.nuisance[i].range;
        all[{SymbolKind::kNuisance, static_cast<int>(i)}] =
            range.low + (0.1 + 0.8 * key.uniform(0, draw++)) * (range.high - range.low);
      }
      for (size_t i = 0; i < system.states.size(); ++i)
        all[{SymbolKind::kState, static_cast<int>(i)}] = 2 * key.uniform(0, draw++) - 1;
      for (const State& state : system.states) {
        std::vector<NodeId> nodes = {state.drift};
        for (const Diffusion& diffusion : state.diffusion) nodes.push_back(diffusion.coefficient);
        for (const NodeId node : nodes) {
          Point at;  // the leaves it depends on
          const std::vector<char> marks = system.graph.reachable({node});
          for (size_t i = 0; i < marks.size(); ++i)
            if (const GraphNode& leaf = system.graph.nodes()[i]; marks[i] && leaf.op == Op::kSymbol)
              at[{leaf.kind, leaf.index}] = all.at({leaf.kind, leaf.index});
          expect_derivatives(system.graph, node, at, name + ": " + state.name);
          ++coefficients;
        }
      }
    }
  }
  EXPECT_GE(coefficients, 5 * 20);
}

}  // namespace
}  // namespace penn
