#include "penn/train/train_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "penn/base/error.h"
#include "penn/base/renamed_keys.h"

namespace penn {
namespace {

// With more parameters probit coordinates are better for some of them and worse for others (docs/notes/recipe.md);
// between 8 and 11 nothing was measured.
constexpr size_t kMostProbit = 8;

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

// In models and checkpoints of version 0.1.
constexpr RenamedKey kRenamedTrainKeys[] = {{"calibration", "recalibration"},
                                            {"balance", "load_balancing"},
                                            {"lesson", "auxiliary_loss"},
                                            {"lesson_share", "auxiliary_fraction"}};

}  // namespace

int64_t TrainOptions::dataset_size() const {
  return is_number(dataset) ? std::stoll(dataset.substr(0, 15)) : 0;
}
std::string TrainOptions::dataset_folder() const {
  return is_number(dataset) ? "" : dataset;
}

nlohmann::ordered_json to_json(const TrainOptions& o) {
  nlohmann::ordered_json json;
  for_each_option([&]<class T>(const TrainOption<T>& option) {
    if constexpr (std::is_same_v<T, IntRange>) json[option.name] = {(o.*option.member).low, (o.*option.member).high};
    else json[option.name] = o.*option.member;
  });
  return json;
}

TrainOptions train_options_from_json(const nlohmann::json& stored) {
  try {
    const nlohmann::json json = with_new_keys(stored, kRenamedTrainKeys);
    TrainOptions o;
    for_each_option([&]<class T>(const TrainOption<T>& option) {
      const nlohmann::json& value = json.at(option.name);
      if constexpr (std::is_same_v<T, IntRange>)
        o.*option.member = {value.at(0).get<int64_t>(), value.at(1).get<int64_t>()};
      else value.get_to(o.*option.member);
    });
    if (o.coordinates == "box") o.coordinates = "probit";  // version 0.1
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
  if (system.parameters.size() > kMostProbit) o.coordinates = "auto";
  if (preset == "fast") return o;
  if (preset != "paper") throw UsageError(fmt::format("unknown preset '{}'", preset), "presets: fast, paper");
  o.lengths = {system.simulation.length.high, system.simulation.length.high};  // the paper trains at one length
  if (system.paper.trajectories > 0) o.dataset = std::to_string(system.paper.trajectories);
  o.epochs = system.paper.epochs;
  o.batch = system.paper.batch;
  o.validation = 20000;
  o.coordinates = "linear";
  o.optimiser = "adam";
  o.learning_rate = 2e-4;
  o.constant_rate = true;
  o.clip = 0;
  o.ema = 0;
  o.load_balancing = 0;
  o.auxiliary_loss = 0;
  o.recalibration = 0;
  return o;
}

std::vector<std::string> coordinates_of(const std::string& text, const System& system) {
  std::vector<std::string> list(system.parameters.size(), text == "probit" ? "probit" : "linear");
  if (text == "probit" || text == "linear" || text == "auto") return list;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string name = text.substr(begin, end - begin);
    const auto found = std::find_if(system.parameters.begin(), system.parameters.end(),
                                    [&](const Parameter& p) { return p.name == name; });
    if (found == system.parameters.end())
      throw UsageError(fmt::format("--coordinates {}: '{}' is no parameter of {}", text, name, system.name),
                       "box, linear, auto, or names of parameters: a,b,c");
    list[static_cast<size_t>(found - system.parameters.begin())] = "probit";
    begin = end + 1;
  }
  return list;
}

NetworkOptions network_for(const TrainOptions& options, const System& system, int observation) {
  const int channels = static_cast<int>(system.observations[static_cast<size_t>(observation)].channels.size());
  const int parameters = static_cast<int>(system.parameters.size());
  NetworkOptions network =
      options.preset == "paper" ? paper_network(channels, parameters) : fast_network(channels, parameters);
  if (!options.encoders.empty()) network.encoders = options.encoders;
  network.mixture.components = static_cast<int>(options.components);
  network.mixture.full = options.covariance == "full";
  network.coordinates = coordinates_of(options.coordinates, system);
  if (options.preset != "paper") network.set_precision_floor();
  network.length_low = static_cast<double>(options.lengths.low);
  network.length_high = static_cast<double>(options.lengths.high);
  network.sampling_low = system.simulation.sampling.low;
  network.sampling_high = system.simulation.sampling.high;
  return network;
}

int64_t recalibration_count(const TrainOptions& options, int64_t trajectories) {
  if (options.recalibration >= 0) return options.recalibration;
  const int64_t count = std::min<int64_t>(trajectories / 50, 24000);
  return !options.dataset.empty() || count < 2000 ? 0 : count;
}

void check_options(const TrainOptions& o) {
  for_each_option([&]<class T>(const TrainOption<T>& option) {
    std::string name = option.name;
    std::replace(name.begin(), name.end(), '_', '-');
    const auto check_word = [&](const std::string& word) {
      if (!option.words.empty() && std::find(option.words.begin(), option.words.end(), word) == option.words.end())
        throw UsageError(fmt::format("--{}: unknown word '{}'", name, word),
                         fmt::format("choose from: {}", fmt::join(option.words, ", ")));
    };
    if constexpr (std::is_arithmetic_v<T>) {
      const double value = static_cast<double>(o.*option.member);
      if (!(value >= option.low && value <= option.high))
        throw UsageError(fmt::format("--{} must lie in {} to {}, got {}", name, option.low, option.high, value));
    } else if constexpr (std::is_same_v<T, std::string>) check_word(o.*option.member);
    else if constexpr (std::is_same_v<T, std::vector<std::string>>)
      std::for_each((o.*option.member).begin(), (o.*option.member).end(), check_word);
  });
  const int budgets = (o.minutes > 0) + (o.steps > 0) + (o.epochs > 0);
  if (budgets != 1)
    throw UsageError("the budget must be one of --minutes, --steps and --epochs", "for example: --minutes 10");
  if (o.epochs > 0 && o.dataset.empty())
    throw UsageError("--epochs needs a fixed data set: fresh trajectories have no epochs",
                     "add --dataset N, or use --minutes or --steps");
  if (o.recalibration > 0 && o.recalibration < 1000)
    throw UsageError(fmt::format("scales cannot be measured on {} trajectories", o.recalibration),
                     "give --recalibration 1000 or more, or 0 for none");
  if (o.lengths.low < 8 || o.lengths.low > o.lengths.high)
    throw UsageError(fmt::format("the length range {}:{} is empty or below 8 samples", o.lengths.low, o.lengths.high));
  if (!o.dataset.empty() && !o.lengths.is_single())
    throw UsageError("a fixed data set has one length", "give one length: --length 1000");
}

}  // namespace penn
