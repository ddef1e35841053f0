#include "penn/simulate/batch_stream.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "penn/base/error.h"
#include "penn/base/random.h"

namespace penn {
namespace {

constexpr uint32_t kLengthStream = 2, kShuffleStream = 3;

class FreshStream final : public BatchStream {
 public:
  FreshStream(const System& system, int observation, const SimulatorOptions& options, int64_t batch, IntRange lengths,
              int64_t strata)
      : simulator_(system, observation, options),
        seed_(options.seed),
        batch_(batch),
        lengths_(lengths),
        strata_(strata) {}

  void fill(int64_t step, TrajectoryBatch& out) override {
    const double within = RandomKey{seed_, static_cast<uint64_t>(step), 0}.uniform(kLengthStream, 0);
    const double u = (static_cast<double>(step % strata_) + within) / static_cast<double>(strata_);
    const double ratio = static_cast<double>(lengths_.high + 1) / static_cast<double>(lengths_.low);
    const int64_t length =
        lengths_.is_single()
            ? lengths_.low
            : std::min(lengths_.high, static_cast<int64_t>(static_cast<double>(lengths_.low) * std::pow(ratio, u)));
    simulator_.set_length(length);
    out.count = batch_;
    out.length = length;
    out.channels = simulator_.channels();
    out.theta.resize(static_cast<size_t>(batch_ * simulator_.parameters()));
    out.z.resize(static_cast<size_t>(batch_ * length * out.channels));
    out.sampling.resize(static_cast<size_t>(batch_));
    const SimulationCount count = simulator_.run(static_cast<uint64_t>(step * batch_), batch_, out.theta.data(),
                                                 out.z.data(), out.sampling.data());
    count_.kept += count.kept;
    count_.discarded += count.discarded;
  }
  SimulationCount count() const override { return count_; }

 private:
  Simulator simulator_;
  uint64_t seed_;
  int64_t batch_;
  IntRange lengths_;
  int64_t strata_;
  SimulationCount count_;
};

class FixedStream final : public BatchStream {
 public:
  FixedStream(std::shared_ptr<const FixedSet> set, int64_t batch, uint64_t seed)
      : set_(std::move(set)), batch_(batch), seed_(seed) {
    if (batch > set_->all.count)
      throw UsageError(
          fmt::format("a batch of {} is larger than the data set of {} trajectories", batch, set_->all.count),
          "use a smaller --batch");
    order_.resize(static_cast<size_t>(set_->all.count));
  }

  void fill(int64_t step, TrajectoryBatch& out) override {
    shuffle(step / steps_per_epoch());
    const TrajectoryBatch& all = set_->all;
    out.count = batch_;
    out.length = all.length;
    out.channels = all.channels;
    const int64_t* rows = &order_[static_cast<size_t>(step % steps_per_epoch() * batch_)];
    for (std::vector<float> TrajectoryBatch::*member :
         {&TrajectoryBatch::theta, &TrajectoryBatch::z, &TrajectoryBatch::sampling, &TrajectoryBatch::features}) {
      const int64_t width = static_cast<int64_t>((all.*member).size()) / all.count;
      (out.*member).resize(static_cast<size_t>(batch_ * width));
      for (int64_t i = 0; i < batch_; ++i)
        std::copy_n((all.*member).begin() + rows[i] * width, width, (out.*member).begin() + i * width);
    }
  }
  int64_t steps_per_epoch() const override { return set_->all.count / batch_; }  // the rest of an epoch is left out
  SimulationCount count() const override { return set_->count; }

 private:
  void shuffle(int64_t epoch) {  // Fisher-Yates from the identity: the order of an epoch depends on its number only
    if (epoch == epoch_) return;
    epoch_ = epoch;
    std::iota(order_.begin(), order_.end(), 0);
    const RandomKey key{seed_, static_cast<uint64_t>(epoch), 0};
    for (int64_t i = set_->all.count - 1; i > 0; --i) {
      const double u = key.uniform(kShuffleStream, static_cast<uint32_t>(i));
      std::swap(order_[static_cast<size_t>(i)], order_[static_cast<size_t>(u * static_cast<double>(i + 1))]);
    }
  }

  std::shared_ptr<const FixedSet> set_;
  int64_t batch_;
  uint64_t seed_;
  int64_t epoch_ = -1;
  std::vector<int64_t> order_;
};

}  // namespace

std::unique_ptr<BatchStream> make_fresh_stream(const System& system, int observation, const SimulatorOptions& options,
                                               int64_t batch, IntRange lengths, int64_t strata) {
  return std::make_unique<FreshStream>(system, observation, options, batch, lengths, strata);
}

FixedSet simulate_set(const System& system, int observation, const SimulatorOptions& options, int64_t size) {
  const Simulator simulator(system, observation, options);
  FixedSet set;
  set.all.count = size;
  set.all.length = simulator.length();
  set.all.channels = simulator.channels();
  set.all.theta.resize(static_cast<size_t>(size * simulator.parameters()));
  set.all.z.resize(static_cast<size_t>(size * simulator.length() * simulator.channels()));
  set.all.sampling.resize(static_cast<size_t>(size));
  set.count = simulator.run(0, size, set.all.theta.data(), set.all.z.data(), set.all.sampling.data());
  return set;
}

std::unique_ptr<BatchStream> make_fixed_stream(std::shared_ptr<const FixedSet> set, int64_t batch, uint64_t seed) {
  return std::make_unique<FixedStream>(std::move(set), batch, seed);
}

}  // namespace penn
