#include "penn/model/width_correction.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "penn/base/error.h"

namespace penn {

std::vector<double> WidthCorrection::at(int64_t n) const {
  if (lengths.size() == 1) return factors;
  const size_t M = factors.size() / lengths.size(),
               above = static_cast<size_t>(std::upper_bound(lengths.begin(), lengths.end(), n) - lengths.begin());
  const size_t right = std::clamp<size_t>(above, 1, lengths.size() - 1), left = right - 1;
  const auto log_of = [&](size_t i) { return std::log(static_cast<double>(lengths[i])); };
  const double share = std::clamp(
      (std::log(static_cast<double>(std::max<int64_t>(n, 1))) - log_of(left)) / (log_of(right) - log_of(left)), 0.0,
      1.0);
  std::vector<double> result(M);
  for (size_t k = 0; k < M; ++k)
    result[k] = std::exp((1 - share) * std::log(factors[left * M + k]) + share * std::log(factors[right * M + k]));
  return result;
}

nlohmann::ordered_json to_json(const WidthCorrection& widths) {
  return {{"lengths", widths.lengths}, {"factors", widths.factors}, {"trajectories", widths.trajectories}};
}

WidthCorrection width_correction_from_json(const nlohmann::json& json, size_t parameters) {
  WidthCorrection widths;
  try {
    json.at("lengths").get_to(widths.lengths);
    json.at("factors").get_to(widths.factors);
    json.at("trajectories").get_to(widths.trajectories);
  } catch (const nlohmann::json::exception& error) {
    throw ModelError(fmt::format("the correction of the widths cannot be read: {}", error.what()));
  }
  const bool rising =
      std::adjacent_find(widths.lengths.begin(), widths.lengths.end(), std::greater_equal<>()) == widths.lengths.end();
  const bool sensible =
      std::all_of(widths.factors.begin(), widths.factors.end(), [](double f) { return f > 1e-3 && f < 1e3; });
  if (widths.is_empty() || !rising || widths.lengths.front() < 1 ||
      widths.factors.size() != widths.lengths.size() * parameters || !sensible)
    throw ModelError("the correction of the widths makes no sense");
  return widths;
}

std::string describe_widths(const WidthCorrection& widths, const System& system) {
  const size_t M = system.parameters.size();
  std::string out = fmt::format("{:>12}", "samples");
  for (const Parameter& p : system.parameters) out += fmt::format(" {:>9}", p.name);
  for (size_t i = 0; i < widths.lengths.size(); ++i) {
    out += fmt::format("\n{:>12}", widths.lengths[i]);
    for (size_t k = 0; k < M; ++k) out += fmt::format(" {:>9.3f}", widths.factors[i * M + k]);
  }
  return out + "\n";
}

}  // namespace penn
