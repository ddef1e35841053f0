// What the scales of a model's posteriors are multiplied by. The smallest NLL is not yet the right interval: a few
// trajectories in a thousand whose truth lies far out cost so much that a network widens all its posteriors for them
// (docs/notes/recipe.md). So the last step of a training measures, on fresh trajectories, by how much, per parameter
// and length (penn/evaluate/recalibrate.h).
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "penn/system/system.h"

namespace penn {

struct Recalibration {
  std::vector<int64_t> lengths;  // rising, samples; empty: nothing is corrected
  std::vector<double> factors;   // (lengths, M)
  int64_t trajectories = 0;      // measured on so many, for each length

  bool is_empty() const { return lengths.empty(); }
  // (M) for a trajectory of n samples: logarithms are linear in ln n between the lengths, constant beyond them.
  std::vector<double> at(int64_t n) const;
};

nlohmann::ordered_json to_json(const Recalibration& recalibration);
// For M parameters; ModelError with the reason where it makes no sense.
Recalibration recalibration_from_json(const nlohmann::json& json, size_t parameters);
// The factors as a table for people: a line per length below the names of the system's parameters.
std::string describe_recalibration(const Recalibration& recalibration, const System& system);

}  // namespace penn
