#include "penn/cli/command_recalibrate.h"

#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <set>

#include "penn/base/error.h"
#include "penn/cli/outputs.h"
#include "penn/cli/progress.h"
#include "penn/evaluate/recalibrate.h"

namespace penn {
namespace {

struct RecalibrateCommand {
  std::string model, output;
  int64_t count = 24000;
  std::vector<int64_t> lengths;
  int threads = 0;
  bool force = false;
};

int recalibrate_model(const RecalibrateCommand& o) {
  const std::filesystem::path file = find_model(o.model);
  std::error_code ignored;
  if (!o.force && std::filesystem::exists(o.output, ignored))
    throw ModelError(fmt::format("'{}' exists", o.output), "choose another name, or replace it with --force");
  check_outputs({o.output}, {file.string()});
  Model model = open_model(file);
  const IntRange trained = model.info.lengths;
  const std::set<int64_t> given(o.lengths.begin(), o.lengths.end());
  RecalibrationOptions options{.lengths = {given.begin(), given.end()}, .count = o.count, .threads = o.threads};
  for (const int64_t length : given)
    if (length < trained.low || length > trained.high)
      fmt::print(stderr, "warning: {} samples; the model was trained on {} to {}\n", length, trained.low, trained.high);
  catch_interrupts();
  std::optional<Recalibration> recalibration;
  {
    ProgressBar bar("recalibrating", o.count);
    options.progress = [&](int64_t done, int64_t) {
      bar.update(done);
      return !is_interrupted();
    };
    recalibration = recalibrate(model, options);
  }
  if (!recalibration) {
    fmt::print("stopped; nothing was written\n");
    return 130;
  }
  model.info.recalibration = *recalibration;
  save_model(o.output, model);
  fmt::print("{}: scales of the posteriors times, measured on {} fresh trajectories of each length,\n{}", o.output,
             recalibration->trajectories, describe_recalibration(*recalibration, model.system));
  if (!trained.is_single() && recalibration->lengths.size() == 1)
    fmt::print("these factors are used at every length\n");
  warn_of_wrong_scales(*recalibration);
  return 0;
}

}  // namespace

void add_command_recalibrate(Command& app, Run& run) {
  auto options = std::make_shared<RecalibrateCommand>();
  Command command = app.add_command(
      "recalibrate",
      "Recalibrate the scales of a model's posteriors on fresh trajectories, as `penn train` does at its end");
  command.add_option("MODEL", options->model, "Model file or name of a shipped model").required();
  command.add_option("-o,--output", options->output, "Model file to write").required();
  command.add_option("-n,--count", options->count, "Number of trajectories, over all lengths")
      .between(1000, 1000000)
      .show_default();
  command
      .add_option("--length", options->lengths,
                  "Samples per trajectory, one length or several, with commas (default: the ends and the middle of the "
                  "trained range)")
      .with_commas()
      .between(2, 1000000000);
  command.add_option("--threads", options->threads, "Number of threads (default: one per processor)").between(1, 1024);
  command.add_flag("--force", options->force, "Replace an existing file");
  command.when_chosen([options, &run] { run = [options] { return recalibrate_model(*options); }; });
}

}  // namespace penn
