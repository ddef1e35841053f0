#include "penn/network/network_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "penn/base/error.h"
#include "penn/base/renamed_keys.h"

namespace penn {
namespace {

void require(bool ok, const std::string& message) {
  if (!ok) throw ModelError("network options: " + message);
}

// A range of positive, finite numbers.
void require_range(const char* name, double low, double high) {
  require(std::isfinite(low) && std::isfinite(high) && low > 0 && low <= high,
          fmt::format("{} from {} to {} is not a range of positive numbers", name, low, high));
}

// In model files of version 0.1.
constexpr RenamedKey kRenamedNetworkKeys[] = {
    {"least_precision", "precision_floor"}, {"link", "parameterisation"}, {"decoder_stem", "input_projection"}};

}  // namespace

void NetworkOptions::check() const {
  // The upper limits keep a damaged file from asking for terabytes.
  require(inputs >= 1 && inputs <= 1000, fmt::format("{} observed quantities", inputs));
  require(mixture.parameters >= 1 && mixture.parameters <= 1000, fmt::format("{} parameters", mixture.parameters));
  require(mixture.components >= 1 && mixture.components <= 10000, fmt::format("{} components", mixture.components));
  const double upper = mixture.full ? mixture.parameters * (mixture.parameters - 1.0) / 2 : 0.0;
  require(mixture.components * (1.0 + 2.0 * mixture.parameters + upper) <= 1e7,
          "the mixture has more than ten million unconstrained parameters");
  require(mixture.precision_floor.empty() || mixture.precision_floor.size() == static_cast<size_t>(mixture.parameters),
          fmt::format("{} precision floors for {} parameters", mixture.precision_floor.size(), mixture.parameters));
  for (const double floor : mixture.precision_floor)
    require(floor > 0 && floor <= 100, fmt::format("precision floor {}", floor));
  require(
      mixture.parameterisation == "direct" || mixture.parameterisation == "log_scale",
      fmt::format(
          "unknown output parameterisation '{}' (known: direct, log_scale); train the model again with this version",
          mixture.parameterisation));
  require(!encoders.empty(), "no encoder");
  for (const std::string& name : encoders)
    require(
        name == "statistics" || name == "lstm",
        fmt::format("unknown encoder '{}' (known: statistics, lstm); train the model again with this version", name));
  require(statistics_version == kSummaryVersion,
          fmt::format("version {} of the statistics, this program has {}; train the model again with this version",
                      statistics_version, kSummaryVersion));
  require(lstm_layers >= 1 && lstm_layers <= 100 && lstm_hidden >= 1 && lstm_hidden <= 10000,
          fmt::format("an LSTM of {} layers of {}", lstm_layers, lstm_hidden));
  require(std::set<std::string>(encoders.begin(), encoders.end()).size() == encoders.size(),
          "an encoder is named twice");
  require(coordinates.empty() || coordinates.size() == static_cast<size_t>(mixture.parameters),
          fmt::format("{} coordinates for {} parameters", coordinates.size(), mixture.parameters));
  for (const std::string& one : coordinates)
    require(
        one == "linear" || one == "probit",
        fmt::format(
            "unknown coordinates '{}' (known: linear, box); a model of another version of penn has to be trained again",
            one));
  require(decoder_blocks >= 1 && decoder_blocks <= 1000, fmt::format("{} decoder blocks", decoder_blocks));
  require(decoder_width >= 1 && decoder_width <= 100000, fmt::format("decoder width {}", decoder_width));
  require_range("length", length_low, length_high);
  require_range("sampling", sampling_low, sampling_high);
}

void NetworkOptions::set_precision_floor() {
  mixture.precision_floor.clear();
  for (size_t k = 0; k < static_cast<size_t>(mixture.parameters); ++k)
    mixture.precision_floor.push_back(is_probit(k) ? 1 : 3);
}

nlohmann::json to_json(const NetworkOptions& o) {
  nlohmann::json settings = nlohmann::json::object();
  if (o.has_encoder("statistics")) settings["statistics"] = {{"version", o.statistics_version}};
  if (o.has_encoder("lstm")) settings["lstm"] = {{"layers", o.lstm_layers}, {"hidden", o.lstm_hidden}};
  return {{"inputs", o.inputs},
          {"parameters", o.mixture.parameters},
          {"components", o.mixture.components},
          {"covariance", o.mixture.full ? "full" : "diagonal"},
          {"precision_floor", o.mixture.precision_floor},
          {"encoders", o.encoders},
          {"encoder_settings", settings},
          {"parameterisation", o.mixture.parameterisation},
          {"coordinates", o.coordinates},
          {"input_projection", o.has_input_projection},
          {"decoder_blocks", o.decoder_blocks},
          {"decoder_width", o.decoder_width},
          {"length", {o.length_low, o.length_high}},
          {"sampling", {o.sampling_low, o.sampling_high}}};
}

NetworkOptions network_options_from_json(const nlohmann::json& stored) {
  require(stored.is_object(), "not an object");
  const nlohmann::json json = with_new_keys(stored, kRenamedNetworkKeys);
  NetworkOptions o;
  try {
    const nlohmann::json known = to_json(o);
    for (const auto& [key, value] : json.items()) require(known.contains(key), fmt::format("unknown entry '{}'", key));
    const auto integer = [&](const char* name) {
      const nlohmann::json& value = json.at(name);
      require(value.is_number_integer() && std::abs(value.get<double>()) < 2e9,
              fmt::format("'{}' is not an integer", name));
      return value.get<int>();
    };
    const auto range = [&](const char* name, double& low, double& high) {
      const nlohmann::json& value = json.at(name);
      require(value.is_array() && value.size() == 2 && value[0].is_number() && value[1].is_number(),
              fmt::format("'{}' is not a pair of numbers", name));
      low = value[0].get<double>();
      high = value[1].get<double>();
    };
    o.inputs = integer("inputs");
    o.mixture.parameters = integer("parameters");
    o.mixture.components = integer("components");
    const std::string covariance = json.at("covariance").get<std::string>();
    require(covariance == "full" || covariance == "diagonal", fmt::format("unknown covariance '{}'", covariance));
    o.mixture.full = covariance == "full";
    if (const auto found = json.find("precision_floor");
        found != json.end()) {  // the first model files have none, others one number for all parameters
      if (!found->is_number()) o.mixture.precision_floor = found->get<std::vector<double>>();
      else if (*found != 0)
        o.mixture.precision_floor.assign(static_cast<size_t>(std::clamp(o.mixture.parameters, 1, 1000)),
                                         found->get<double>());
    }
    o.encoders = json.at("encoders").get<std::vector<std::string>>();
    const nlohmann::json& settings = json.at("encoder_settings");
    require(settings.is_object(), "encoder_settings is not an object");
    if (o.has_encoder("statistics")) o.statistics_version = settings.at("statistics").at("version").get<int>();
    if (o.has_encoder("lstm"))
      settings.at("lstm").at("layers").get_to(o.lstm_layers), settings.at("lstm").at("hidden").get_to(o.lstm_hidden);
    o.mixture.parameterisation = json.at("parameterisation").get<std::string>();
    if (o.mixture.parameterisation == "widths") o.mixture.parameterisation = "log_scale";  // version 0.1
    if (const auto found = json.find("coordinates");
        found != json.end()) {  // the first model files have none, others one word for all parameters
      if (found->is_string())
        o.coordinates.assign(static_cast<size_t>(std::clamp(o.mixture.parameters, 1, 1000)), found->get<std::string>());
      else o.coordinates = found->get<std::vector<std::string>>();
      for (std::string& one : o.coordinates)
        if (one == "box") one = "probit";  // version 0.1
    }
    if (const auto found = json.find("input_projection"); found != json.end())
      o.has_input_projection = found->get<bool>();  // the first model files have none
    o.decoder_blocks = integer("decoder_blocks");
    o.decoder_width = integer("decoder_width");
    range("length", o.length_low, o.length_high);
    range("sampling", o.sampling_low, o.sampling_high);
  } catch (const nlohmann::json::exception& e) {
    throw ModelError(std::string("network options: ") + e.what());
  }
  o.check();
  return o;
}

NetworkOptions paper_network(int inputs, int parameters) {
  NetworkOptions o;
  o.inputs = inputs;
  o.mixture.parameters = parameters;
  return o;
}

NetworkOptions fast_network(int inputs, int parameters) {
  NetworkOptions o;
  o.inputs = inputs;
  o.mixture.parameters = parameters;
  o.encoders = {"statistics"};
  o.mixture.parameterisation = "log_scale";
  o.coordinates.assign(static_cast<size_t>(parameters), "probit");
  o.set_precision_floor();
  o.has_input_projection = true;
  o.decoder_blocks = 3;
  o.decoder_width = 256;
  return o;
}

}  // namespace penn
