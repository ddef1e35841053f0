// The sum of n standard normal jumps is sqrt(n) times one standard normal number, so a step needs one number n, Poisson
// with mean mu = rate dt, and one normal number, however many jumps there are. n is found by inversion,
//   n = number of k >= 1 with u < P(n >= k),
// with u a random word and the probabilities rounded to multiples of 2^-32. Above kMostMean jumps per step n is set to
// mu: the increment is then normal with variance mu, without its excess kurtosis 3/mu < 0.006.
#include "penn/noise/compound_poisson.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "penn/noise/gaussian.h"
#include "penn/noise/lane_random.h"

namespace penn {
namespace {

using namespace lanes;

constexpr double kMostMean = 500;

// Thresholds of the words: n = base + number of thresholds above the word. Those that every word or none passes are
// left out.
struct Inversion {
  double base = 0;
  std::vector<uint32_t> thresholds;  // falling
};

Inversion invert_poisson(double mu) {
  Inversion result;
  if (mu > kMostMean) result.base = mu;
  if (mu > kMostMean || mu <= 0) return result;
  // P(n = k) up to a factor, from the top down, where P(n >= k) is far below 2^-32; normalised by their sum.
  const size_t top = static_cast<size_t>(mu + 9 * std::sqrt(mu) + 12);
  std::vector<double> tail(top + 1);  // P(n >= k)
  double weight = 1, sum = 0;
  for (size_t k = top + 1; k-- > 0;) {
    tail[k] = sum += weight;
    weight *= static_cast<double>(k) / mu;
    if (sum > 1e200) {  // a small mu: falling factorials grow fast
      for (size_t j = k; j <= top; ++j) tail[j] *= 1e-200;
      weight *= 1e-200, sum *= 1e-200;
    }
  }
  for (size_t k = 1; k <= top; ++k) {
    const double threshold = std::round(tail[k] / sum * 0x1p32);
    if (threshold >= 0x1p32) result.base += 1;
    else if (threshold >= 1) result.thresholds.push_back(static_cast<uint32_t>(threshold));
  }
  return result;
}

class CompoundPoissonDriver final : public WhiteDriver {
 public:
  void set_lane(int lane, const double* shapes, double dt) override {
    const Inversion inversion = invert_poisson(shapes[0] * dt);
    base_[lane] = static_cast<float>(inversion.base);
    const size_t rows = std::max(thresholds_.size() / kLanes, inversion.thresholds.size());
    thresholds_.resize(rows * kLanes);
    for (size_t k = 0; k < rows; ++k)
      thresholds_[k * kLanes + static_cast<size_t>(lane)] =
          k < inversion.thresholds.size() ? inversion.thresholds[k] : 0;
  }

 private:
  void fill(const LaneStream& source, int64_t first, int count, float* out) const override {
    fill_blocks<2>(first, count, out, [&](uint32_t block, int lane, X* value) {
      const Words words = source.words(lane, block);
      X normal[2];
      box_muller(words.w[0], words.w[1], normal[0], normal[1]);
      for (int i = 0; i < 2; ++i) value[i] = normal[i] * sqrt(count_jumps(words.w[2 + i], lane));
    });
  }

  X count_jumps(const U word[2], int lane) const {
    I passed[2] = {};  // minus the number of thresholds above the word
    for (size_t k = 0; k < thresholds_.size(); k += kLanes) {
      const uint32_t* row = thresholds_.data() + k + lane;
      const I more[2] = {(I)(word[0] < load(row)), (I)(word[1] < load(row + kWidth))};
      passed[0] += more[0], passed[1] += more[1];
    }
    return load_pair(base_ + lane) - X(to_float(passed[0]), to_float(passed[1]));
  }

  alignas(64) float base_[kLanes];
  AlignedVector<uint32_t> thresholds_;  // (rows, kLanes), 0 where a lane needs fewer
};

std::vector<double> reference(const RandomKey& key, uint32_t stream, const double* shapes, double dt, int steps) {
  const double mu = shapes[0] * dt;
  std::vector<double> values(static_cast<size_t>(steps));
  for (size_t i = 0; i < values.size(); ++i) {
    const double u = (static_cast<double>(key.words(stream, static_cast<uint32_t>(i / 2))[2 + i % 2]) + 0.5) * 0x1p-32;
    // Upwards from 1 - P(n = 0), each probability from the one before.
    double n = 0, probability = std::exp(-mu), tail = -std::expm1(-mu);
    for (; u < tail && mu <= kMostMean; tail -= probability) probability *= mu / ++n;
    if (mu > kMostMean) n = mu;
    values[i] = std::sqrt(n) * gaussian_reference(key, stream, i / 2 * 4 + i % 2);
  }
  return values;
}

}  // namespace

const NoiseType& compound_poisson_noise() {
  static const NoiseType type = {
      .name = "compound_poisson",
      .shapes = {{"rate", 0, std::numeric_limits<double>::infinity(), NoiseShape::kOpenHigh}},
      .increments = "independent; the sum of n standard normal jumps, n Poisson with mean rate*h",
      .make_driver = [](auto) -> std::unique_ptr<Driver> { return std::make_unique<CompoundPoissonDriver>(); },
      .reference = reference};
  return type;
}

}  // namespace penn
