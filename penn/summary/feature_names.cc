// What each number is, for people; in the order in which summary_reference.cc and the fast blocks write them.
#include <fmt/format.h>

#include <cstring>

#include "penn/summary/definitions.h"

namespace penn {
namespace {

class Names {
 public:
  explicit Names(std::vector<std::string>& list) : list_(list) {}
  void subject(std::string name) { subject_ = std::move(name); }
  void add(const std::string& text) { list_.push_back(subject_ + " " + text); }
  template <class Lags>
  void add_memory(const std::string& of, const Lags& lags) {
    for (const int k : lags) add(fmt::format("{} memory {}", of, k));
  }
  void add_shares(const std::string& of) {
    for (int i = 0; i < kShares; ++i)
      add(fmt::format("{} share {} {:.3g}", of, kKnots[i] < kShareSplit ? "below" : "above",
                      std::exp((kKnots[i] + kKnots[i + 1]) / 2)));
  }
  void add_law(const std::string& of) {
    for (const char* what : {"log scale", "log rms", "log spread", "asymmetry"}) add(of + " " + what);
    add_shares(of);
    for (int i = 1; i <= kTop; ++i) add(fmt::format("{} largest {}", of, i));
  }
  // Coefficients of a regression, then their errors.
  void add_coefficients(const std::string& of, const std::vector<std::string>& own,
                        const std::vector<std::string>& others, const std::vector<std::string>& of_others, bool errors) {
    std::vector<std::string> terms;
    for (const std::string& term : own) terms.push_back(of + " on " + term);
    for (const std::string& other : others)
      for (const std::string& term : of_others) terms.push_back(fmt::format("{} on {} of {}", of, term, other));
    for (const std::string& term : terms) add(term);
    if (errors)
      for (const std::string& term : terms) add("log error of " + term);
  }

 private:
  std::vector<std::string>& list_;
  std::string subject_;
};

void add_channel(Names& names, const SummaryOptions& options, const std::vector<std::string>& others) {
  for (const char* what : {"mean", "log spread", "asymmetry", "minimum", "maximum", "first", "last", "log 2nd moment",
                           "log 4th moment", "log 6th moment"})
    names.add(what);
  for (const int k : options.lags)
    for (const char* what : {"log scale", "log rms", "log spread", "share above 4", "growth", "largest", "asymmetry"})
      names.add(fmt::format("lag {} {}", k, what));
  for (const int k : kLawLags) names.add_shares(fmt::format("lag {}", k));
  names.add_memory("increment", kIncrementMemory);
  names.add_memory("value", kValueMemory);
  names.add_memory("centred value", kCentredMemory);
  for (const char* what : {"robust slope", "robust slope, fine", "slope", "slope, fine", "rest point"}) names.add(what);
  names.add_law("innovation");
  names.add_memory("innovation", kInnovationMemory);
  names.add_memory("clipped innovation", kClippedMemory);
  for (const int k : kResponseLags) names.add(fmt::format("response {} after jumps", k));
  for (const int k : kBlocks)
    for (const char* what : {"log scale", "log spread"}) names.add(fmt::format("block {} {}", k, what));
  for (int bin = 1; bin <= options.bins; ++bin)
    for (const char* what : {"log share", "2nd difference", "2nd difference on velocity", "log velocity square",
                             "log 2nd difference square", "log 3rd difference square", "3rd difference on velocity",
                             "3rd difference memory"})
      names.add(fmt::format("bin {} {}", bin, what));
  for (const char* what : {"2nd difference", "velocity"}) {
    names.add_memory(what, kDifferenceMemory);
    names.add(fmt::format("{} log kurtosis", what));
  }
  for (int row = 1; row <= options.grid; ++row)
    for (int column = 1; column <= options.grid; ++column)
      for (const char* what : {"log share", "2nd difference"})
        names.add(fmt::format("cell {},{} {}", row, column, what));
  names.add_coefficients("increment", {"1", "u", "u^2", "u^3", "u^5"}, others, {"u", "u^2", "u^3"}, options.errors);
  names.add("increment log unexplained");
  if (options.cubic) {
    names.add_coefficients("increment of u^3", {"1", "u", "u^2", "u^3", "du"}, others, {"u", "du", "u^3"}, options.errors);
    names.add("increment of u^3 log unexplained");
  }
  names.add_coefficients("2nd difference", {"1", "u", "u^2", "u^3", "w", "u w", "u^2 w", "u^4 w"}, others,
                         {"u", "w", "u^3"}, options.errors);
  names.add_coefficients("2nd difference",
                         {"1 (past)", "u (past)", "u^2 (past)", "u^3 (past)", "w-", "u w-", "u^2 w-", "u^4 w-"}, others,
                         {"u (past)", "w-", "u^3 (past)"}, options.errors);
  names.add_coefficients("local 2nd difference", {"1", "x", "w", "x w"}, others, {"x", "w", "x x"}, options.errors);
  names.add_law("residual");
  names.add_memory("residual", kResidualMemory);
  for (const int k : kNoiseLags)
    for (const char* what : {"added", "multiplied"}) names.add(fmt::format("residual {} noise memory {}", what, k));
  names.add("residual log size");
  for (const char* what :
       {"log roughness", "log roughness by value", "log roughness near 0", "log roughness far from 0", "roughness at 0",
        "log roughness at 0", "roughness on u^2", "log roughness on u^2"})
    names.add(fmt::format("residual {}", what));
}

}  // namespace

std::vector<std::string> summary_names(const SummaryOptions& options) {
  std::vector<std::string> list;
  Names names(list);
  const int64_t d = static_cast<int64_t>(options.channels.size());
  for (int c = 0; c < d; ++c) {
    std::vector<std::string> others;
    for (int j = 0; j < others_of(d); ++j) others.push_back(options.channels[other_channel(c, j, d)]);
    names.subject(options.channels[c]);
    add_channel(names, options, others);
  }
  for (int i = 0; i < d; ++i) {
    for (int j = i + 1; j < d; ++j) {
      names.subject(options.channels[i] + " and " + options.channels[j]);
      const auto add_cross = [&](const char* of, const auto& lags) {
        for (const int k : lags) {
          names.add(fmt::format("{} correlation {}", of, k));
          if (k > 0) names.add(fmt::format("{} correlation {}", of, -k));
        }
      };
      add_cross("value", kCrossValueLags);
      add_cross("increment", kCrossIncrementLags);
      add_cross("residual", kCrossResidualLags);
      for (int row = 1; row <= options.pair_grid; ++row)
        for (int column = 1; column <= options.pair_grid; ++column)
          for (const std::string& what : {std::string("log share"), "2nd difference of " + options.channels[i],
                                          "2nd difference of " + options.channels[j]})
            names.add(fmt::format("cell {},{} {}", row, column, what));
    }
  }
  const std::vector<int> logs = summary_log_scales(list);
  for (const int i : logs) {
    std::string name = list[static_cast<size_t>(i)];
    name.erase(name.find("log "), 4);
    list.push_back(name);
    list.push_back(name + " squared");
  }
  return list;
}

std::vector<int> summary_log_scales(const std::vector<std::string>& names) {
  std::vector<int> list;
  for (size_t i = 0; i < names.size(); ++i)
    for (const char* what : {" log scale", " log rms", " log 2nd moment", " log 4th moment", " log 6th moment"})
      if (names[i].size() > std::strlen(what) && names[i].compare(names[i].size() - std::strlen(what), std::string::npos, what) == 0)
        list.push_back(static_cast<int>(i));
  return list;
}

}  // namespace penn
