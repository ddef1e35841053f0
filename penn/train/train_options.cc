#include "penn/train/train_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "penn/base/error.h"

namespace penn {
namespace {

// With more parameters box coordinates are better for some of them and worse for others (docs/recipe.md); between 8 and 11 nothing was measured.
constexpr size_t kMostInBox = 8;

}  // namespace

nlohmann::ordered_json to_json(const TrainOptions& o) {
  return {{"preset", o.preset}, {"minutes", o.minutes}, {"steps", o.steps}, {"epochs", o.epochs}, {"batch", o.batch},
          {"encoders", o.encoders}, {"components", o.components}, {"covariance", o.full_covariance ? "full" : "diagonal"}, {"coordinates", o.coordinates}, {"dataset", o.dataset_size},
          {"dataset_folder", o.dataset_folder}, {"length", {o.lengths.low, o.lengths.high}}, {"validation", o.validation}, {"seed", o.seed},
          {"optimiser", o.optimiser}, {"learning_rate", o.learning_rate}, {"constant_rate", o.constant_rate}, {"warm_up", o.warm_up}, {"balance", o.balance}, {"lesson", o.lesson}, {"lesson_share", o.lesson_share}, {"weight_decay", o.weight_decay},
          {"clip", o.clip}, {"ema", o.ema}, {"validations", o.validations}, {"calibration", o.calibration}};
}

TrainOptions train_options_from_json(const nlohmann::json& j) {
  try {
    TrainOptions o;
    j.at("preset").get_to(o.preset);
    j.at("minutes").get_to(o.minutes);
    j.at("steps").get_to(o.steps);
    j.at("epochs").get_to(o.epochs);
    j.at("batch").get_to(o.batch);
    if (j.contains("encoders")) j.at("encoders").get_to(o.encoders);  // the first model files have none
    j.at("components").get_to(o.components);
    o.full_covariance = j.at("covariance").get<std::string>() == "full";
    j.at("coordinates").get_to(o.coordinates);
    j.at("dataset").get_to(o.dataset_size);
    j.at("dataset_folder").get_to(o.dataset_folder);
    o.lengths = {j.at("length").at(0).get<int64_t>(), j.at("length").at(1).get<int64_t>()};
    j.at("validation").get_to(o.validation);
    j.at("seed").get_to(o.seed);
    j.at("optimiser").get_to(o.optimiser);
    j.at("learning_rate").get_to(o.learning_rate);
    j.at("constant_rate").get_to(o.constant_rate);
    j.at("warm_up").get_to(o.warm_up);
    j.at("weight_decay").get_to(o.weight_decay);
    j.at("clip").get_to(o.clip);
    j.at("ema").get_to(o.ema);
    j.at("balance").get_to(o.balance);
    j.at("lesson").get_to(o.lesson);
    o.lesson_share = j.value("lesson_share", 1.0);  // checkpoints of before have none
    j.at("validations").get_to(o.validations);
    o.calibration = j.value("calibration", int64_t{o.preset == "paper" ? 0 : -1});  // checkpoints of before have none
    return o;
  } catch (const nlohmann::json::exception& error) {
    throw ModelError(fmt::format("training options: {}", error.what()));
  }
}

std::vector<std::string> differing_options(const TrainOptions& a, const TrainOptions& b) {
  std::vector<std::string> names;
  const nlohmann::ordered_json x = to_json(a), y = to_json(b);
  for (const auto& [key, value] : x.items())
    if (y.at(key) != value) names.push_back(fmt::format("{} ({}, now {})", key, y.at(key).dump(), value.dump()));
  return names;
}

TrainOptions preset_options(const std::string& preset, const System& system) {
  TrainOptions o;
  o.preset = preset;
  o.lengths = system.simulation.length;
  if (system.parameters.size() > kMostInBox) o.coordinates = "auto";
  if (preset == "fast") return o;
  if (preset != "paper") throw UsageError(fmt::format("unknown preset '{}'", preset), "presets: fast, paper");
  o.lengths = {system.simulation.length.high, system.simulation.length.high};  // the paper trains at one length
  o.dataset_size = system.paper.trajectories;
  o.epochs = system.paper.epochs;
  o.batch = system.paper.batch;
  o.validation = 20000;
  o.coordinates = "linear";
  o.optimiser = "adam";
  o.learning_rate = 2e-4;
  o.constant_rate = true;
  o.clip = 0;
  o.ema = 0;
  o.balance = 0;
  o.lesson = 0;
  o.calibration = 0;
  return o;
}

std::vector<std::string> coordinates_of(const std::string& text, const System& system) {
  std::vector<std::string> list(system.parameters.size(), text == "box" ? "box" : "linear");
  if (text == "box" || text == "linear" || text == "auto") return list;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string name = text.substr(begin, end - begin);
    const auto found = std::find_if(system.parameters.begin(), system.parameters.end(), [&](const Parameter& p) { return p.name == name; });
    if (found == system.parameters.end())
      throw UsageError(fmt::format("--coordinates {}: '{}' is no parameter of {}", text, name, system.name), "box, linear, auto, or names of parameters: a,b,c");
    list[static_cast<size_t>(found - system.parameters.begin())] = "box";
    begin = end + 1;
  }
  return list;
}

