#include "penn/train/checkpoint.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "penn/base/error.h"
#include "penn/base/files.h"
#include "penn/network/network_file.h"

namespace penn {

using json = nlohmann::ordered_json;

namespace {

constexpr const char* kCheckpointFormat = "penn checkpoint 5";

json to_json(const Progress& p) {
  json curve = json::array();
  for (const LossPoint& c : p.curve)
    curve.push_back({c.minutes, c.step, c.trajectories, c.train_nll, c.validation_nll, c.learning_rate});
  return {{"step", p.step},
          {"seconds", p.seconds},
          {"train_nll", p.train_nll},
          {"train_count", p.train_count},
          {"skipped", p.skipped},
          {"skipped_in_a_row", p.skipped_in_a_row},
          {"rollbacks", p.rollbacks},
          {"bad_rows", p.bad_rows},
          {"validations", p.validations},
          {"best_nll", p.best_nll},
          {"kept", p.simulated.kept},
          {"discarded", p.simulated.discarded},
          {"curve", curve}};
}

Progress progress_from_json(const json& j) {
  Progress p;
  j.at("step").get_to(p.step);
  j.at("seconds").get_to(p.seconds);
  j.at("train_nll").get_to(p.train_nll);
  j.at("train_count").get_to(p.train_count);
  j.at("skipped").get_to(p.skipped);
  j.at("skipped_in_a_row").get_to(p.skipped_in_a_row);
  j.at("rollbacks").get_to(p.rollbacks);
  j.at("bad_rows").get_to(p.bad_rows);
  j.at("validations").get_to(p.validations);
  j.at("best_nll").get_to(p.best_nll);
  j.at("kept").get_to(p.simulated.kept);
  j.at("discarded").get_to(p.simulated.discarded);
  const auto number = [](const json& x) { return x.is_null() ? std::nan("") : x.get<double>(); };  // JSON knows no NaN
  for (const json& c : j.at("curve"))
    p.curve.push_back(
        {number(c.at(0)), number(c.at(1)), number(c.at(2)), number(c.at(3)), number(c.at(4)), number(c.at(5))});
  return p;
}

}  // namespace

std::filesystem::path checkpoint_path(const std::filesystem::path& model) {
  return model.string() + ".checkpoint";
}

void save_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint, const Network& network,
                     const Optimiser& optimiser, const std::vector<float>& best) {
  const Optimiser::State state = optimiser.state();
  const NetworkTensors network_tensors(network, NetworkTensors::Precision::kFull);
  std::vector<TensorView> tensors = network_tensors.views();
  const auto add = [&](const char* name, const std::vector<float>& values) {
    tensors.push_back({name, TensorType::kF32, {values.size()}, values.data()});
  };
  add("adam.m", state.m);
  add("adam.v", state.v);
  add("average", state.average);
  add("adam.bases", state.bases);
  add("best", best);
  const Metadata metadata = {{"format", kCheckpointFormat},
                             {"version", version()},
                             {"system", checkpoint.system_text},
                             {"observation", checkpoint.observation},
                             {"training", penn::to_json(checkpoint.options).dump()},
                             {"progress", to_json(checkpoint.progress).dump()},
                             {"adam_steps", std::to_string(state.steps)}};
  write_safetensors(path, metadata, std::move(tensors));
}

Checkpoint read_checkpoint(const std::filesystem::path& path) {
  const SafetensorsFile file(path);
  if (!file.metadata().count("format") || file.text("format") != kCheckpointFormat)
    throw ModelError(fmt::format("{}: not a checkpoint that this program can continue", file.name()),
                     "start again without --resume");
  Checkpoint checkpoint;
  checkpoint.system_text = file.text("system");
  checkpoint.observation = file.text("observation");
  try {
    checkpoint.options = train_options_from_json(nlohmann::json::parse(file.text("training")));
    checkpoint.progress = progress_from_json(json::parse(file.text("progress")));
  } catch (const nlohmann::json::exception& error) {
    throw ModelError(fmt::format("{}: {}", file.name(), error.what()));
  }
  return checkpoint;
}

void restore_checkpoint(const std::filesystem::path& path, Network& network, Optimiser& optimiser,
                        std::vector<float>& best) {
  const SafetensorsFile file(path);
  network = read_network(file, network.options());
  Optimiser::State state;
  state.m = file.read<float>("adam.m");
  state.v = file.read<float>("adam.v");
  state.average = file.read<float>("average");
  state.bases = file.read<float>("adam.bases");
  const std::string steps = file.text("adam_steps");
  if (std::from_chars(steps.data(), steps.data() + steps.size(), state.steps).ec != std::errc())
    throw ModelError(fmt::format("{}: '{}' is no number of steps", file.name(), steps));
  if (!optimiser.set_state(state))
    throw ModelError(fmt::format("{}: the state of the optimiser belongs to another network", file.name()),
                     "start again without --resume");
  best = file.read<float>("best");
  if (!best.empty() && best.size() != network.weights().size())
    throw ModelError(fmt::format("{}: the tensor 'best' has another size", file.name()));
}

}  // namespace penn
