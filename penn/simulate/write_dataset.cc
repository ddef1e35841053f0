#include "penn/simulate/write_dataset.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

#include "penn/base/csv.h"
#include "penn/base/csv_writer.h"
#include "penn/base/error.h"
#include "penn/base/files.h"
#include "penn/base/npy.h"
#include "penn/simulate/output_folder.h"

namespace penn {
namespace {

using nlohmann::ordered_json;

ordered_json manifest(const Simulator& simulator, const SimulatorOptions& options, const std::string& observation,
                      const DatasetOptions& dataset, const SimulationCount& count) {
  const System& system = simulator.system();
  ordered_json parameters = ordered_json::array(), channels = ordered_json::array();
  for (const Parameter& p : system.parameters)
    parameters.push_back({{"name", p.name}, {"label", p.label}, {"range", {p.range.low, p.range.high}}});
  for (const Channel& c : system.observations[static_cast<size_t>(system.observation_index(observation))].channels)
    channels.push_back(c.name);
  const Range sampling = system.simulation.sampling;
  ordered_json result = {
      {"penn", version()},
      {"system", system.name},
      {"observation", observation},
      {"seed", options.seed},
      {"trajectories", dataset.count},
      {"length", simulator.length()},
      {"channels", channels},
      {"parameters", parameters},
      {"fixed", options.fixed},
      {"sampling", sampling.is_single() ? ordered_json(sampling.low) : ordered_json({sampling.low, sampling.high})},
      {"discarded", count.discarded},
      {"discarded_fraction", count.discarded_fraction()},
      {"kernel", simulator.kernel_description()},
      {"system_text", system.text},
  };
  if (!dataset.csv)
    result["shapes"] = {{"theta.npy", {dataset.count, simulator.parameters()}},
                        {"z.npy", {dataset.count, simulator.length(), simulator.channels()}}};
  return result;
}

void write_csv(const std::filesystem::path& path, const Simulator& simulator, const std::string& observation,
               uint64_t seed, int64_t number, const float* theta, const float* z, float sampling) {
  const System& system = simulator.system();
  std::vector<std::string> head = {
      fmt::format("penn {} simulate {}{}{}", version(), system.name, observation.empty() ? "" : ":", observation),
      fmt::format("seed = {}, trajectory = {}, sampling = {}", seed, number, sampling)};
  for (size_t i = 0; i < system.parameters.size(); ++i)
    head.push_back(fmt::format("{} = {}", system.parameters[i].name, theta[i]));
  std::vector<std::string> names = {"t"};
  for (const Channel& c : system.observations[static_cast<size_t>(system.observation_index(observation))].channels)
    names.push_back(c.name);
  CsvWriter writer(path, head, names);
  const size_t d = static_cast<size_t>(simulator.channels());
  std::vector<double> row(1 + d);
  const auto shortest = [](float x) { return std::stod(fmt::format("{}", x)); };  // 0.1f is 0.1, not 0.10000000149
  const double interval = shortest(sampling);
  for (int64_t i = 0; i < simulator.length(); ++i) {
    row[0] = std::stod(fmt::format("{:.12g}", static_cast<double>(i) * interval));  // 0.3, not 0.30000000000000004
    for (size_t c = 0; c < d; ++c) row[1 + c] = shortest(z[static_cast<size_t>(i) * d + c]);
    writer.row(row);
  }
  writer.finish();
}

}  // namespace

DatasetSummary write_dataset(const Simulator& simulator, const SimulatorOptions& simulator_options,
                             const std::string& observation, const std::filesystem::path& folder,
                             const DatasetOptions& options) {
  if (options.count < 1)
    throw UsageError(fmt::format("the number of trajectories must be at least 1, got {}", options.count),
                     "for example: -n 1000");
  OutputFolder output(folder, options.force);
  const int64_t M = simulator.parameters(), n = simulator.length(), d = simulator.channels();
  const bool varying_sampling = !simulator.system().simulation.sampling.is_single();
  std::optional<NpyWriter> theta_file, z_file, sampling_file;
  const auto shape = [](std::initializer_list<int64_t> sizes) { return Shape(sizes.begin(), sizes.end()); };
  if (!options.csv) {
    theta_file.emplace(output.file("theta.npy"), shape({options.count, M}));
    z_file.emplace(output.file("z.npy"), shape({options.count, n, d}));
    if (varying_sampling) sampling_file.emplace(output.file("sampling.npy"), shape({options.count}));
  }

  // About 64 MB at a time, and enough lane groups to keep all threads busy.
  const int64_t batch = std::clamp<int64_t>((16 << 20) / (n * d), 64, 8192);
  // The first batches are small and grow while they are quick, so that slow systems show progress and can be stopped.
  constexpr double kQuick = 0.2;  // seconds
  int64_t size = std::min<int64_t>(batch, 64);
  const size_t rows = static_cast<size_t>(std::min(batch, options.count));
  std::vector<float> theta(rows * static_cast<size_t>(M)), z(rows * static_cast<size_t>(n * d)), sampling(rows);
  const int digits = static_cast<int>(std::to_string(options.count - 1).size());
  DatasetSummary summary;
  for (int64_t first = 0, count = 0; first < options.count; first += count) {
    const auto start = std::chrono::steady_clock::now();
    count = std::min(size, options.count - first);
    const SimulationCount counted =
        simulator.run(static_cast<uint64_t>(first), count, theta.data(), z.data(), sampling.data());
    summary.count.kept += counted.kept;
    summary.count.discarded += counted.discarded;
    if (options.csv) {
      for (int64_t i = 0; i < count; ++i)
        write_csv(output.file(fmt::format("trajectory_{:0{}}.csv", first + i, std::max(digits, 3))), simulator,
                  observation, simulator_options.seed, first + i, theta.data() + i * M, z.data() + i * n * d,
                  sampling[static_cast<size_t>(i)]);
    } else {
      theta_file->append({theta.data(), static_cast<size_t>(count * M)});
      z_file->append({z.data(), static_cast<size_t>(count * n * d)});
      if (sampling_file) sampling_file->append({sampling.data(), static_cast<size_t>(count)});
    }
    if (options.progress && !options.progress(first + count)) return summary;
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < kQuick)
      size = std::min(2 * size, batch);
  }
  for (auto* file : {&theta_file, &z_file, &sampling_file})
    if (*file) (*file)->finish();
  write_file_atomically(output.file("manifest.json"),
                        manifest(simulator, simulator_options, observation, options, summary.count)
                                .dump(2, ' ', false, ordered_json::error_handler_t::replace) +
                            "\n");
  // An older data set must not mix with the new one; files that are none of ours stay.
  std::error_code ignored;
  const bool is_older_there = std::filesystem::exists(folder / "manifest.json", ignored);
  output.commit([&](const std::string& name) {
    const bool is_csv =
        name.rfind("trajectory_", 0) == 0 && name.size() > 4 && name.compare(name.size() - 4, 4, ".csv") == 0;
    return is_older_there && (is_csv || name == "theta.npy" || name == "z.npy" || name == "sampling.npy");
  });
  summary.is_complete = true;
  return summary;
}

}  // namespace penn
