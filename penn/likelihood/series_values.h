// Expressions along a trajectory whose states are all known, node by node instead of sample by sample: what depends on
// the parameters alone is one number, what depends on the data alone is computed once, and the rest is a loop over the
// samples for each operation.
#pragma once

#include <span>
#include <vector>

#include "penn/system/expression.h"

namespace penn {

class SeriesValues {
 public:
  // states (S) of n values each; time (n); measurement noises are 0. The graph must outlive this.
  SeriesValues(const ExpressionGraph& graph, const std::vector<NodeId>& roots, std::vector<std::vector<double>> states,
               std::vector<double> time);

  void evaluate(std::span<const double> theta);

  struct View {
    const double* values;
    bool is_constant;
    double operator[](size_t k) const { return values[is_constant ? 0 : k]; }
  };
  View operator[](NodeId node) const;

 private:
  struct Step {
    NodeId node;
    bool is_series;
  };
  void compute(const Step& step, std::span<const double> theta);

  const ExpressionGraph& graph_;
  size_t n_;
  std::vector<std::vector<double>> states_, series_;  // series_[node]: one value or n
  std::vector<double> time_;
  std::vector<Step> per_theta_;
};

}  // namespace penn
