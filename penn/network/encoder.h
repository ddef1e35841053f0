// A trajectory in, a fixed number of features out: the one interface all encoders share, and their registry.
// A new encoder is one file: derive from Encoder and put one RegisterEncoder at the end of the .cc file.
#pragma once

#include <torch/torch.h>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace penn {

class Encoder : public torch::nn::Module {
 public:
  // z (B, n, d), raw observations in their own units -> (B, E).
  virtual torch::Tensor forward(const torch::Tensor& z) = 0;
  virtual int output_size() const = 0;  // E
  // Measures the constants that scale the inputs (kept as buffers, so they travel with the weights).
  // Called once, before training, with a few hundred trajectories (B, n, d); may be called again for other lengths.
  virtual void calibrate(const torch::Tensor& z) = 0;
  // Every setting with its value in force, for the model file; make_encoder with it gives the same structure.
  virtual nlohmann::json settings() const = 0;
};

using EncoderFactory = std::function<std::shared_ptr<Encoder>(int inputs, const nlohmann::json& settings)>;

struct RegisterEncoder {
  RegisterEncoder(const std::string& name, EncoderFactory factory);
};

std::vector<std::string> encoder_names();
// Throws ModelError for an unknown name or bad settings.
std::shared_ptr<Encoder> make_encoder(const std::string& name, int inputs, const nlohmann::json& settings);

// For factories: given values over defaults. Throws ModelError for a name that is not in defaults or for another
// JSON type than the default's.
nlohmann::json merge_settings(const std::string& encoder, nlohmann::json defaults, const nlohmann::json& given);
// settings[name] as an integer in [low, high], else ModelError.
int setting_integer(const std::string& encoder, const nlohmann::json& settings, const char* name, int low, int high);

}  // namespace penn
