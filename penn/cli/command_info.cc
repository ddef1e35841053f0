// penn info: what is in a system or a model, and what the machine does with it.
#include <fmt/format.h>

#include <memory>

#include "penn/cli/commands.h"
#include "penn/system/system.h"
#ifdef PENN_HAVE_TORCH
#include "penn/model/model_file.h"
#include "penn/network/blas.h"
#include "penn/train/checkpoint.h"
#endif

namespace penn {
namespace {

int info(const std::string& what) {
#ifdef PENN_HAVE_TORCH
  if (what.ends_with(".checkpoint")) {
    const Progress progress = read_checkpoint(what).progress;
    fmt::print("unfinished training: step {}, {:.1f} minutes, best validation NLL {}\n", progress.step, progress.seconds / 60,
               progress.validations > 0 ? fmt::format("{:.4f}", progress.best_nll) : "not known yet");
    return 0;
  }
  if (what.ends_with(".safetensors")) {
    fmt::print("{}\nMachine\n  {}\n", describe_model(open_model(find_model(what))), blas_report());
    return 0;
  }
#endif
  fmt::print("{}", describe_system(find_system(what)));
  return 0;
}

}  // namespace

void add_command_info(CLI::App& app, Run& run) {
  auto what = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("info", "Print what a system or a model says, as it was understood");
  command->add_option("SYSTEM|MODEL", *what, "System file, name of a shipped system, model file (.safetensors) or checkpoint")->required();
  command->callback([what, &run] { run = [what] { return info(*what); }; });
}

}  // namespace penn
