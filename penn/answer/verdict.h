// What a posterior says, in words: which parameters are identified, which only in combination, which not at all,
// whether several explanations fit, and whether the box cuts it off. Measured against the uniform prior: contraction =
// 1 - variance / prior variance.
#pragma once

#include <string>
#include <vector>

#include "penn/posterior/posterior.h"

namespace penn {

// identified: contraction at least 0.9 (SD below 9 % of the box's width); narrowed: at least 0.3; open: less.
enum class Knowledge { kIdentified, kNarrowed, kOpen };

struct ParameterVerdict {
  std::string name;
  double contraction = 0;  // negative where modes lie further apart than the prior is wide
  Knowledge knowledge = Knowledge::kOpen;
  double edge_low = 0, edge_high = 0;  // mass below lo + 2 % of the width, above hi - 2 %; a flat posterior has 0.02
};

// A linear combination that is identified although one of its parts (or all) are not.
struct KnownCombination {
  std::vector<size_t> parameters;
  std::vector<double> box_units;     // unit vector, for parameters divided by the width of their box
  std::vector<double> coefficients;  // own units, rounded; the first is 1
  double mean = 0, sd = 0;           // of sum coefficients * theta, exactly as printed
  double contraction = 0;
  bool all_parts_unknown = true;  // else it ties an unknown part to identified ones
  std::string text;               // "D_fgn + 0.98 D_levy"
};

struct PosteriorVerdict {
  std::vector<ParameterVerdict> parameters;
  std::vector<KnownCombination> combinations;  // at most three, best known first
  std::vector<Mode> modes;  // with at least 5 % of the weight, valleys of less than half a nat ignored
  std::vector<std::string> sentences;
  std::string text() const;  // one sentence per line
};

PosteriorVerdict posterior_verdict(const Posterior& q, const std::vector<std::string>& names);

}  // namespace penn