NetworkOptions network_for(const TrainOptions& options, const System& system, int observation) {
  const int channels = static_cast<int>(system.observations[static_cast<size_t>(observation)].channels.size());
  const int parameters = static_cast<int>(system.parameters.size());
  NetworkOptions network = options.preset == "paper" ? paper_network(channels, parameters) : fast_network(channels, parameters);
  if (!options.encoders.empty()) network.encoders = options.encoders;
  network.mixture.components = options.components;
  network.mixture.full = options.full_covariance;
  network.coordinates = coordinates_of(options.coordinates, system);
  if (options.preset != "paper") network.set_precision_floor();
  network.length_low = static_cast<double>(options.lengths.low);
  network.length_high = static_cast<double>(options.lengths.high);
  network.sampling_low = system.simulation.sampling.low;
  network.sampling_high = system.simulation.sampling.high;
  return network;
}

int64_t calibration_count(const TrainOptions& options, int64_t trajectories) {
  if (options.calibration >= 0) return options.calibration;
  const bool is_fixed = options.dataset_size > 0 || !options.dataset_folder.empty();
  const int64_t share = std::min<int64_t>(trajectories / 50, 24000);
  return is_fixed || share < 2000 ? 0 : share;
}

void check_options(const TrainOptions& o) {
  const int budgets = (o.minutes > 0) + (o.steps > 0) + (o.epochs > 0);
  if (budgets != 1) throw UsageError("the budget must be one of --minutes, --steps and --epochs", "for example: --minutes 10");
  const bool is_fixed = o.dataset_size > 0 || !o.dataset_folder.empty();
  if (o.epochs > 0 && !is_fixed) throw UsageError("--epochs needs a fixed data set: fresh trajectories have no epochs", "add --dataset N, or use --minutes or --steps");
  if (o.dataset_size > 0 && !o.dataset_folder.empty()) throw UsageError("--dataset is either a number or a directory");
  if (o.components < 1 || o.components > 1000) throw UsageError(fmt::format("the number of components must lie in 1 to 1000, got {}", o.components));
  if (o.optimiser != "adam" && o.optimiser != "soap") throw UsageError(fmt::format("unknown optimiser '{}'", o.optimiser), "optimisers: soap, adam");
  if (o.batch < 2) throw UsageError(fmt::format("a batch needs at least 2 trajectories, got {}", o.batch));
  if (o.validation < 100) throw UsageError(fmt::format("the validation set needs at least 100 trajectories, got {}", o.validation));
  if (o.calibration > 0 && o.calibration < 1000) throw UsageError(fmt::format("widths cannot be told from {} trajectories", o.calibration), "give --calibration 1000 or more, or 0 for none");
  if (o.lengths.low < 8 || o.lengths.low > o.lengths.high) throw UsageError(fmt::format("the length range {}:{} is empty or below 8 samples", o.lengths.low, o.lengths.high));
  if (is_fixed && !o.lengths.is_single()) throw UsageError("a fixed data set has one length", "give one length: --length 1000");
}

}  // namespace penn
