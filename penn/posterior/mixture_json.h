// A mixture as JSON, the form `penn infer --json` gives and other programs read:
//   {"parameters": ["tau", "D"], "weights": [..N], "means": [[..M]..N], "covariances": [[[..M]..M]..N]}
// Numbers are written so that they read back to the same double; U_j is recovered from its covariance.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "penn/posterior/gaussian_mixture.h"

namespace penn {

struct NamedMixture {
  std::vector<std::string> parameters;  // (M)
  GaussianMixture mixture;
};

nlohmann::json mixture_to_json(const GaussianMixture& q, const std::vector<std::string>& parameters);

// Other keys are ignored, so a whole `penn infer` object can be given, unless it is in probit coordinates
// (posterior.h). Throws DataError naming the entry that is wrong.
NamedMixture mixture_from_json(const nlohmann::json& json);

}  // namespace penn
