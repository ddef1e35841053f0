#include "penn/data/observation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "penn/base/csv.h"
#include "penn/base/error.h"
#include "penn/base/npy.h"

namespace penn {
namespace {

std::string channel_list(const ObservationFormat& format) {
  return fmt::format("{}", fmt::join(format.channels, ", "));
}

// "t", "Time", "time [s]", "t (ms)", "time_s", "Time/s", "timestamp".
bool is_time_name(const std::string& name) {
  std::string word;
  for (const char c : name) {
    if (!std::isalpha(static_cast<unsigned char>(c))) break;
    word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  const bool has_unit =
      word.size() == name.size() || std::string(" [(_/,").find(name[word.size()]) != std::string::npos;
  return has_unit && (word == "t" || word == "time" || word == "timestamp");
}

// Rows of numbers with words for where each came from; the one form CSV and NPY both take.
struct Rows {
  std::string file;
  size_t count = 0, columns = 0;
  std::vector<std::string> names;   // (columns) or empty
  std::vector<double> values;       // (count, columns)
  const CsvTable* table = nullptr;  // null: NPY
  std::string in_file;              // "many.npy[3]"
  double at(size_t row, size_t column) const { return values[row * columns + column]; }
  // "bead.csv:12" or "many.npy[3], row 11"; rows count from 0 in NPY as Python does.
  std::string place(size_t row) const {
    return table ? fmt::format("{}:{}", file, table->line_of_row(row)) : fmt::format("{}, row {}", in_file, row);
  }
};

double median_interval(const Rows& rows, size_t column) {
  std::vector<double> intervals(rows.count - 1);
  for (size_t i = 0; i + 1 < rows.count; ++i) intervals[i] = rows.at(i + 1, column) - rows.at(i, column);
  const auto middle = intervals.begin() + static_cast<std::ptrdiff_t>(intervals.size() / 2);
  std::nth_element(intervals.begin(), middle, intervals.end());
  return *middle;
}

// Largest distance of a time from the uniform grid between the first and the last, in intervals; infinite where time
// does not rise.
double grid_distance(const Rows& rows, size_t column) {
  const double first = rows.at(0, column),
               dt = (rows.at(rows.count - 1, column) - first) / static_cast<double>(rows.count - 1);
  if (!(dt > 0)) return HUGE_VAL;
  double worst = 0;
  for (size_t i = 0; i < rows.count; ++i)
    worst = std::max(worst, std::abs((rows.at(i, column) - first) / dt - static_cast<double>(i)));
  return worst;
}

// The interval of a time column that is uniform within the tolerance, or an error that names the line.
double check_time(const Rows& rows, size_t column, std::vector<std::string>& warnings) {
  for (size_t i = 0; i + 1 < rows.count; ++i)
    if (!(rows.at(i + 1, column) > rows.at(i, column)))
      throw DataError(fmt::format("{}: the time does not rise: {} follows {}", rows.place(i + 1),
                                  rows.at(i + 1, column), rows.at(i, column)),
                      "sort the rows by time and remove doubles; or, if this column is not the time, choose columns "
                      "with --columns");
  const double distance = grid_distance(rows, column), typical = median_interval(rows, column);
  if (distance > kTimeWarned) {
    size_t worst = 0;
    double most = -1;
    for (size_t i = 0; i + 1 < rows.count; ++i) {
      const double off = std::abs(rows.at(i + 1, column) - rows.at(i, column) - typical);
      if (off > most) most = off, worst = i;
    }
    throw DataError(fmt::format("{}: the times are not uniform: a step of {:.6g} where most are {:.6g}",
                                rows.place(worst + 1), rows.at(worst + 1, column) - rows.at(worst, column), typical),
                    "the model needs equal intervals: interpolate, fill the gap, or cut the trajectory there");
  }
  if (distance > kTimeSilent)
    warnings.push_back(fmt::format(
        "times are uneven: up to {:.0f} % of the sampling interval away from a uniform grid; read as uniform",
        100 * distance));
  // Ten digits: 0.1 shall not become 0.09999999999999999.
  const double interval = (rows.at(rows.count - 1, column) - rows.at(0, column)) / static_cast<double>(rows.count - 1);
  if (!(interval > 1e-30 && interval < 1e30))
    throw DataError(fmt::format("{}: the times rise by {:g} from sample to sample", rows.in_file, interval),
                    "use other units of time");
  return std::stod(fmt::format("{:.10g}", interval));
}

// A column that nobody named a time but that rises uniformly, in other steps than the model's: ignored, it would make
// every rate wrong in silence. Row numbers (whole numbers that rise by 1 from 0 or 1) are no time. -1: none.
int unnamed_time(const Rows& rows, const ObservationFormat& format, const std::vector<size_t>& channels) {
  if (rows.count < 3) return -1;
  for (size_t c = 0; c < rows.columns; ++c) {
    if (std::find(channels.begin(), channels.end(), c) != channels.end() || !(grid_distance(rows, c) <= kTimeSilent))
      continue;
    const double first = rows.at(0, c),
                 step = (rows.at(rows.count - 1, c) - first) / static_cast<double>(rows.count - 1);
    if (step == 1 && (first == 0 || first == 1)) continue;
    if (step < format.sampling.low * (1 - kSameSampling) || step > format.sampling.high * (1 + kSameSampling))
      return static_cast<int>(c);
  }
  return -1;
}

struct Layout {
  int time = -1;
  std::vector<size_t> channels;
};

// A name that decides which column is read must be there once: column `found` is the first of that name.
void refuse_twice(const Rows& rows, size_t found) {
  for (size_t c = found + 1; c < rows.names.size(); ++c)
    if (rows.names[c] == rows.names[found])
      throw DataError(
          fmt::format("{}: columns {} and {} are both named '{}'", rows.in_file, found + 1, c + 1, rows.names[found]),
          fmt::format("rename one, or choose by number: --columns {}", found + 1));
}

// Some channels are there by name and others are not: in order, a column would be read as the channel of another.
void refuse_missing(const Rows& rows, const ObservationFormat& format) {
  std::vector<std::string> missing;
  for (const std::string& channel : format.channels)
    if (std::find(rows.names.begin(), rows.names.end(), channel) == rows.names.end()) missing.push_back(channel);
  throw DataError(fmt::format("{}: no column is named {}; there are {}, and the model observes {}", rows.in_file,
                              fmt::join(missing, " or "), fmt::join(rows.names, ", "), channel_list(format)),
                  fmt::format("rename the columns, or choose them in the order of the channels ({}): --columns A,B",
                              channel_list(format)));
}

// "time from 't', x from 'velocity'": what the user should know was taken for what.
std::string reading_of(const Rows& rows, const Layout& layout, const ObservationFormat& format) {
  if (!rows.table || (layout.time < 0 && rows.columns == 1)) return "";
  const auto column = [&](size_t c) {
    return c < rows.names.size() && !rows.names[c].empty() ? fmt::format("'{}'", rows.names[c])
                                                           : fmt::format("column {}", c + 1);
  };
  std::string text = layout.time < 0 ? "" : fmt::format("time from {}", column(static_cast<size_t>(layout.time)));
  for (size_t c = 0; c < layout.channels.size(); ++c)
    text += fmt::format("{}{} from {}", text.empty() ? "" : ", ", format.channels[c], column(layout.channels[c]));
  return text;
}

Layout find_layout(const Rows& rows, const ObservationFormat& format, bool columns_were_chosen) {
  const size_t d = format.channels.size();
  Layout layout;
  for (size_t c = 0; c < rows.names.size(); ++c)
    if (is_time_name(rows.names[c]) &&
        std::find(format.channels.begin(), format.channels.end(), rows.names[c]) == format.channels.end()) {
      layout.time = static_cast<int>(c);
      if (!columns_were_chosen) refuse_twice(rows, c);
      break;
    }
  const auto rest_in_order = [&] {
    layout.channels.clear();
    for (size_t c = 0; c < rows.columns; ++c)
      if (static_cast<int>(c) != layout.time) layout.channels.push_back(c);
  };
  if (!columns_were_chosen) {
    for (const std::string& channel : format.channels) {
      const auto found = std::find(rows.names.begin(), rows.names.end(), channel);
      if (found == rows.names.end()) continue;
      layout.channels.push_back(static_cast<size_t>(found - rows.names.begin()));
      refuse_twice(rows, layout.channels.back());
    }
    if (layout.channels.size() == d) {
      if (layout.time < 0) layout.time = unnamed_time(rows, format, layout.channels);
      return layout;
    }
    if (!layout.channels.empty()) refuse_missing(rows, format);
  }
  rest_in_order();
  if (layout.channels.size() == d) return layout;
  if (layout.time < 0 && rows.columns == d + 1) {
    // Chosen columns: the first is the time because the user says so. Found ones must look like it.
    if (columns_were_chosen || (rows.count >= 3 && grid_distance(rows, 0) <= kTimeWarned)) {
      layout.time = 0;
      rest_in_order();
      return layout;
    }
  }
  const std::string found = rows.names.empty() ? fmt::format("{} column{}", rows.columns, rows.columns == 1 ? "" : "s")
                                               : fmt::format("{} column{} ({})", rows.columns,
                                                             rows.columns == 1 ? "" : "s", fmt::join(rows.names, ", "));
  throw DataError(fmt::format("{}: {}, but the model observes {} ({}){}", rows.in_file, found, d, channel_list(format),
                              rows.columns == d + 1 ? ", and the first column is not a uniformly rising time" : ""),
                  rows.table ? fmt::format("choose them with --columns, for example --columns {}",
                                           rows.columns > d ? "1,2" : channel_list(format))
                             : fmt::format("expected the shape (n, {0}), or (B, n, {0}) for many trajectories", d));
}

ObservedTrajectory to_trajectory(const Rows& rows, const ObservationFormat& format, const ObservationOptions& options,
                                 bool columns_were_chosen) {
  const auto require_samples = [&](int64_t fewest) {
    if (static_cast<int64_t>(rows.count) < fewest)
      throw DataError(fmt::format("{}: {} sample{}; a trajectory needs at least {}", rows.in_file, rows.count,
                                  rows.count == 1 ? "" : "s", format.fewest_samples),
                      "one row is one point in time");
  };
  require_samples(2);
  const Layout layout = find_layout(rows, format, columns_were_chosen);
  ObservedTrajectory trajectory;
  trajectory.source = rows.in_file;
  trajectory.n = static_cast<int64_t>(rows.count);
  trajectory.has_time = layout.time >= 0;
  trajectory.reading = reading_of(rows, layout, format);
  if (trajectory.has_time) {
    trajectory.sampling = check_time(rows, static_cast<size_t>(layout.time), trajectory.warnings);
    if (options.sampling > 0 && std::abs(trajectory.sampling / options.sampling - 1) > kSameSampling)
      throw DataError(fmt::format("{}: the time column says every {:.6g}, --sampling says {:.6g}", rows.in_file,
                                  trajectory.sampling, options.sampling),
                      fmt::format("leave out --sampling; or, if the time has another unit than the system, choose "
                                  "columns without it: --columns {}",
                                  fmt::join(format.channels, ",")));
  } else if (options.sampling > 0) {
    trajectory.sampling = options.sampling;
  } else if (format.sampling.is_single()) {
    trajectory.sampling = format.sampling.low;
    trajectory.sampling_assumed = true;
  } else {
    throw DataError(
        fmt::format("{}: no time column, and the model was trained for sampling intervals from {:g} to {:g}",
                    rows.in_file, format.sampling.low, format.sampling.high),
        "give the time between samples with --sampling, or add a column named t");
  }
  trajectory.z.reserve(rows.count * layout.channels.size());
  for (size_t i = 0; i < rows.count; ++i)
    for (size_t c = 0; c < layout.channels.size(); ++c) {
      const float value = static_cast<float>(rows.at(i, layout.channels[c]));
      if (!std::isfinite(value))
        throw DataError(fmt::format("{}: {} in channel {} is not a finite number (float32)", rows.place(i),
                                    rows.at(i, layout.channels[c]), format.channels[c]),
                        "a trajectory must be complete: cut it before this point, or fill the gap");
      trajectory.z.push_back(value);
    }
  require_samples(format.fewest_samples);  // last: what else is wrong with a short file says more
  return trajectory;
}

std::vector<ObservedTrajectory> from_npy(InputFile file, const ObservationFormat& format,
                                         const ObservationOptions& options) {
  if (!options.columns.empty())
    throw UsageError("--columns is for CSV files",
                     "arrange the last axis of an NPY array in the order of the channels");
  const NpyReader reader(std::move(file));
  const Shape& shape = reader.shape();
  const size_t d = format.channels.size();
  if (shape.empty() || shape.size() > 3)
    throw DataError(fmt::format("{}: shape {}", reader.name(), to_text(shape)),
                    fmt::format("expected (n), (n, {0}) or (B, n, {0})", d));
  if (shape.size() == 2 && shape[1] > d + 1)
    throw DataError(
        fmt::format("{}: shape {}, but the model observes {} ({})", reader.name(), to_text(shape), d,
                    channel_list(format)),
        fmt::format(
            "expected (n, {0}), or (B, n, {0}) for many trajectories{1}", d,
            d == 1 ? fmt::format("; for {} trajectories of {} samples: z[:, :, None]", shape[0], shape[1]) : ""));
  const bool many = shape.size() == 3;
  const size_t count = many ? shape[0] : 1, n = many ? shape[1] : shape[0],
               columns = shape.size() == 1 ? 1 : shape.back();
  if (count == 0) throw DataError(fmt::format("{}: no trajectories: shape {}", reader.name(), to_text(shape)));
  if (columns == 0) throw DataError(fmt::format("{}: no values: shape {}", reader.name(), to_text(shape)));
  std::vector<ObservedTrajectory> result;
  for (size_t b = 0; b < count; ++b) {
    Rows rows{reader.name(),
              n,
              columns,
              {},
              std::vector<double>(n * columns),
              nullptr,
              many ? fmt::format("{}[{}]", reader.name(), b) : reader.name()};
    reader.read(b * n * columns, rows.values);
    for (size_t i = 0; i < rows.values.size(); ++i)
      if (!std::isfinite(rows.values[i]))
        throw DataError(fmt::format("{}, column {}: {} is not a finite number", rows.place(i / columns), i % columns,
                                    rows.values[i]),
                        "a trajectory must be complete: cut it before this point, or fill the gap");
    result.push_back(to_trajectory(rows, format, options, false));
  }
  return result;
}

}  // namespace

std::vector<ObservedTrajectory> read_observations(InputFile file, const ObservationFormat& format,
                                                  const ObservationOptions& options) {
  std::string start(kNpyMagic.size(), '\0');
  if (file.has_size() && file.size() >= start.size()) {
    file.read_at(0, start.data(), start.size());
    if (start == kNpyMagic) return from_npy(std::move(file), format, options);
  }
  CsvTable table = read_csv(std::move(file), {.columns = options.columns});
  Rows rows{table.file, table.rows, table.columns, table.names, std::move(table.values), &table, table.file};
  ObservedTrajectory trajectory = to_trajectory(rows, format, options, !options.columns.empty());
  if (table.gaps > 0)
    trajectory.warnings.push_back(fmt::format("{} blank line{} between the rows: read as one trajectory", table.gaps,
                                              table.gaps == 1 ? "" : "s"));
  return {std::move(trajectory)};
}

std::vector<ObservedTrajectory> read_observations(const std::filesystem::path& path, const ObservationFormat& format,
                                                  const ObservationOptions& options) {
  std::error_code ignored;
  if (std::filesystem::exists(path / "z.npy", ignored))  // a directory of `penn simulate`
    throw DataError(fmt::format("'{}' is a directory", path.string()),
                    fmt::format("its trajectories are in '{}'", (path / "z.npy").string()));
  return read_observations(InputFile(path), format, options);
}

}  // namespace penn
