#include "penn/cli/command_info.h"

#include <fmt/core.h>

#include <memory>

#include "penn/cli/info_target.h"
#include "penn/model/model_file.h"
#include "penn/system/describe_system.h"
#include "penn/system/load_system.h"
#include "penn/system/system.h"
#include "penn/train/checkpoint.h"

namespace penn {
namespace {

int info_of_tensors(const std::string& what) {
  const SafetensorsFile file(find_model(what));
  const auto format = file.metadata().find("format");
  if (format != file.metadata().end() && format->second.starts_with("penn checkpoint")) {
    const Progress progress = read_checkpoint(what).progress;
    fmt::print("unfinished training: step {}, {:.1f} minutes, best validation NLL {}\n", progress.step,
               progress.seconds / 60,
               progress.validations > 0 ? fmt::format("{:.4f}", progress.best_nll) : "not known yet");
    return 0;
  }
  fmt::print("{}", describe_model(open_model(file)));
  return 0;
}

int info(const std::string& what) {
  const InfoTarget target = find_info_target(what);
  if (!target.tensors.empty()) return info_of_tensors(target.tensors);
  fmt::print("{}", describe_system(find_system(what)));
  if (!target.same_name.empty())
    fmt::print("\nThis is the system. A model of that name ships too: see it with `penn info {}`\n", target.same_name);
  return 0;
}

}  // namespace

void add_command_info(Command& app, Run& run) {
  auto what = std::make_shared<std::string>();
  Command command = app.add_command("info", "Print what a system or a model says, as it was understood");
  command
      .add_option("SYSTEM|MODEL", *what,
                  "System file, model file or checkpoint, or the name of a shipped system or model")
      .required();
  command.when_chosen([what, &run] { run = [what] { return info(*what); }; });
}

}  // namespace penn
