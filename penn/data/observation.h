// Observed data from files to trajectories a model can read. CSV: one row per sample; the model's channels are found by
// name, else by order; a column named t or time, or a uniformly rising first column where there is one column too many,
// is the time. NPY: (n), (n, d) or (B, n, d). What cannot be read, or would be read wrongly, is a DataError with file,
// line and column; what is doubtful is a warning.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "penn/base/input_file.h"
#include "penn/system/system.h"

namespace penn {

// What the model expects of a trajectory.
struct ObservationFormat {
  std::vector<std::string> channels;  // (d) names
  Range sampling;                     // trained range of the time between samples
  int64_t fewest_samples = 2;
};

struct ObservationOptions {
  std::vector<std::string> columns =
      {};  // names or numbers from 1, in the order of the channels, the time first where wanted; empty: found
  double sampling = 0;  // time between samples where the file has no time; 0: the model's
};

struct ObservedTrajectory {
  std::string source;    // "bead.csv", "many.npy[3]"
  int64_t n = 0;         // samples
  std::vector<float> z;  // (n, d)
  double sampling = 0;   // measured, given or assumed
  bool has_time = false, sampling_assumed = false;
  std::string reading = {};  // which columns of a CSV file were taken for what; "" where there is nothing to say
  std::vector<std::string> warnings;
};

// Times may miss the uniform grid by this fraction of the interval: silently, with a warning, beyond that not at all.
inline constexpr double kTimeSilent = 0.02, kTimeWarned = 0.1;
// Relative difference of two sampling intervals that counts as none.
inline constexpr double kSameSampling = 0.01;

// One file, one trajectory, or as many as a (B, n, d) array holds.
std::vector<ObservedTrajectory> read_observations(const std::filesystem::path& path, const ObservationFormat& format,
                                                  const ObservationOptions& options = {});
// The same from memory; the content tells NPY from CSV.
std::vector<ObservedTrajectory> read_observations(InputFile file, const ObservationFormat& format,
                                                  const ObservationOptions& options = {});

}  // namespace penn
