// Any bytes as the data of a user, for models of one and of two channels, with and without a choice of columns:
// trajectories that are complete, finite and have a sampling interval, or an Error of the kind promised. What follows
// the reading (rounding, warnings) must hold up too.
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "penn/base/error.h"
#include "penn/data/observation.h"

namespace {

void read(std::string_view bytes, const penn::ObservationFormat& format, const penn::ObservationOptions& options = {}) {
  try {
    const int64_t d = static_cast<int64_t>(format.channels.size());
    const auto all = penn::read_observations(penn::InputFile(bytes, "fuzz.data"), format, options);
    if (all.empty()) std::abort();
    for (const penn::ObservedTrajectory& t : all) {
      if (t.source.empty() || t.n < 2 || static_cast<int64_t>(t.z.size()) != t.n * d) std::abort();
      if (!(std::isfinite(t.sampling) && t.sampling > 0)) std::abort();
      if (!t.has_time && options.sampling > 0 && t.sampling != options.sampling) std::abort();
      for (const float z : t.z)
        if (!std::isfinite(z)) std::abort();
      std::vector<penn::Quantisation> quantisations;
      const std::vector<float> seen = penn::dither(t.z, t.n, d, quantisations);
      if (seen.size() != t.z.size() || static_cast<int64_t>(quantisations.size()) != d) std::abort();
      for (size_t i = 0; i < seen.size(); ++i)  // within half a step, and a rounding of floats
        if (!(std::abs(static_cast<double>(seen[i]) - t.z[i]) <=
              0.5 * quantisations[i % static_cast<size_t>(d)].step * 1.001 + 1e-6 * std::abs(t.z[i])))
          std::abort();
    }
  } catch (const penn::DataError&) {
  } catch (const penn::UsageError&) {
    if (options.columns.empty()) throw;  // only a choice of columns can be wrong usage
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const penn::ObservationFormat one = {{"x"}, {0.1, 0.1}}, two = {{"x1", "x2"}, {0.05, 0.2}};
  read(bytes, one);
  read(bytes, one, {.columns = {"t", "x"}});
  read(bytes, two, {.sampling = 0.1});
  read(bytes, two, {.columns = {"3", "1"}, .sampling = 0.1});
  return 0;
}
