// A trained model in one safetensors file: the weights, the system's text, and everything inference needs to use and to doubt it.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "penn/network/network_options.h"
#include "penn/system/system.h"

namespace penn {

class PennNetwork;

// One row of the loss curve. NLL in the parameters' own units.
struct LossPoint {
  double minutes = 0, step = 0, trajectories = 0, train_nll = 0, validation_nll = 0, learning_rate = 0;
};

// What training data look like to the network, so that an observation can be recognised as familiar or not: mean and covariance of the
// embedding, and the quantiles 0, 1/1000, ..., 1 of the squared Mahalanobis distance of held-out trajectories.
struct Familiarity {
  std::vector<float> mean;        // (E)
  std::vector<float> covariance;  // (E, E), with a little added to the diagonal
  std::vector<float> distances;   // (1001)
};

struct ModelInfo {
  int format = 1;
  std::string version;             // of the program that trained it
  std::string system_text, observation;
  NetworkOptions network;
  nlohmann::ordered_json training; // every option (train_options.h)
  IntRange lengths;                // trained range, samples
  Range sampling;                  // trained range
  std::vector<float> value_low, value_high;  // per channel: the 0.1 % and 99.9 % points of training observations
  double discarded_share = 0;
  double validation_nll = 0;       // of the kept weights, the parameters' own units
  int64_t steps = 0, trajectories = 0;
  double minutes = 0;
  std::vector<LossPoint> curve;
  Familiarity familiarity;
};

struct Model {
  ModelInfo info;
  System system;
  int observation = 0;
  std::shared_ptr<PennNetwork> network;  // in evaluation mode, on the CPU
};

void save_model(const std::filesystem::path& path, const ModelInfo& info, const PennNetwork& network);
// Checks everything; ModelError with the reason where something is missing, damaged, of another version or does not fit together.
Model load_model(const std::filesystem::path& path);
// The path itself, or the shipped model of that name; ModelError where there is neither.
std::filesystem::path find_model(const std::string& what);
std::string describe_model(const Model& model);

}  // namespace penn
