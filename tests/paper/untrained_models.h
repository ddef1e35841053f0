// Models of the shipped systems that were never trained: a tiny LSTM and mixtures that hardly depend on the trajectory.
// Everything about a model but its quality, in milliseconds.
#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include "paper/paper_items.h"
#include "paper/trainings.h"
#include "penn/base/random.h"
#include "penn/model/model_file.h"
#include "penn/system/load_system.h"

namespace penn {

inline void write_untrained_model(const std::filesystem::path& path, const std::string& what, int components = 10,
                                  bool full = true, int64_t dataset = 0) {
  const SystemChoice choice = load_system(what);
  const size_t M = choice.system.parameters.size(),
               d = choice.system.observations[static_cast<size_t>(choice.observation)].channels.size(), H = 2;
  ModelInfo info;
  info.version = "0.1.0";
  info.system_text = choice.system.text;
  info.observation = choice.system.observations[static_cast<size_t>(choice.observation)].name;
  NetworkOptions& net = info.network;
  net.inputs = static_cast<int>(d);
  net.mixture = {static_cast<int>(M), components, full};
  net.lstm_hidden = static_cast<int>(H), net.lstm_layers = 1;
  net.mixture.parameterisation = fast_network(1, 1).mixture.parameterisation;
  net.decoder_blocks = 1;
  net.decoder_width = 3;
  info.lengths = choice.system.simulation.length;
  info.sampling = choice.system.simulation.sampling;
  net.length_low = static_cast<double>(info.lengths.low), net.length_high = static_cast<double>(info.lengths.high);
  net.sampling_low = info.sampling.low, net.sampling_high = info.sampling.high;
  info.training = nlohmann::ordered_json{{"preset", "fast"}, {"dataset", dataset}};
  info.value_low.assign(d, -10), info.value_high.assign(d, 10);
  info.quantised.assign(d, false);
  info.validation_nll = -1.5, info.steps = 100, info.trajectories = 25600, info.minutes = 0.5;
  for (int i = 1; i <= 20; ++i)
    info.curve.push_back({0.025 * i, 5.0 * i, 1280.0 * i, -1.5 + 3.0 / i, -1.4 + 3.0 / i, 1e-3});
  info.typicality.mean.assign(H, 0), info.typicality.spread.assign(1, 1), info.typicality.directions = {1, 0};
  for (int i = 0; i <= 1000; ++i)
    info.typicality.inside.push_back(0.01f * static_cast<float>(i)),
        info.typicality.outside.push_back(0.01f * static_cast<float>(i));

  Model model{path.string(), info, choice.system, choice.observation, Network(net)};
  const RandomKey key{17, 0};
  uint32_t draw = 0;
  const auto uniform = [&] { return static_cast<float>(2 * key.uniform(0, draw++) - 1); };  // in (-1, 1)
  for (const WeightBlock& block : model.network.blocks()) {
    const bool in_decoder = block.name.starts_with("decoder"), is_bias = block.shape.size() == 1;
    const float scale = block.name == "decoder.last.weight" ? 0.3f : in_decoder && is_bias ? 0.1f : 0.5f;
    for (size_t i = 0; i < block.size(); ++i) model.network.weights()[block.offset + i] = scale * uniform();
  }
  // The raw output, theta in [-1, 1]: logits, means, logarithms of the inverse scales (SD about a quarter), couplings.
  const size_t N = static_cast<size_t>(components), K = static_cast<size_t>(net.mixture.size());
  float* bias = model.network.weights().data() + model.network.blocks().back().offset;
  for (size_t i = 0; i < K; ++i)
    bias[i] = i < N               ? uniform()
              : i < N + M * N     ? 0.6f * uniform()
              : i < N + 2 * M * N ? 1.4f + 0.25f * uniform()
                                  : 0.4f * uniform();
  save_model(path, model);
}

// Everything `penn reproduce all` needs: the shipped models into `models`, those that would be trained into
// `pages`/models.
inline void write_untrained_models(const std::filesystem::path& models, const std::filesystem::path& pages) {
  std::filesystem::create_directories(models);
  std::filesystem::create_directories(pages / "models");
  for (const std::string name : {"soup", "soup-paper", "oup", "dvdp", "cfhn-x1x2", "cfhn-x1", "cfhn-mean", "airfoil"}) {
    std::string what = name == "soup-paper" ? "soup" : name;
    for (char& c : what) c = c == '-' ? ':' : c;
    write_untrained_model(models / (name + ".safetensors"), what);
  }
  for (const Training& t : trainings())
    write_untrained_model(pages / "models" / (t.name + ".safetensors"), t.system, t.components, t.full, t.trajectories);
}

}  // namespace penn
