#include "penn/train/checkpoint.h"

#include <fmt/format.h>

#include "penn/base/error.h"
#include "penn/base/files.h"
#include "penn/network/tensor_io.h"
#include "penn/network/penn_network.h"

namespace penn {

using json = nlohmann::ordered_json;

namespace {

constexpr const char* kFormat = "penn checkpoint 3";

json to_json(const Progress& p) {
  json curve = json::array();
  for (const LossPoint& c : p.curve) curve.push_back({c.minutes, c.step, c.trajectories, c.train_nll, c.validation_nll, c.learning_rate});
  return {{"step", p.step}, {"seconds", p.seconds}, {"train_nll", p.train_nll}, {"train_count", p.train_count}, {"skipped", p.skipped},
          {"skipped_in_a_row", p.skipped_in_a_row}, {"rollbacks", p.rollbacks}, {"bad_rows", p.bad_rows}, {"validations", p.validations},
          {"best_nll", p.best_nll}, {"discarded_share", p.discarded_share}, {"curve", curve}};
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
  j.at("discarded_share").get_to(p.discarded_share);
  for (const json& c : j.at("curve")) p.curve.push_back({c.at(0), c.at(1), c.at(2), c.at(3), c.at(4), c.at(5)});
  return p;
}

}  // namespace

void save_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint, const PennNetwork& network, const Optimiser& optimiser,
                     const std::vector<float>& best) {
  const Optimiser::State state = optimiser.state();
  TensorList tensors;
  add_module(tensors, "network.", network);
  tensors.add("adam.m", state.m, {state.m.size()});
  tensors.add("adam.v", state.v, {state.v.size()});
  tensors.add("average", state.average, {state.average.size()});
  tensors.add("adam.bases", state.bases, {state.bases.size()});
  tensors.add("best", best, {best.size()});
  const Metadata metadata = {{"format", kFormat}, {"version", version()}, {"system", checkpoint.system_text}, {"observation", checkpoint.observation},
                             {"training", penn::to_json(checkpoint.options).dump()}, {"progress", to_json(checkpoint.progress).dump()},
                             {"adam_steps", std::to_string(state.steps)}};
  write_safetensors(path, metadata, tensors.views());
}

Checkpoint read_checkpoint(const std::filesystem::path& path) {
  const SafetensorsFile file(path);
  if (!file.metadata().count("format") || file.text("format") != kFormat)
    throw ModelError(fmt::format("{}: not a checkpoint that this program can continue", file.name()), "start again without --resume");
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

void restore_checkpoint(const std::filesystem::path& path, PennNetwork& network, Optimiser& optimiser, std::vector<float>& best) {
  const SafetensorsFile file(path);
  read_module(file, "network.", network);
  const size_t total = static_cast<size_t>(optimiser.size());
  Optimiser::State state;
  state.m = file.read<float>("adam.m", {total});
  state.v = file.read<float>("adam.v", {total});
  state.average = file.read<float>("average");
  state.bases = file.read<float>("adam.bases");
  state.steps = std::stoll(file.text("adam_steps"));
  if (state.average.size() != optimiser.state().average.size()) throw ModelError(fmt::format("{}: the tensor 'average' has another size", file.name()));
  try {
    optimiser.set_state(state);
  } catch (const c10::Error& error) {
    throw ModelError(fmt::format("{}: {}", file.name(), error.what_without_backtrace()));
  }
  best = file.read<float>("best");
  if (!best.empty() && best.size() != total) throw ModelError(fmt::format("{}: the tensor 'best' has another size", file.name()));
}

}  // namespace penn
