// See summary.h. Trajectories are turned into lanes, kRow at a time; the rows of the table do the rest.
#include "penn/features/summary.h"

#include <fmt/core.h>

#include <cassert>

#include "penn/base/denormals.h"
#include "penn/base/error.h"
#include "penn/base/parallel.h"
#include "penn/features/lane_series.h"

namespace penn {
namespace {

void check(const SummaryOptions& options, const SummaryScaling& scaling) {
  const size_t d = options.channels.size();
  const auto fail = [](const std::string& message) { throw ModelError("summary: " + message); };
  if (d < 1 || d > kMaxChannels) fail(fmt::format("{} channels; 1 to {} are possible", d, kMaxChannels));
  if (scaling.channels.size() != d) fail(fmt::format("{} channels but scales of {}", d, scaling.channels.size()));
  if (options.lags.size() < 2 || options.lags[0] != 0 || options.lags[1] != 1) fail("lags must begin with 0, 1");
  for (size_t i = 1; i < options.lags.size(); ++i)
    if (options.lags[i] <= options.lags[i - 1]) fail("lags must ascend");
  if (options.lags.back() > kMaxLag)
    fail(fmt::format("lag {} is too long; {} is the longest", options.lags.back(), kMaxLag));
  for (const int bins : {options.bins, options.grid, options.pair_grid})
    if (bins < 2 || bins > kMaxBins) fail(fmt::format("{} bins; 2 to {} are possible", bins, kMaxBins));
  for (const ChannelScale& scale : scaling.channels) {
    for (const double unit : {scale.value, scale.velocity, scale.second, scale.third})
      if (!(unit >= 1e-36 && unit <= 1e36)) fail(fmt::format("a scale of {}; it must be positive", unit));
    if (!std::isfinite(scale.location)) fail("a location that is not finite");
  }
}

// y of kRow trajectories; where there are fewer, the last is repeated.
void load_lanes(const float* z, int64_t count, int64_t n, const SummaryScaling& scaling, LaneWorkspace& work) {
  const int64_t d = static_cast<int64_t>(work.channels.size());
  for (int64_t i = 0; i < d; ++i) {
    ChannelLanes& c = work.channels[i];
    const ChannelUnits unit = units_of(scaling.channels[i]);
    c.location = static_cast<float>(unit.location);
    c.value = static_cast<float>(unit.value);
    c.velocity = static_cast<float>(unit.velocity);
    c.second = static_cast<float>(unit.second);
    c.third = static_cast<float>(unit.third);
    const float power = static_cast<float>(unit.power);
    const float* from[kRow];
    for (int64_t lane = 0; lane < kRow; ++lane) from[lane] = z + std::min(lane, count - 1) * n * d + i;
    for (int64_t t = 0; t < n; ++t) {
      alignas(64) float row[kRow];
      for (int lane = 0; lane < kRow; ++lane) row[lane] = from[lane][t * d];
      c.y.set(t, clamp(lanes::load(row) * power, kClip));
    }
  }
}

// Of this thread, between calls: memory need not be cleared again.
thread_local std::unique_ptr<LaneWorkspace> kept_workspace;
constexpr int64_t kKeptLength = 20'000;  // longer ones are given back: 8 MB per channel

}  // namespace

SummaryOptions summary_options(int version, int64_t channels) {
  if (version != kSummaryVersion)
    throw ModelError(fmt::format("version {} of the statistics, this program has version {}", version, kSummaryVersion),
                     "train the model again with this version, or use the program it was trained with");
  SummaryOptions options;
  options.channels.clear();
  for (int64_t c = 0; c < channels; ++c) options.channels.push_back(fmt::format("z{}", c + 1));
  return options;
}

Summary::Summary(SummaryOptions options, SummaryScaling scaling)
    : options_(std::move(options)), scaling_(std::move(scaling)) {
  check(options_, scaling_);
  table_ = std::make_shared<const FeatureTable>(feature_table(options_));
}

const std::vector<std::string>& Summary::names() const {
  return table_->names;
}

void Summary::compute(const float* z, int64_t B, int64_t n, float* out, int threads) const {
  if (n < kSummaryMinLength)
    throw DataError(fmt::format("a trajectory of {} samples is too short", n), "at least 8 are needed");
  const int64_t d = channels(), F_count = size();
  if (threads < 1) threads = processor_count();
  parallel_for((B + kRow - 1) / kRow, threads, [&](int64_t group, int) {
    const FlushDenormals flush;
    if (!kept_workspace) kept_workspace = std::make_unique<LaneWorkspace>();
    LaneWorkspace& work = *kept_workspace;
    work.options = &options_;
    work.resize(n, d, F_count);
    const int64_t first = group * kRow, count = std::min<int64_t>(kRow, B - first);
    load_lanes(z + first * n * d, count, n, scaling_, work);
    for (ChannelLanes& c : work.channels) prepare_channel(work, c);
    FeatureLanes features(work.features.data());
    for (const FeatureRow& row : table_->rows) {
      [[maybe_unused]] const int64_t before = features.count();
      row.fast(features, work, row.subject);
      assert(features.count() - before == static_cast<int64_t>(row.names.size()));
    }
    const int64_t counted = features.count();
    for (int64_t lane = 0; lane < count; ++lane) {
      float* to = out + (first + lane) * F_count;
      for (int64_t f = 0; f < counted; ++f) to[f] = work.features[f * kRow + lane];
      float* scale = to + counted;
      for (const int i : table_->log_scales) {
        const float s = static_cast<float>(scale_from_log(to[i]));
        *scale++ = std::min(s, kOutputLimit);
        *scale++ = std::min(s * s, kOutputLimit);
      }
    }
    if (n > kKeptLength) kept_workspace.reset();
  });
}

}  // namespace penn
