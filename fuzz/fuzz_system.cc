// Any text as a system file: either a System comes out, which is then described and prepared for stepping, or a
// SystemError.
#include <cstdint>
#include <string>

#include "penn/base/error.h"
#include "penn/simulate/kernel.h"
#include "penn/simulate/kernel_source.h"
#include "penn/simulate/step_program.h"
#include "penn/system/describe_system.h"
#include "penn/system/parse_system.h"
#include "penn/system/system.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const penn::System system = penn::parse_system(std::string(reinterpret_cast<const char*>(data), size), "fuzz.toml");
    penn::describe_system(system);
    for (size_t i = 0; i < system.observations.size(); ++i)
      penn::kernel_source(penn::make_step_program(system, static_cast<int>(i)));
  } catch (const penn::SystemError&) {
  }
  return 0;
}
