// Finding system files by name, and choosing one of their observations.
#pragma once

#include "penn/system/system.h"

namespace penn {

// What a command line names: FILE, NAME of a shipped system, either followed by :OBSERVATION.
struct SystemChoice {
  System system;
  int observation = 0;
};
SystemChoice load_system(const std::string& what);
System find_system(const std::string& what);  // the same without need to choose an observation

}  // namespace penn
