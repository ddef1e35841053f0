// Simulated pairs as files: theta.npy (N, M), z.npy (N, n, d), manifest.json; or one CSV per trajectory. Written batch
// by batch, so memory does not grow with N.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "penn/simulate/simulator.h"

namespace penn {

struct DatasetOptions {
  int64_t count = 0;
  bool csv = false;
  bool force = false;                               // replace files in a directory that is not empty
  std::function<bool(int64_t done)> progress = {};  // called after every batch; false stops, and nothing is left behind
};

struct DatasetSummary {
  SimulationCount count;
  bool is_complete = false;  // false: stopped by `progress`
};

DatasetSummary write_dataset(const Simulator& simulator, const SimulatorOptions& simulator_options,
                             const std::string& observation, const std::filesystem::path& folder,
                             const DatasetOptions& options);

}  // namespace penn
