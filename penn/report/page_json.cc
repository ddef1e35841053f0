#include "penn/report/page_json.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

namespace penn {
namespace {

constexpr int64_t kDrawnSamples = 2000;  // of a trajectory: more than a screen has columns

std::vector<double> thinned(const float* z, int64_t n, int64_t channels, int64_t channel, int64_t stretch) {
  const auto value = [&](int64_t i) { return static_cast<double>(z[i * channels + channel]); };
  std::vector<double> values;
  for (int64_t begin = 0; begin < n; begin += stretch) {
    int64_t low = begin, high = begin;
    for (int64_t i = begin; i < std::min(begin + stretch, n); ++i) {
      if (value(i) < value(low)) low = i;
      if (value(i) > value(high)) high = i;
    }
    values.push_back(value(std::min(low, high)));
    if (stretch > 1) values.push_back(value(std::max(low, high)));
  }
  return values;
}

}  // namespace

nlohmann::ordered_json parameters_json(const System& system) {
  auto list = nlohmann::ordered_json::array();
  for (const Parameter& p : system.parameters)
    list.push_back({{"name", p.name}, {"label", p.label}, {"low", p.range.low}, {"high", p.range.high}});
  return list;
}

nlohmann::ordered_json trajectory_json(const float* z, int64_t n, double sampling, const Observation& observation) {
  const int64_t d = static_cast<int64_t>(observation.channels.size());
  const int64_t stretch = n <= kDrawnSamples ? 1 : (2 * n + kDrawnSamples - 1) / kDrawnSamples;
  auto names = nlohmann::ordered_json::array(), values = nlohmann::ordered_json::array();
  for (int64_t c = 0; c < d; ++c) {
    names.push_back(observation.channels[static_cast<size_t>(c)].name);
    values.push_back(thinned(z, n, d, c, stretch));
  }
  nlohmann::ordered_json result = {{"t0", 0},
                                   {"sampling", sampling * (stretch > 1 ? static_cast<double>(stretch) / 2 : 1)},
                                   {"channels", names},
                                   {"values", values}};
  if (stretch > 1) result["thinned"] = fmt::format("the smallest and the largest of every {} samples", stretch);
  return result;
}

}  // namespace penn
