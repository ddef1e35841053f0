// What `penn info WHAT` is about. A file is what its content says, whatever its name; a name is a shipped system, or
// else a shipped model.
#pragma once

#include <string>

namespace penn {

struct InfoTarget {
  std::string tensors;    // path of a model or checkpoint; "" where a system is meant
  std::string same_name;  // a system is meant, and a shipped model has its name: path of that model
};

// Looks, but opens and checks nothing: whether the file can be read shows later.
InfoTarget find_info_target(const std::string& what);

}  // namespace penn
