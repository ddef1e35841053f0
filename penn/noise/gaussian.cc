// Box-Muller, four values from four words.
#include "penn/noise/gaussian.h"

#include <cmath>
#include <numbers>

#include "penn/noise/lane_random.h"

namespace penn {
namespace {

using namespace lanes;

class GaussianDriver final : public WhiteDriver {
 public:
  void set_lane(int lane, const double*, double dt) override { scale_[lane] = static_cast<float>(std::pow(dt, 0.5)); }

 private:
  void fill(const LaneStream& source, int64_t first, int count, float* out) const override {
    fill_blocks<4>(first, count, out, [&](uint32_t block, int lane, X* value) {
      const Words words = source.words(lane, block);
      box_muller(words.w[0], words.w[1], value[0], value[1]);
      box_muller(words.w[2], words.w[3], value[2], value[3]);
      for (int i = 0; i < 4; ++i) value[i] = value[i] * load_pair(scale_ + lane);
    });
  }
  alignas(64) float scale_[kLanes];
};

std::vector<double> reference(const RandomKey& key, uint32_t stream, const double*, double dt, int steps) {
  std::vector<double> values(static_cast<size_t>(steps));
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::sqrt(dt) * gaussian_reference(key, stream, i);
  return values;
}

}  // namespace

double gaussian_reference(const RandomKey& key, uint32_t stream, uint64_t step) {
  const Quad words = key.words(stream, static_cast<uint32_t>(step / 4));
  const int pair = static_cast<int>(step % 4) / 2 * 2;  // words 0, 1 make steps 0, 1; words 2, 3 make steps 2, 3
  const double radius = std::sqrt(-2 * std::log(uniform_positive(words[pair])));
  const double angle = std::numbers::pi * static_cast<int32_t>(words[pair + 1]) * 0x1p-31;
  return step % 2 == 0 ? radius * std::cos(angle) : radius * std::sin(angle);
}

const NoiseType& gaussian_noise() {
  static const NoiseType type = {
      .name = "gaussian",
      .shapes = {},
      .increments = "independent, normal, mean 0, variance h",
      .make_driver = [](auto) -> std::unique_ptr<Driver> { return std::make_unique<GaussianDriver>(); },
      .reference = reference};
  return type;
}

}  // namespace penn
