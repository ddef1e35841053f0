// Summary as JSON, the form it has inside a model file:
//   {"version": 1, "channels": ["x"], "lags": [..], "bins": 9, "grid": 6, "pair_grid": 5,
//    "scaling": [{"location": .., "value": .., "velocity": .., "second": .., "third": ..} per channel]}
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "penn/base/error.h"
#include "penn/summary/definitions.h"

namespace penn {

nlohmann::json Summary::to_json() const {
  nlohmann::json scales = nlohmann::json::array();
  for (const ChannelScale& s : scaling_.channels)
    scales.push_back({{"location", s.location},
                      {"value", s.value},
                      {"velocity", s.velocity},
                      {"second", s.second},
                      {"third", s.third}});
  return {{"version", kSummaryVersion}, {"channels", options_.channels}, {"lags", options_.lags},
          {"bins", options_.bins},      {"grid", options_.grid},         {"pair_grid", options_.pair_grid},
          {"scaling", scales}};
}

Summary Summary::from_json(const nlohmann::json& json) {
  try {
    const int version = json.at("version").get<int>();
    if (version != kSummaryVersion)
      throw ModelError(
          fmt::format("summary: version {} of the statistics, this program has {}", version, kSummaryVersion),
          "train the model again, or use the program it was trained with");
    SummaryOptions options;
    json.at("channels").get_to(options.channels);
    json.at("lags").get_to(options.lags);
    json.at("bins").get_to(options.bins);
    json.at("grid").get_to(options.grid);
    json.at("pair_grid").get_to(options.pair_grid);
    SummaryScaling scaling;
    for (const nlohmann::json& s : json.at("scaling"))
      scaling.channels.push_back({s.at("location").get<double>(), s.at("value").get<double>(),
                                  s.at("velocity").get<double>(), s.at("second").get<double>(),
                                  s.at("third").get<double>()});
    return Summary(std::move(options), std::move(scaling));
  } catch (const nlohmann::json::exception& error) {
    throw ModelError(fmt::format("summary: {}", error.what()));
  }
}

}  // namespace penn
