#include "penn/system/expression.h"

#include <gtest/gtest.h>

#include <cmath>

#include "penn/base/error.h"
#include "penn/system/parse_expression.h"

namespace penn {
namespace {

// Value of an expression without names, evaluated straight from the syntax tree.
double value(const std::string& text) {
  const SourceText source("test", text);
  const SyntaxTree tree = parse_expression(text, source, {1, 1, 1});
  std::vector<double> values;
  for (const SyntaxNode& n : tree.nodes)
    values.push_back(n.op == Op::kNumber ? n.number
                                         : apply(n.op, values.at(static_cast<size_t>(n.a)),
                                                 n.b >= 0 ? values.at(static_cast<size_t>(n.b)) : 0));
  return values.back();
}

std::string message(const std::string& text) {
  try {
    parse_expression(text, SourceText("test", text), {1, 1, 1});
  } catch (const SystemError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(expression_test, operators_bind_as_in_mathematics) {
  EXPECT_EQ(value("1 + 2*3"), 7);
  EXPECT_EQ(value("(1 + 2)*3"), 9);
  EXPECT_EQ(value("2*3^2"), 18);
  EXPECT_EQ(value("-2^2"), -4);
  EXPECT_EQ(value("2^-1"), 0.5);
  EXPECT_EQ(value("2^3^2"), 512);
  EXPECT_EQ(value("8/4/2"), 1);
  EXPECT_EQ(value("8-4-2"), 2);
  EXPECT_EQ(value("8/4*2"), 4);
  EXPECT_EQ(value("--3"), 3);
  EXPECT_EQ(value("2*-3"), -6);
  EXPECT_EQ(value("1e-3*1E3"), 1);
  EXPECT_EQ(value(".5 + 5."), 5.5);
}

TEST(expression_test, every_function_means_what_its_name_says) {
  EXPECT_DOUBLE_EQ(value("sqrt(2)"), std::sqrt(2));
  EXPECT_DOUBLE_EQ(value("exp(1.5)"), std::exp(1.5));
  EXPECT_DOUBLE_EQ(value("log(3)"), std::log(3));
  EXPECT_DOUBLE_EQ(value("log10(1000)"), 3);
  EXPECT_DOUBLE_EQ(value("sin(pi/6)"), std::sin(M_PI / 6));
  EXPECT_DOUBLE_EQ(value("cos(1)"), std::cos(1));
  EXPECT_DOUBLE_EQ(value("tan(1)"), std::tan(1));
  EXPECT_DOUBLE_EQ(value("tanh(0.3)"), std::tanh(0.3));
  EXPECT_EQ(value("abs(-3)"), 3);
  EXPECT_EQ(value("min(2, -1)"), -1);
  EXPECT_EQ(value("max(2, -1)"), 2);
  EXPECT_EQ(value("sign(-0.1)"), -1);
  EXPECT_EQ(value("sign(0)"), 0);
  EXPECT_EQ(value("pow(2, 10)"), 1024);
  EXPECT_TRUE(std::isnan(value("max(1, sqrt(-1))")) && std::isnan(value("min(sqrt(-1), 1)")));
}

TEST(expression_test, mistakes_are_pointed_at) {
  EXPECT_EQ(message("1 + "),
            "test:1:5: the expression ends too early: a number, a name or '(' is missing\n  1 | 1 + \n    |     ^");
  EXPECT_EQ(message("(1 + 2"), "test:1:1: '(' is never closed\n  1 | (1 + 2\n    | ^");
  EXPECT_EQ(message("1 + 2)"), "test:1:6: ')' without '('\n  1 | 1 + 2)\n    |      ^");
  EXPECT_EQ(message("2 x"), "test:1:3: an operator is missing here\n  1 | 2 x\n    |   ^");
  EXPECT_EQ(message("x**2"), "test:1:3: unexpected '*'\n  1 | x**2\n    |   ^");
  EXPECT_EQ(message("sin"), "test:1:1: 'sin' is a function and needs an argument\n  1 | sin\n    | ^~~");
  EXPECT_EQ(message("min(1)"), "test:1:1: 'min' takes two arguments\n  1 | min(1)\n    | ^~~");
  EXPECT_EQ(message("sin(1, 2)"), "test:1:6: too many arguments: 'sin' takes one\n  1 | sin(1, 2)\n    |      ^");
  EXPECT_EQ(message("sinh(1)"), "test:1:1: unknown function 'sinh'\n  1 | sinh(1)\n    | ^~~~");
  EXPECT_EQ(message("x < 2"),
            "test:1:3: unexpected '<': there are no comparisons in expressions\n  1 | x < 2\n    |   ^");
  EXPECT_EQ(message(""), "test:1:1: an expression is missing\n  1 | \n    | ^");
  EXPECT_NE(message("1e999").find("too large"), std::string::npos);
}

TEST(expression_test, long_and_deep_expressions_neither_crash_nor_hang) {
  std::string sum = "1";
  for (int i = 0; i < 30000; ++i) sum += "+1";
  EXPECT_EQ(value(sum), 30001);
  EXPECT_NE(message(std::string(100000, '(')).find("nested more than 200 levels"), std::string::npos);
  EXPECT_EQ(value(std::string(199, '(') + "1" + std::string(199, ')')), 1);
  EXPECT_NE(message(std::string(99999, '-') + "1").find("nested more than"), std::string::npos);
  std::string powers = "2";
  for (int i = 0; i < 5000; ++i) powers += "^1";
  EXPECT_NE(message(powers).find("nested more than"), std::string::npos);
  EXPECT_NE(message(std::string(100001, '1')).find("more than 100000"), std::string::npos);
}

TEST(expression_test, graph_shares_equal_parts_and_folds_numbers) {
  ExpressionGraph graph;
  const NodeId x = graph.symbol(SymbolKind::kState, 0);
  EXPECT_EQ(graph.binary(Op::kAdd, x, graph.number(2)), graph.binary(Op::kAdd, x, graph.number(2)));
  EXPECT_EQ(graph.binary(Op::kMul, x, graph.number(1)), x);
  EXPECT_EQ(graph.binary(Op::kAdd, graph.number(0), x), x);
  EXPECT_EQ(graph.unary(Op::kNeg, graph.unary(Op::kNeg, x)), x);
  EXPECT_TRUE(graph.is_number(graph.binary(Op::kPow, graph.number(2), graph.number(3)), 8));
  // Whole powers are multiplied out, exactly.
  for (int exponent = -6; exponent <= 6; ++exponent) {
    const NodeId power = graph.binary(Op::kPow, x, graph.number(exponent));
    std::vector<double> values;
    graph.evaluate(values, {}, [](SymbolKind, int) { return 1.5; });
    EXPECT_NEAR(values[static_cast<size_t>(power)], std::pow(1.5, exponent), 1e-14);
    for (const GraphNode& n : graph.nodes()) EXPECT_NE(n.op, Op::kPow);
  }
}

}  // namespace
}  // namespace penn
