// See feature_table.h.
#include "penn/features/feature_table.h"

#include <fmt/format.h>

#include "penn/features/definitions.h"
#include "penn/features/dynamics_features.h"
#include "penn/features/innovation_features.h"
#include "penn/features/pair_features.h"
#include "penn/features/regression_features.h"
#include "penn/features/regression_reference.h"
#include "penn/features/residual_features.h"
#include "penn/features/summary_reference.h"
#include "penn/features/value_features.h"

namespace penn {
namespace {

using Names = std::vector<std::string>;

// Names from a pattern: {0} runs through `outer`, {1} faster through `inner`.
template <class Outer>
Names each(const std::string& pattern, const Outer& outer, const Names& inner = {""}) {
  Names names;
  for (const auto& x : outer)
    for (const auto& y : inner) names.push_back(fmt::format(fmt::runtime(pattern), x, y));
  return names;
}
Names join(const std::vector<Names>& parts) {
  Names names;
  for (const Names& part : parts) names.insert(names.end(), part.begin(), part.end());
  return names;
}
Names cells(int grid) {
  Names names;
  for (int i = 0; i < grid * grid; ++i) names.push_back(fmt::format("cell {},{}", i / grid + 1, i % grid + 1));
  return names;
}
std::vector<int> numbers_to(int last) {
  std::vector<int> numbers;
  for (int i = 1; i <= last; ++i) numbers.push_back(i);
  return numbers;
}
Names fractions() {
  Names names;
  for (int i = 0; i < kFractions; ++i)
    names.push_back(fmt::format("fraction {} {:.3g}", kKnots[i] < kFractionSplit ? "below" : "above",
                                std::exp((kKnots[i] + kKnots[i + 1]) / 2)));
  return names;
}
Names distribution(const std::string& of) {
  return each(
      of + " {}",
      join({{"log scale*", "log rms*", "log spread", "asymmetry"}, fractions(), each("largest {}", numbers_to(kTop))}));
}
// Coefficients of a regression on own terms and on terms of other channels, then their standard errors.
Names coefficients(const std::string& of, const Names& own, const Names& others, const Names& of_others) {
  const Names terms = join({own, each("{1} of {0}", others, of_others)});
  return join({each(of + " on {}", terms), each("log error of " + of + " on {}", terms)});
}
template <class Lags>
Names correlations(const std::string& of, const Lags& lags) {
  std::vector<int> both_signs;
  for (const int k : lags) {
    both_signs.push_back(k);
    if (k > 0) both_signs.push_back(-k);
  }
  return each(of + " correlation {}", both_signs);
}

std::vector<FeatureRow> channel_rows(const SummaryOptions& options, const Names& others) {
  return {{{"mean", "log spread", "asymmetry", "minimum", "maximum", "first", "last", "log 2nd moment*",
            "log 4th moment*", "log 6th moment*"},
           put_values,
           reference::put_values},
          {join({each("lag {} {}", options.lags,
                      {"log scale*", "log rms*", "log spread", "fraction above 4", "growth", "largest", "asymmetry"}),
                 each("lag {} {}", kDistributionLags, fractions())}),
           put_lags, reference::put_lags},
          {join({each("increment autocorrelation {}", kIncrementAutocorrelationLags),
                 each("value autocorrelation {}", kValueAutocorrelationLags),
                 each("centred value autocorrelation {}", kCentredAutocorrelationLags)}),
           put_all_autocorrelations, reference::put_all_autocorrelations},
          {join({{"robust slope", "robust slope, fine", "slope", "slope, fine", "rest point"},
                 distribution("innovation"),
                 each("innovation autocorrelation {}", kInnovationAutocorrelationLags),
                 each("clipped innovation autocorrelation {}", kClippedAutocorrelationLags),
                 each("response {} after jumps", kResponseLags)}),
           put_innovations, reference::put_innovations},
          {each("block {} {}", kBlocks, {"log scale*", "log spread"}), put_blocks, reference::put_blocks},
          {each("bin {} {}", numbers_to(options.bins),
                {"log fraction", "2nd difference", "2nd difference on velocity", "log velocity square",
                 "log 2nd difference square", "log 3rd difference square", "3rd difference on velocity",
                 "3rd difference autocorrelation"}),
           put_bins, reference::put_bins},
          {join({each("2nd difference autocorrelation {}", kDifferenceAutocorrelationLags),
                 {"2nd difference log kurtosis"},
                 each("velocity autocorrelation {}", kDifferenceAutocorrelationLags),
                 {"velocity log kurtosis"}}),
           put_differences, reference::put_differences},
          {each("{} {}", cells(options.grid), {"log fraction", "2nd difference"}), put_grid, reference::put_grid},
          {join({coefficients("increment", {"1", "u", "u^2", "u^3", "u^5"}, others, {"u", "u^2", "u^3"}),
                 {"increment log unexplained"}}),
           put_first_regression, reference::put_first_regression},
          {join({coefficients("increment of u^3", {"1", "u", "u^2", "u^3", "du"}, others, {"u", "du", "u^3"}),
                 {"increment of u^3 log unexplained"}}),
           put_cubic_regression, reference::put_cubic_regression},
          {join({coefficients("2nd difference", {"1", "u", "u^2", "u^3", "w", "u w", "u^2 w", "u^4 w"}, others,
                              {"u", "w", "u^3"}),
                 coefficients("2nd difference",
                              {"1 (past)", "u (past)", "u^2 (past)", "u^3 (past)", "w-", "u w-", "u^2 w-", "u^4 w-"},
                              others, {"u (past)", "w-", "u^3 (past)"}),
                 coefficients("local 2nd difference", {"1", "x", "w", "x w"}, others, {"x", "w", "x x"})}),
           put_second_regression, reference::put_second_regression},
          {join({distribution("residual"), each("residual autocorrelation {}", kResidualAutocorrelationLags),
                 each("residual {1} noise autocorrelation {0}", kNoiseLags, {"added", "multiplied"}),
                 each("residual {}", Names{"log size", "log roughness", "log roughness by value",
                                           "log roughness near 0", "log roughness far from 0", "roughness at 0",
                                           "log roughness at 0", "roughness on u^2", "log roughness on u^2"})}),
           put_residual, reference::put_residual}};
}

std::vector<FeatureRow> pair_rows(const SummaryOptions& options, const std::string& first, const std::string& second) {
  return {{join({correlations("value", kCrossValueLags), correlations("increment", kCrossIncrementLags),
                 correlations("residual", kCrossResidualLags)}),
           put_correlations, reference::put_correlations},
          {each("{} {}", cells(options.pair_grid),
                {"log fraction", "2nd difference of " + first, "2nd difference of " + second}),
           put_pair_grid, reference::put_pair_grid}};
}

}  // namespace

FeatureTable feature_table(const SummaryOptions& options) {
  FeatureTable table;
  Names scales;  // without the word "log"
  const auto add = [&](const std::string& about, Subject subject, std::vector<FeatureRow> rows) {
    for (FeatureRow& row : rows) {
      for (std::string name : row.names) {
        if (name.back() == '*') {
          name.pop_back();
          table.log_scales.push_back(static_cast<int>(table.names.size()));
          scales.push_back(fmt::format("{} {}", about, std::string(name).erase(name.find("log "), 4)));
        }
        table.names.push_back(fmt::format("{} {}", about, name));
      }
      row.subject = subject;
      table.rows.push_back(std::move(row));
    }
  };
  const Names& channels = options.channels;
  const int d = static_cast<int>(channels.size());
  for (int c = 0; c < d; ++c) {
    Names others;
    for (int j = 0; j < others_of(d); ++j) others.push_back(channels[other_channel(c, j, d)]);
    add(channels[c], {c, c}, channel_rows(options, others));
  }
  for (int i = 0; i < d; ++i)
    for (int j = i + 1; j < d; ++j)
      add(fmt::format("{} and {}", channels[i], channels[j]), {i, j}, pair_rows(options, channels[i], channels[j]));
  for (const std::string& scale : scales) {
    table.names.push_back(scale);
    table.names.push_back(scale + " squared");
  }
  return table;
}

}  // namespace penn
