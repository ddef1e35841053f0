#include "paper/trainings.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "penn/base/error.h"
#include "penn/base/files.h"
#include "penn/system/load_system.h"
#include "penn/system/system.h"

namespace penn {

const std::vector<Training>& trainings() {
  static const std::vector<Training> all = {
      {"oup-components-1", "oup", 1, true, 0},
      {"oup-components-2", "oup", 2, true, 0},
      {"oup-components-10", "oup", 10, true, 0},
      {"oup-components-20", "oup", 20, true, 0},
      {"oup-trajectories-1000", "oup", 10, true, 1000},
      {"oup-trajectories-10000", "oup", 10, true, 10000},
      {"oup-trajectories-50000", "oup", 10, true, 50000},
      {"oup-trajectories-100000", "oup", 10, true, 100000},
      {"dvdp-full-10", "dvdp", 10, true, 0},
      {"dvdp-diagonal-10", "dvdp", 10, false, 0},
      {"dvdp-diagonal-30", "dvdp", 30, false, 0},
  };
  return all;
}

const Training& find_training(const std::string& name) {
  for (const Training& training : trainings())
    if (training.name == name) return training;
  throw Error(fmt::format("there is no training '{}'", name));
}

std::string training_command(const Training& training, double minutes, const std::filesystem::path& model) {
  std::string text =
      fmt::format("penn train {} --minutes {:g} --components {}", training.system, minutes, training.components);
  if (!training.full) text += " --covariance diagonal";
  // One length for all, the paper's: a fixed set has only one, and the others should differ from it in nothing else.
  text += fmt::format(" --length {}", find_system(training.system).simulation.length.high);
  text += " --recalibration 0";  // what is compared are the networks themselves
  if (training.trajectories > 0) text += fmt::format(" --dataset {}", training.trajectories);
  return text + fmt::format(" -o {}", shell_word(model.string()));
}

void check_training(const Model& model, const Training& training) {
  const ModelInfo& info = model.info;
  const int64_t dataset = info.training->contains("dataset") && info.training->at("dataset").is_number()
                              ? info.training->at("dataset").get<int64_t>()
                              : -1;
  const System system = find_system(training.system);
  const int64_t length = system.simulation.length.high;
  const bool is_same = model.system.text == system.text && info.lengths.low == length && info.lengths.high == length &&
                       info.training->value("preset", "") == "fast" &&
                       info.network.mixture.parameterisation == fast_network(1, 1).mixture.parameterisation &&
                       info.recalibration.is_empty();
  if (!is_same || info.network.mixture.components != training.components ||
      info.network.mixture.full != training.full || dataset != training.trajectories)
    throw ModelError(fmt::format("'{}' was trained on another system, by another version of penn, or with other "
                                 "lengths, components, covariance, data or --recalibration than are compared here",
                                 model.name),
                     "move it away, or give another folder with -o");
}

}  // namespace penn
