// Everything that determines the network's structure, as a plain value: no tensors. Kept as JSON in the model file.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace penn {

// K = [1 + M (M + 3) / 2] N free numbers describe a full-covariance mixture, (1 + 2 M) N a diagonal one.
struct MixtureShape {
  int parameters = 1;   // M
  int components = 10;  // N
  bool full = true;     // covariance
  // The precision of a component is U^T U + diag(least_precision): none is wider than 1 / sqrt(least_precision_k) in parameter k. Without it couplings of
  // a component with next to no weight may run away and spoil the moments of the whole. (M), or empty: the paper's form.
  std::vector<double> least_precision = {};
  int upper() const { return full ? parameters * (parameters - 1) / 2 : 0; }
  int size() const { return components * (1 + 2 * parameters + upper()); }
  bool operator==(const MixtureShape&) const = default;
};

struct NetworkOptions {
  int inputs = 1;  // observed quantities per time step
  MixtureShape mixture;
  std::vector<std::string> encoders = {"lstm"};  // side by side; names: encoder_names()
  nlohmann::json encoder_settings =
      nlohmann::json::object();  // by encoder name; what is absent has the encoder's default
  std::string link = "direct";  // from the decoder's output to the free vector: "direct", "widths" or "relative" (penn/kernel/mixture_link.h)
  // Of each parameter (M), what the mixture is a mixture of: "linear", the parameter scaled to [-1, 1], or "box", its box_coordinates.h. Empty: all linear.
  std::vector<std::string> coordinates;
  bool in_box(size_t k) const { return !coordinates.empty() && coordinates[k] == "box"; }
  // What suits these coordinates, in least_precision: no component wider than the law uniform in the box, of SD 0.58 in linear coordinates, 1 in box ones.
  void limit_widths();
  bool all_in_box() const { return !coordinates.empty() && std::count(coordinates.begin(), coordinates.end(), "box") == mixture.parameters; }
  bool decoder_stem = false;  // a linear layer before the first block, whose skip is then the identity
  int decoder_blocks = 6;
  int decoder_width = 100;
  // Ranges that were trained. Where low < high, the decoder is given the logarithm, scaled to [-1, 1].
  double length_low = 1, length_high = 1;      // samples
  double sampling_low = 1, sampling_high = 1;  // time between samples

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
NetworkOptions paper_network(int inputs, int parameters);  // SPEC section 3
NetworkOptions fast_network(int inputs, int parameters);

}  // namespace penn
