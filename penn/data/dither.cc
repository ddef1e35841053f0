#include "penn/data/dither.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "penn/base/random.h"

namespace penn {
namespace {

constexpr double kOffGrid = 1e-2;  // of a step
constexpr int64_t kFewestValues = 5;
constexpr uint64_t kDitherSeed = 0x646974686572u;

}  // namespace

Quantisation find_quantisation(const float* z, int64_t n, int64_t stride) {
  Quantisation quantisation;
  std::vector<double> values, changes;
  double largest = 0;
  int64_t repeated = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double value = z[i * stride];
    values.push_back(value);
    largest = std::max(largest, std::abs(value));
    if (i == 0) continue;
    const double change = std::abs(value - z[(i - 1) * stride]);
    if (change == 0) ++repeated;
    else changes.push_back(change);
  }
  if (changes.empty()) return quantisation;  // constant: nothing to undo
  quantisation.repeated = static_cast<double>(repeated) / static_cast<double>(n - 1);
  std::nth_element(changes.begin(), changes.begin() + static_cast<std::ptrdiff_t>(changes.size() / 2), changes.end());
  quantisation.typical_change = changes[changes.size() / 2];
  if (repeated == 0) return quantisation;
  std::sort(values.begin(), values.end());
  quantisation.values = 1;
  for (size_t i = 1; i < values.size(); ++i) quantisation.values += values[i] != values[i - 1];
  // Values are floats: gaps are known to this, and smaller ones are not gaps.
  const double error = 2.4e-7 * largest;
  double step = 0;
  for (size_t i = 1; i < values.size(); ++i) {
    const double gap = values[i] - values[i - 1];
    if (gap > 2 * error && (step == 0 || gap < step)) step = gap;
  }
  if (step < 20 * error) return quantisation;  // as fine as floats are themselves
  for (size_t i = 1; i < values.size(); ++i) {
    const double gap = values[i] - values[i - 1], whole = std::round(gap / step);
    if (std::abs(gap - whole * step) > kOffGrid * step * std::max(1.0, std::min(whole, 10.0)) + error)
      return quantisation;
  }
  quantisation.step = step;
  return quantisation;
}

std::vector<float> dither(std::span<const float> z, int64_t n, int64_t d, std::vector<Quantisation>& quantisations) {
  std::vector<float> out(z.begin(), z.end());
  quantisations.clear();
  for (int64_t c = 0; c < d; ++c) {
    const Quantisation quantisation = find_quantisation(z.data() + c, n, d);
    quantisations.push_back(quantisation);
    // A line that jumps between two values is quantised, too: a switch, or a sensor that was stuck. Its noise
    // would be ours.
    if (quantisation.step == 0 || quantisation.values < kFewestValues) continue;
    // Another trajectory gets other draws, so that they average out where several are combined.
    uint64_t key = kDitherSeed;
    for (int64_t i = 0; i < n; ++i)
      key = (key ^ std::bit_cast<uint32_t>(z[static_cast<size_t>(i * d + c)])) * 0x9e3779b97f4a7c15u;
    for (int64_t i = 0; i < n; ++i) {
      const double u = RandomKey{key, static_cast<uint64_t>(i), 0}.uniform(static_cast<uint32_t>(c), 0) - 0.5;
      float& value = out[static_cast<size_t>(i * d + c)];
      value = static_cast<float>(value + u * quantisation.step);
    }
  }
  return out;
}

}  // namespace penn
