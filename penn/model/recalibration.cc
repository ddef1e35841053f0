#include "penn/model/recalibration.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "penn/base/error.h"

namespace penn {

std::vector<double> Recalibration::at(int64_t n) const {
  if (lengths.size() == 1) return factors;
  const size_t M = factors.size() / lengths.size(),
               above = static_cast<size_t>(std::upper_bound(lengths.begin(), lengths.end(), n) - lengths.begin());
  const size_t right = std::clamp<size_t>(above, 1, lengths.size() - 1), left = right - 1;
  const auto log_of = [&](size_t i) { return std::log(static_cast<double>(lengths[i])); };
  const double fraction = std::clamp(
      (std::log(static_cast<double>(std::max<int64_t>(n, 1))) - log_of(left)) / (log_of(right) - log_of(left)), 0.0,
      1.0);
  std::vector<double> result(M);
  for (size_t k = 0; k < M; ++k)
    result[k] =
        std::exp((1 - fraction) * std::log(factors[left * M + k]) + fraction * std::log(factors[right * M + k]));
  return result;
}

nlohmann::ordered_json to_json(const Recalibration& recalibration) {
  return {{"lengths", recalibration.lengths},
          {"factors", recalibration.factors},
          {"trajectories", recalibration.trajectories}};
}

Recalibration recalibration_from_json(const nlohmann::json& json, size_t parameters) {
  Recalibration recalibration;
  try {
    json.at("lengths").get_to(recalibration.lengths);
    json.at("factors").get_to(recalibration.factors);
    json.at("trajectories").get_to(recalibration.trajectories);
  } catch (const nlohmann::json::exception& error) {
    throw ModelError(fmt::format("the recalibration cannot be read: {}", error.what()));
  }
  const bool rising = std::adjacent_find(recalibration.lengths.begin(), recalibration.lengths.end(),
                                         std::greater_equal<>()) == recalibration.lengths.end();
  const bool sensible = std::all_of(recalibration.factors.begin(), recalibration.factors.end(),
                                    [](double f) { return f > 1e-3 && f < 1e3; });
  if (recalibration.is_empty() || !rising || recalibration.lengths.front() < 1 ||
      recalibration.factors.size() != recalibration.lengths.size() * parameters || !sensible)
    throw ModelError("the recalibration makes no sense");
  return recalibration;
}

std::string describe_recalibration(const Recalibration& recalibration, const System& system) {
  const size_t M = system.parameters.size();
  std::string out = fmt::format("{:>12}", "samples");
  for (const Parameter& p : system.parameters) out += fmt::format(" {:>9}", p.name);
  for (size_t i = 0; i < recalibration.lengths.size(); ++i) {
    out += fmt::format("\n{:>12}", recalibration.lengths[i]);
    for (size_t k = 0; k < M; ++k) out += fmt::format(" {:>9.3f}", recalibration.factors[i * M + k]);
  }
  return out + "\n";
}

}  // namespace penn
