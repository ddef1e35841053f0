// A trained model in one safetensors file: the weights, the system's text, and everything inference needs to use and to
// doubt it.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "penn/base/json_box.h"
#include "penn/base/safetensors.h"
#include "penn/model/recalibration.h"
#include "penn/model/typicality.h"
#include "penn/network/network.h"
#include "penn/system/system.h"

namespace penn {

// One row of the loss curve. NLL in the parameters' own units.
struct LossPoint {
  double minutes = 0, step = 0, trajectories = 0, train_nll = 0, validation_nll = 0, learning_rate = 0;
};

struct ModelInfo {
  std::string version;  // of the program that trained it
  std::string system_text, observation;
  NetworkOptions network;
  JsonBox training;                          // every option (train_options.h)
  IntRange lengths;                          // trained range, samples
  Range sampling;                            // trained range
  std::vector<float> value_low, value_high;  // per channel: the 0.1 % and 99.9 % points of training observations
  std::vector<bool> quantised;  // per channel: training observations are quantised and repeat, as of sign(x); then
                                // rounding is no accident
  double discarded_fraction = 0;
  double validation_nll = 0;  // of the kept weights, the parameters' own units
  int64_t steps = 0, trajectories = 0;
  double minutes = 0;  // of a training whose budget was in minutes; otherwise 0, also in the curve
  std::vector<LossPoint> curve;
  Typicality typicality;
  Recalibration recalibration;  // of the posteriors
};

struct Model {
  std::string name;  // of its file, for messages
  ModelInfo info;
  System system;
  int observation = 0;
  Network network;
};

void save_model(const std::filesystem::path& path, const Model& model);
// ModelError with the reason where something is missing, damaged, of another version or does not fit together.
Model open_model(const std::filesystem::path& path);
Model open_model(const SafetensorsFile& file);
// True for a file that begins as safetensors files do, whatever its name: a model or a checkpoint, perhaps damaged. No
// text file does.
bool has_tensors(const std::filesystem::path& path);
// The shipped model of a name ("oup", "cfhn:x1"), or "" where there is none.
std::string shipped_model(const std::string& name);
// The path itself, or the shipped model of that name; ModelError where there is neither.
std::filesystem::path find_model(const std::string& what);
std::string describe_model(const Model& model);
// How a model came about, for results that are kept without it: options, lengths, minutes, steps, trajectories, NLL.
nlohmann::ordered_json training_record(const ModelInfo& info);

}  // namespace penn
