// The symmetric stable draw (Chambers, Mallows & Stuck 1976) with V uniform in (-pi/2, pi/2) and W exponential is
//   S = sin(alpha V) / cos(V)^(1/alpha) * [cos((1 - alpha) V) / W]^((1 - alpha)/alpha)
//     = sin(alpha V) k (k cos V)^(-1/alpha),   k = W / cos((1 - alpha) V),
// the second form needing one logarithm less. With m = 1/2 - |V|/pi, the distance from the edge, every factor keeps its
// relative accuracy up to the edge:
//   cos V = sin(pi m),  sin(alpha |V|) = sin(pi (1 - alpha/2 + alpha m)),
//   cos((1 - alpha) V) = sin(pi ((1 - |1 - alpha|)/2 + |1 - alpha| m)).
// m is never 0, so there is no NaN to repair; alpha = 1 (Cauchy) and alpha = 2 (Gaussian) need no special case.
#include "penn/noise/stable.h"

#include <cmath>
#include <numbers>

#include "penn/noise/lane_random.h"

namespace penn {
namespace {

using namespace lanes;

struct StableLanes {  // constants of the formula
  alignas(64) float alpha[kLanes], offset_sine[kLanes], slope_cosine[kLanes], offset_cosine[kLanes];
  alignas(64) float power[kLanes], scale[kLanes];
};

inline X stable_draw(const U angle_word[2], const U exponential_word[2], const StableLanes& c, int lane) {
  const U distance_word[2] = {angle_word[0] & 0x7fffffffu, angle_word[1] & 0x7fffffffu};
  const X m = to_float(distance_word) * 0x1p-32f + 0x1p-33f;                         // in (0, 1/2]
  const X sign_source = {as_float((I)angle_word[0]), as_float((I)angle_word[1])};    // its top bit is the sign of V
  const X arc = fma(load_pair(c.alpha + lane), m, load_pair(c.offset_sine + lane));  // in (0, 1)
  const X sine = sinpi_half(min(arc, 1.0f - arc));
  // W = -ln 2 log2(u): the sign is in the negative cosine, the factor in the scale (both prepared by StableLanes::set).
  const X k = log2_positive(uniform_positive(exponential_word)) /
              sinpi_half(fma(load_pair(c.slope_cosine + lane), m, load_pair(c.offset_cosine + lane)));
  const X power = load_pair(c.power + lane) * log2_positive(k * sinpi_half(m));
  return copy_sign(sine * load_pair(c.scale + lane) * k * exp2_saturating(power), sign_source);
}

class StableDriver final : public WhiteDriver {
 public:
  void set_lane(int lane, const double* shapes, double dt) override {
    const double alpha = shapes[0], slope = std::abs(1 - alpha);
    c_.alpha[lane] = static_cast<float>(alpha);
    c_.offset_sine[lane] = static_cast<float>(1 - alpha / 2);
    c_.slope_cosine[lane] = static_cast<float>(-slope);
    c_.offset_cosine[lane] = static_cast<float>((slope - 1) / 2);
    c_.power[lane] = static_cast<float>(-1 / alpha);
    c_.scale[lane] = static_cast<float>(std::pow(dt, 1 / alpha) * std::pow(std::log(2.0), 1 - 1 / alpha));
  }

 private:
  void fill(const LaneStream& source, int64_t first, int count, float* out) const override {
    fill_blocks<2>(first, count, out, [&](uint32_t block, int lane, X* value) {
      const Words words = source.words(lane, block);
      value[0] = stable_draw(words.w[0], words.w[1], c_, lane);
      value[1] = stable_draw(words.w[2], words.w[3], c_, lane);
    });
  }
  StableLanes c_;
};

std::vector<double> reference(const RandomKey& key, uint32_t stream, const double* shapes, double dt, int steps) {
  const double alpha = shapes[0], pi = std::numbers::pi;
  std::vector<double> values(static_cast<size_t>(steps));
  for (size_t i = 0; i < values.size(); ++i) {
    const Quad words = key.words(stream, static_cast<uint32_t>(i / 2));
    const size_t pair = i % 2 * 2;
    const double distance =
        (static_cast<double>(words[pair] & 0x7fffffffu) + 0.5) * 0x1p-32;  // of V from the edge, in units of pi
    const double V = (words[pair] >> 31 ? -1 : 1) * pi * (0.5 - distance);
    const double W = -std::log(uniform_positive(words[pair + 1]));
    values[i] = std::pow(dt, 1 / alpha) * std::sin(alpha * V) / std::pow(std::cos(V), 1 / alpha) *
                std::pow(std::cos((1 - alpha) * V) / W, (1 - alpha) / alpha);
  }
  return values;
}

}  // namespace

const NoiseType& stable_noise() {
  static const NoiseType type = {
      .name = "stable",
      .shapes = {{"alpha", 0, 2, NoiseShape::kOpenLow}},
      .increments = "independent, symmetric, characteristic function exp(-h |k|^alpha)",
      .make_driver = [](auto) -> std::unique_ptr<Driver> { return std::make_unique<StableDriver>(); },
      .reference = reference};
  return type;
}

}  // namespace penn
