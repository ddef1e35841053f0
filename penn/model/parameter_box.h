// The box of a system's parameters: the prior is uniform in it.
#pragma once

#include <string>
#include <vector>

#include "penn/posterior/box_component.h"
#include "penn/system/system.h"

namespace penn {

inline Box parameter_box(const System& system) {
  Box box;
  for (const Parameter& p : system.parameters) box.lo.push_back(p.range.low), box.hi.push_back(p.range.high);
  return box;
}

inline std::vector<std::string> parameter_names(const System& system) {
  std::vector<std::string> names;
  for (const Parameter& p : system.parameters) names.push_back(p.name);
  return names;
}

}  // namespace penn
