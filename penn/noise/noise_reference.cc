#include "penn/noise/noise_reference.h"

#include <cmath>
#include <numbers>

#include "penn/noise/fractional.h"

namespace penn {
namespace {

constexpr double kPi = std::numbers::pi;

double uniform_positive(uint32_t word) {
  return (static_cast<double>(word >> 1) + 0.5) * 0x1p-31;
}

}  // namespace

double gaussian_reference(const RandomKey& key, uint32_t stream, uint64_t step) {
  const Quad words = key.words(stream, static_cast<uint32_t>(step / 4));
  const int pair = static_cast<int>(step % 4) / 2 * 2;  // words 0, 1 make steps 0, 1; words 2, 3 make steps 2, 3
  const double radius = std::sqrt(-2 * std::log(uniform_positive(words[pair])));
  const double angle = kPi * static_cast<int32_t>(words[pair + 1]) * 0x1p-31;
  return step % 2 == 0 ? radius * std::cos(angle) : radius * std::sin(angle);
}

double stable_reference(const RandomKey& key, uint32_t stream, uint64_t step, double alpha) {
  const Quad words = key.words(stream, static_cast<uint32_t>(step / 2));
  const int pair = static_cast<int>(step % 2) * 2;
  const double distance =
      (static_cast<double>(words[pair] & 0x7fffffffu) + 0.5) * 0x1p-32;  // of V from the edge, in units of pi
  const double V = (words[pair] >> 31 ? -1 : 1) * kPi * (0.5 - distance);
  const double W = -std::log(uniform_positive(words[pair + 1]));
  return std::sin(alpha * V) / std::pow(std::cos(V), 1 / alpha) *
         std::pow(std::cos((1 - alpha) * V) / W, (1 - alpha) / alpha);
}

std::vector<double> fractional_reference(const RandomKey& key, uint32_t stream, double H, int half, int steps) {
  const int N = 2 * half;
  std::vector<double> result(static_cast<size_t>(steps), 0);
  for (int k = 0; k <= half; ++k) {
    double eigenvalue = fractional_covariance(0, H) + (k % 2 ? -1 : 1) * fractional_covariance(half, H);
    for (int lag = 1; lag < half; ++lag)
      eigenvalue += 2 * fractional_covariance(lag, H) * std::cos(2 * kPi * (static_cast<int64_t>(k) * lag % N) / N);
    const double real = gaussian_reference(key, stream, 2 * static_cast<uint64_t>(k)),
                 imaginary = gaussian_reference(key, stream, 2 * static_cast<uint64_t>(k) + 1);
    const bool is_real = k == 0 || k == half;
    const double amplitude = std::sqrt(eigenvalue / N * (is_real ? 1 : 2));
    for (int j = 0; j < steps; ++j) {
      const double angle = 2 * kPi * (static_cast<int64_t>(j) * k % N) / N;
      result[static_cast<size_t>(j)] +=
          amplitude * (real * std::cos(angle) - (is_real ? 0 : imaginary * std::sin(angle)));
    }
  }
  return result;
}

}  // namespace penn
