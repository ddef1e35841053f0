// Everything that determines the network's structure, as a plain value. Kept as JSON in the model file.
#pragma once

#include <algorithm>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "penn/features/summary.h"  // kSummaryVersion

namespace penn {

// The Gaussian mixture that the network's raw output describes (mixture_output.h): K numbers.
struct MixtureShape {
  int parameters = 1;                        // M
  int components = 10;                       // N
  bool full = true;                          // covariance; else diagonal
  std::string parameterisation = "direct";   // or "log_scale"
  std::vector<double> precision_floor = {};  // (M), or empty: the paper's form
  int size() const { return components * (1 + 2 * parameters + (full ? parameters * (parameters - 1) / 2 : 0)); }
  bool operator==(const MixtureShape&) const = default;
};

struct NetworkOptions {
  int inputs = 1;  // observed quantities per time step
  MixtureShape mixture;
  std::vector<std::string> encoders = {"lstm"};  // side by side: "statistics", "lstm"
  int statistics_version = kSummaryVersion;
  int lstm_layers = 4, lstm_hidden = 50;
  // Of each parameter (M), what the mixture is a mixture of: "linear", the parameter scaled to [-1, 1], or "probit",
  // its probit_coordinates.h. Empty: all linear.
  std::vector<std::string> coordinates;
  bool is_probit(size_t k) const { return !coordinates.empty() && coordinates[k] == "probit"; }
  // The precision floor that suits these coordinates: no component wider than the prior, of SD 0.58 in linear
  // coordinates, 1 in probit ones.
  void set_precision_floor();
  bool all_probit() const {
    return !coordinates.empty() && std::count(coordinates.begin(), coordinates.end(), "probit") == mixture.parameters;
  }
  bool has_input_projection = false;  // a dense layer before the first block, whose skip is then the identity
  int decoder_blocks = 6;
  int decoder_width = 100;
  // Ranges that were trained. Where low < high, the decoder is given the logarithm, scaled to [-1, 1].
  double length_low = 1, length_high = 1;      // samples
  double sampling_low = 1, sampling_high = 1;  // time between samples

  bool has_encoder(const std::string& name) const { return std::count(encoders.begin(), encoders.end(), name) > 0; }
  bool varying_length() const { return length_low < length_high; }
  bool varying_sampling() const { return sampling_low < sampling_high; }
  // Throws ModelError if the values make no sense.
  void check() const;
  bool operator==(const NetworkOptions&) const = default;
};

nlohmann::json to_json(const NetworkOptions& options);
// Strict: a missing, unknown or wrongly typed entry is a ModelError. Calls check().
NetworkOptions network_options_from_json(const nlohmann::json& json);

// The networks of the presets, for a system with the given numbers of observed quantities and parameters.
NetworkOptions paper_network(int inputs, int parameters);
NetworkOptions fast_network(int inputs, int parameters);

}  // namespace penn
