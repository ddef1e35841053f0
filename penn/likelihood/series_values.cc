#include "penn/likelihood/series_values.h"

#include <cmath>

namespace penn {

SeriesValues::SeriesValues(const ExpressionGraph& graph, const std::vector<NodeId>& roots,
                           std::vector<std::vector<double>> states, std::vector<double> time)
    : graph_(graph),
      n_(time.size()),
      states_(std::move(states)),
      series_(graph.nodes().size()),
      time_(std::move(time)) {
  const std::vector<char> needed = graph.reachable(roots);
  std::vector<char> has_data(needed.size(), 0), has_theta(needed.size(), 0);
  for (size_t i = 0; i < needed.size(); ++i) {
    if (!needed[i]) continue;
    const GraphNode& n = graph.nodes()[i];
    if (n.op == Op::kSymbol) {
      if (n.kind == SymbolKind::kState || n.kind == SymbolKind::kTime) has_data[i] = 1;
      if (n.kind == SymbolKind::kParameter) has_theta[i] = 1;
    } else if (n.op != Op::kNumber) {
      for (const NodeId operand : {n.a, n.b}) {
        if (operand < 0) continue;
        has_data[i] |= has_data[static_cast<size_t>(operand)];
        has_theta[i] |= has_theta[static_cast<size_t>(operand)];
      }
    }
    const Step step{static_cast<NodeId>(i), has_data[i] != 0};
    series_[i].resize(step.is_series ? n_ : 1);
    if (has_theta[i]) per_theta_.push_back(step);
    else compute(step, {});
  }
}

void SeriesValues::evaluate(std::span<const double> theta) {
  for (const Step& step : per_theta_) compute(step, theta);
}

void SeriesValues::compute(const Step& step, std::span<const double> theta) {
  const GraphNode& n = graph_[step.node];
  std::vector<double>& out = series_[static_cast<size_t>(step.node)];
  if (n.op == Op::kNumber) {
    out[0] = n.number;
  } else if (n.op == Op::kSymbol) {
    if (n.kind == SymbolKind::kState) out = states_[static_cast<size_t>(n.index)];
    else if (n.kind == SymbolKind::kTime) out = time_;
    else out[0] = n.kind == SymbolKind::kParameter ? theta[static_cast<size_t>(n.index)] : 0;
  } else {
    const View a = (*this)[n.a], b = n.b >= 0 ? (*this)[n.b] : a;
    const auto loop = [&](auto operation) {
      if (a.is_constant && !b.is_constant)
        for (size_t k = 0; k < out.size(); ++k) out[k] = operation(a.values[0], b.values[k]);
      else if (b.is_constant && !a.is_constant)
        for (size_t k = 0; k < out.size(); ++k) out[k] = operation(a.values[k], b.values[0]);
      else
        for (size_t k = 0; k < out.size(); ++k) out[k] = operation(a.values[k], b.values[k]);
    };
    switch (n.op) {
      case Op::kAdd:
        loop([](double x, double y) { return x + y; });
        break;
      case Op::kSub:
        loop([](double x, double y) { return x - y; });
        break;
      case Op::kMul:
        loop([](double x, double y) { return x * y; });
        break;
      case Op::kDiv:
        loop([](double x, double y) { return x / y; });
        break;
      case Op::kNeg:
        loop([](double x, double) { return -x; });
        break;
      case Op::kSqrt:
        loop([](double x, double) { return std::sqrt(x); });
        break;
      default:
        loop([op = n.op](double x, double y) { return apply(op, x, y); });
    }
  }
}

SeriesValues::View SeriesValues::operator[](NodeId node) const {
  const std::vector<double>& values = series_[static_cast<size_t>(node)];
  return {values.data(), values.size() == 1 && n_ != 1};
}

}  // namespace penn
