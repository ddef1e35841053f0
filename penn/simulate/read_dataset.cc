// A directory written by `penn simulate`, checked against the system it is to train.
#include "penn/simulate/read_dataset.h"

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "penn/base/error.h"
#include "penn/base/files.h"
#include "penn/base/npy.h"
#include "penn/simulate/batch_stream.h"

namespace penn {

namespace fs = std::filesystem;

FixedSet read_set(const fs::path& folder, const System& system, int observation) {
  const std::string name = folder.string();
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored))
    throw DataError(fmt::format("there is no directory '{}'", name), "make one with `penn simulate`");
  const fs::path manifest_file = folder / "manifest.json";
  if (!fs::exists(manifest_file, ignored))
    throw DataError(fmt::format("'{}' has no manifest.json", name),
                    "only directories written by `penn simulate` can be used");
  FixedSet set;
  Range sampling = system.simulation.sampling;
  try {
    const nlohmann::json manifest = nlohmann::json::parse(read_text_file(manifest_file.string()));
    const std::string wanted = system.observations[static_cast<size_t>(observation)].name;
    const std::string found = manifest.at("system").get<std::string>(),
                      found_observation = manifest.at("observation").get<std::string>();
    if (found != system.name || found_observation != wanted)
      throw DataError(fmt::format("'{}' holds trajectories of {}{}{}, not of {}{}{}", name, found,
                                  found_observation.empty() ? "" : ":", found_observation, system.name,
                                  wanted.empty() ? "" : ":", wanted));
    if (manifest.at("system_text").get<std::string>() != system.text)
      throw DataError(
          fmt::format("'{}' was simulated from another version of the system file '{}'", name, system.source_name),
          "simulate it again");
    if (!manifest.at("fixed").empty())
      throw DataError(
          fmt::format("'{}' was simulated with fixed parameters (--set): a training needs parameters from the prior",
                      name),
          "simulate it again without --set");
    set.count.discarded = manifest.at("discarded").get<int64_t>();
  } catch (const nlohmann::json::exception& error) {
    throw DataError(fmt::format("{}: {}", manifest_file.string(), error.what()),
                    "only directories written by `penn simulate` can be used");
  }
  NpyArray<float> theta = read_npy<float>(folder / "theta.npy"), z = read_npy<float>(folder / "z.npy");
  const size_t M = system.parameters.size(), d = system.observations[static_cast<size_t>(observation)].channels.size();
  if (theta.shape.size() != 2 || theta.shape[1] != M)
    throw DataError(fmt::format("{}/theta.npy has the shape {}, expected (N, {})", name, to_text(theta.shape), M));
  if (z.shape.size() != 3 || z.shape[0] != theta.shape[0] || z.shape[2] != d)
    throw DataError(
        fmt::format("{}/z.npy has the shape {}, expected ({}, n, {})", name, to_text(z.shape), theta.shape[0], d));
  for (const auto* values : {&theta.values, &z.values})
    for (const float value : *values)
      if (!std::isfinite(value)) throw DataError(fmt::format("'{}' holds values that are not finite", name));
  set.all.count = static_cast<int64_t>(theta.shape[0]);
  set.all.length = static_cast<int64_t>(z.shape[1]);
  set.all.channels = static_cast<int64_t>(d);
  set.all.theta = std::move(theta.values);
  set.all.z = std::move(z.values);
  set.all.sampling.assign(theta.shape[0], static_cast<float>(sampling.low));
  if (!sampling.is_single()) {
    NpyArray<float> intervals = read_npy<float>(folder / "sampling.npy");
    if (intervals.shape != Shape{theta.shape[0]})
      throw DataError(fmt::format("{}/sampling.npy has the shape {}, expected ({},)", name, to_text(intervals.shape),
                                  theta.shape[0]));
    set.all.sampling = std::move(intervals.values);
  }
  set.count.kept = set.all.count;
  return set;
}

}  // namespace penn
