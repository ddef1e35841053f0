// See mixture_json.h. Everything that enters is checked: this is text from outside.
#include "penn/posterior/mixture_json.h"

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "penn/base/error.h"

namespace penn {

namespace {

using nlohmann::json;

const json& list_at(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end())
    throw DataError(fmt::format("mixture: no \"{}\"", key), "expected parameters, weights, means, covariances");
  if (!found->is_array() || found->empty())
    throw DataError(fmt::format("mixture: \"{}\" must be a list with entries", key));
  return *found;
}

std::vector<double> numbers(const json& list, std::size_t expected, const std::string& where) {
  if (!list.is_array() || list.size() != expected)
    throw DataError(fmt::format("mixture: {} must be a list of {} numbers", where, expected));
  std::vector<double> result;
  for (const json& entry : list) {
    if (!entry.is_number())
      throw DataError(fmt::format("mixture: {} holds {}, not a number", where, entry.type_name()));
    result.push_back(entry.get<double>());
    if (!std::isfinite(result.back()))
      throw DataError(fmt::format("mixture: {} holds a number that is not finite", where));
  }
  return result;
}

}  // namespace

json mixture_to_json(const GaussianMixture& q, const std::vector<std::string>& parameters) {
  if (parameters.size() != q.dimension())
    throw Error(fmt::format("{} parameter names for {} dimensions", parameters.size(), q.dimension()));
  json weights = json::array(), means = json::array(), covariances = json::array();
  for (std::size_t j = 0; j < q.components(); ++j) {
    weights.push_back(q.weight(j));
    const auto mean = q.component_mean(j);
    means.push_back(std::vector<double>(mean.begin(), mean.end()));
    const DenseMatrix sigma = q.component_covariance(j);
    json rows = json::array();
    for (std::size_t r = 0; r < sigma.rows; ++r)
      rows.push_back(std::vector<double>(sigma.row(r).begin(), sigma.row(r).end()));
    covariances.push_back(std::move(rows));
  }
  return {{"parameters", parameters}, {"weights", weights}, {"means", means}, {"covariances", covariances}};
}

NamedMixture mixture_from_json(const json& object) {
  if (!object.is_object()) throw DataError("mixture: expected a JSON object");
  if (const auto found = object.find("coordinates");
      found != object.end() && (found->dump().find("probit") != std::string::npos ||
                                found->dump().find("box") != std::string::npos))  // "box": version 0.1
    throw DataError("mixture: its numbers are in probit coordinates, not the parameters' own units",
                    "docs/inference.md says how to convert them");
  std::vector<std::string> parameters;
  std::set<std::string> seen;
  for (const json& name : list_at(object, "parameters")) {
    if (!name.is_string()) throw DataError("mixture: \"parameters\" must be a list of names");
    parameters.push_back(name.get<std::string>());
    if (!seen.insert(parameters.back()).second)
      throw DataError(fmt::format("mixture: parameter \"{}\" is named twice", parameters.back()));
  }
  const std::size_t m = parameters.size(), n = list_at(object, "weights").size();
  const std::vector<double> weights = numbers(object["weights"], n, "\"weights\"");
  double sum = 0.0;
  for (double w : weights) {
    if (w < 0.0) throw DataError(fmt::format("mixture: weight {} is negative", w));
    sum += w;
  }
  if (!(std::fabs(sum - 1.0) < 1e-3)) throw DataError(fmt::format("mixture: weights sum to {}, not 1", sum));
  const json &mean_list = list_at(object, "means"), &covariance_list = list_at(object, "covariances");
  if (mean_list.size() != n || covariance_list.size() != n)
    throw DataError(
        fmt::format("mixture: {} weights, {} means, {} covariances", n, mean_list.size(), covariance_list.size()));
  std::vector<std::vector<double>> means;
  std::vector<DenseMatrix> covariances;
  for (std::size_t j = 0; j < n; ++j) {
    means.push_back(numbers(mean_list[j], m, fmt::format("mean {}", j + 1)));
    if (!covariance_list[j].is_array() || covariance_list[j].size() != m)
      throw DataError(fmt::format("mixture: covariance {} must have {} rows", j + 1, m));
    DenseMatrix& sigma = covariances.emplace_back(m, m);
    for (std::size_t r = 0; r < m; ++r) {
      const std::vector<double> row =
          numbers(covariance_list[j][r], m, fmt::format("row {} of covariance {}", r + 1, j + 1));
      for (std::size_t c = 0; c < m; ++c) sigma(r, c) = row[c];
    }
  }
  try {
    return {std::move(parameters), GaussianMixture::from_covariances(weights, means, covariances)};
  } catch (const Error& error) {
    throw DataError(fmt::format("mixture: {}", error.what()), error.hint());
  }
}

}  // namespace penn
