#include "paper/train_models.h"

#include <fmt/format.h>

#include "penn/base/error.h"
#include "penn/system/load_system.h"
#include "penn/train/trainer.h"

namespace penn {

bool train_model(const Training& training, double minutes, int threads, const std::filesystem::path& model,
                 const TrainProgress& progress) {
  const SystemChoice choice = load_system(training.system);
  TrainRun run;
  run.model = model;
  run.threads = threads;
  bool go_on = true;
  run.should_stop = [&] { return !go_on; };
  run.options = preset_options("fast", choice.system);
  run.options.minutes = minutes;
  run.options.recalibration = 0;  // what is compared are the networks themselves
  run.options.components = training.components;
  run.options.covariance = training.full ? "full" : "diagonal";
  if (training.trajectories > 0) run.options.dataset = std::to_string(training.trajectories);
  run.options.lengths = {choice.system.simulation.length.high, choice.system.simulation.length.high};
  std::error_code ignored;
  if (std::filesystem::exists(checkpoint_path(model), ignored)) {
    const Checkpoint begun = read_checkpoint(checkpoint_path(model));
    const std::vector<std::string> differing = differing_options(run.options, begun.options);
    if (!differing.empty() || begun.system_text != choice.system.text)
      throw ModelError(fmt::format("'{}' was begun with other options{}{}", checkpoint_path(model).string(),
                                   differing.empty() ? "" : ": ", fmt::join(differing, ", ")),
                       "give the same --minutes as before, or remove it to start again");
    run.resume = true;
  }
  return train(choice.system, choice.observation, run,
               [&](const TrainStatus& status) { go_on = progress(status.fraction); })
      .model.has_value();
}

}  // namespace penn
