// penn info: what is in a system.
#include <fmt/format.h>

#include <memory>

#include "penn/cli/commands.h"
#include "penn/system/system.h"

namespace penn {

void add_command_info(CLI::App& app, Run& run) {
  auto what = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("info", "Print what a system file says, as it was understood");
  command->add_option("SYSTEM", *what, "System file or name of a shipped system")->required();
  command->callback([what, &run] {
    run = [what] {
      fmt::print("{}", describe_system(find_system(*what)));
      return 0;
    };
  });
}

}  // namespace penn
