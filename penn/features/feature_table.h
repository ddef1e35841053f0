// The table of the features: what they are called, in which order they come, how they are computed. Everything else
// walks it: the fast code (summary.cc), the reference (summary_reference.cc), the names and the scales that are given
// in three forms. To add features: add a row to feature_table.cc and write its two functions; raise kSummaryVersion.
#pragma once

#include <string>
#include <vector>

#include "penn/features/summary.h"

namespace penn {

// What a row is about: a channel, or a pair of channels.
struct Subject {
  int first = 0, second = 0;
};

class FeatureLanes;
struct LaneWorkspace;
using LaneFeatures = void(FeatureLanes&, LaneWorkspace&, Subject);

namespace reference {
struct Output;
struct Work;
using Features = void(Output&, Work&, Subject);
}  // namespace reference

// A block of features. Rows are computed in the order of the table and may use what earlier rows left in the workspace.
struct FeatureRow {
  std::vector<std::string>
      names;  // without the channel's; "*" at the end: the logarithm of a scale, see FeatureTable::log_scales
  LaneFeatures* fast;
  reference::Features* reference;
  Subject subject = {};
};

struct FeatureTable {
  std::vector<FeatureRow> rows;
  std::vector<std::string> names;  // of all features
  // Scales are given three times: as logarithm, as they are, and squared. Parameters are proportional to one of these,
  // and a network that sees only the logarithm spends most of its training on the exponential function. These are the
  // places of the logarithms; the other two forms of all of them are appended to the features in this order.
  std::vector<int> log_scales;
};

FeatureTable feature_table(const SummaryOptions& options);

}  // namespace penn
