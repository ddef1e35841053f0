#include "penn/network/encoder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "penn/base/error.h"

namespace penn {
namespace {

// A function, not a global: encoders register before main, in no particular order.
std::map<std::string, EncoderFactory>& registry() {
  static std::map<std::string, EncoderFactory> map;
  return map;
}

}  // namespace

RegisterEncoder::RegisterEncoder(const std::string& name, EncoderFactory factory) {
  registry()[name] = std::move(factory);
}

std::vector<std::string> encoder_names() {
  std::vector<std::string> names;
  for (const auto& [name, factory] : registry()) names.push_back(name);
  return names;
}

std::shared_ptr<Encoder> make_encoder(const std::string& name, int inputs, const nlohmann::json& settings) {
  const auto found = registry().find(name);
  if (found == registry().end())
    throw ModelError(fmt::format("unknown encoder '{}'", name),
                     fmt::format("encoders: {}", fmt::join(encoder_names(), ", ")));
  return found->second(inputs, settings);
}

nlohmann::json merge_settings(const std::string& encoder, nlohmann::json defaults, const nlohmann::json& given) {
  if (given.is_null()) return defaults;
  if (!given.is_object()) throw ModelError(fmt::format("encoder {}: settings are not an object", encoder));
  for (const auto& [key, value] : given.items()) {
    if (!defaults.contains(key)) throw ModelError(fmt::format("encoder {}: unknown setting '{}'", encoder, key));
    nlohmann::json& entry = defaults[key];
    const bool same = entry.is_number() ? value.is_number() : entry.type() == value.type();
    if (!same)
      throw ModelError(
          fmt::format("encoder {}: setting '{}' is {}, not {}", encoder, key, value.type_name(), entry.type_name()));
    entry = value;
  }
  return defaults;
}

int setting_integer(const std::string& encoder, const nlohmann::json& settings, const char* name, int low, int high) {
  const nlohmann::json& value = settings.at(name);
  if (!value.is_number_integer() || value.get<double>() < low || value.get<double>() > high)
    throw ModelError(fmt::format("encoder {}: setting '{}' must be an integer from {} to {}, got {}", encoder, name,
                                 low, high, value.dump()));
  return value.get<int>();
}

}  // namespace penn
