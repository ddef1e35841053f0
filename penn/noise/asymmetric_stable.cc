// Chambers, Mallows & Stuck (1976), rearranged so that nothing diverges or cancels at alpha = 1. With V uniform in
// (-pi/2, pi/2), W exponential, e = 1 - alpha and t = beta tan(pi alpha/2) = beta / tan(pi e/2),
//   S1 = [sin(alpha V) + t cos(alpha V)] / cos(V) z^(e/alpha),   z = q / (W cos V),   q = cos(e V) + t sin(e V),
// is stable in Nolan's S1. As alpha -> 1, t diverges and S1 runs away; S0 = S1 - t does not:
//   S0 = [q tan(V) - sin(e V) - 2 t sin^2(e V/2)] z^(e/alpha) + t [z^(e/alpha) - 1].
// Here t only meets factors of order e: t sin^2, t expm1. In q it is hidden by
//   q = sin(pi f) / cos(pi b),   pi b = atan(t),   f = min(1/2 + b - e V/pi, 1/2 - b + e V/pi),
// where f is a linear function of m = 1/2 - |V|/pi, exact up to the edge, also at beta = +-1, where one tail vanishes.
// At alpha = 1 itself e is taken as 1e-10; a draw changes by less than its rounding.
// An increment over h is h^(1/alpha) S1 - t h = h^(1/alpha) S0 + t (h^(1/alpha) - h): see asymmetric_stable.h.
#include "penn/noise/asymmetric_stable.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "penn/noise/lane_random.h"

namespace penn {
namespace {

using namespace lanes;

constexpr double kPi = std::numbers::pi;

struct StableConstants {
  alignas(64) float e[kLanes], half_e[kLanes], t[kLanes], inverse_cosine[kLanes];
  alignas(64) float above[2][kLanes], below[2][kLanes];  // f at the edge, m = 0, for V > 0 and V < 0
  alignas(64) float power[kLanes], t_power[kLanes], scale[kLanes], shift[kLanes];
};

inline X exp2(X x) {
  return {lanes::exp2(x.a), lanes::exp2(x.b)};
}
inline X by_sign(const U word[2], X positive, X negative) {  // chosen by the top bit
  return {(I)word[0] < 0 ? negative.a : positive.a, (I)word[1] < 0 ? negative.b : positive.b};
}

// (2^y - 1) / y for |y| <= 1/2, relative error 1e-7: the first terms of its series.
inline X growth(X y) {
  X p = 1.5252734e-5f;
  for (const float c : {1.5403530e-4f, 1.3333558e-3f, 9.6181291e-3f, 5.5504109e-2f, 2.4022651e-1f, 6.9314718e-1f})
    p = fma(p, y, X(c));
  return p;
}
inline X where_small(X y, X small, X large) {
  return {abs(y.a) <= 0.5f ? small.a : large.a, abs(y.b) <= 0.5f ? small.b : large.b};
}

inline X stable_draw(const U angle_word[2], const U exponential_word[2], const StableConstants& c, int lane) {
  const U distance_word[2] = {angle_word[0] & 0x7fffffffu, angle_word[1] & 0x7fffffffu};
  const X m = to_float(distance_word) * 0x1p-32f + 0x1p-33f;  // in (0, 1/2]
  const X sigma = by_sign(angle_word, 1.0f, -1.0f);           // sign of V
  const X t = load_pair(c.t + lane);
  const X turn = sigma * load_pair(c.e + lane) * m;
  const X above = by_sign(angle_word, load_pair(c.above[0] + lane), load_pair(c.above[1] + lane)) + turn;
  const X below = by_sign(angle_word, load_pair(c.below[0] + lane), load_pair(c.below[1] + lane)) - turn;
  const X q = sinpi_half(min(above, below)) * load_pair(c.inverse_cosine + lane);
  const X cosine = sinpi_half(m), tangent = sigma * sinpi_half(0.5f - m) / cosine;
  const X half_sine = sinpi_half((0.5f - m) * load_pair(c.half_e + lane));  // sin(e |V|/2)
  const X sine = sigma * 2.0f * half_sine * sqrt(1.0f - half_sine * half_sine);
  // W, never 0: u may round to 1.
  const X W = max(-log2_positive(uniform_positive(exponential_word)), 0x1p-25f) * 0.69314718f;
  const X log_z = log2_positive(q / (W * cosine));
  const X y = load_pair(c.power + lane) * log_z, power = exp2(y);
  const X grown = where_small(y, load_pair(c.t_power + lane) * log_z * growth(y), t * (power - 1.0f));
  const X S0 = (q * tangent - sine - 2.0f * t * half_sine * half_sine) * power + grown;
  return fma(load_pair(c.scale + lane), S0, load_pair(c.shift + lane));
}

class AsymmetricStableDriver final : public WhiteDriver {
 public:
  void set_lane(int lane, const double* shapes, double dt) override {
    constexpr double kLeast = 1e-10;
    const double e = std::abs(1 - shapes[0]) < kLeast ? kLeast : 1 - shapes[0], alpha = 1 - e;
    const double t = shapes[1] / std::tan(kPi * e / 2), edge = std::atan2(1, std::abs(t)) / kPi;  // 1/2 - |b|
    const double plus = t < 0 ? edge : 1 - edge, minus = t < 0 ? 1 - edge : edge;                 // 1/2 + b, 1/2 - b
    c_.e[lane] = static_cast<float>(e);
    c_.half_e[lane] = static_cast<float>(e / 2);
    c_.t[lane] = static_cast<float>(t);
    c_.inverse_cosine[lane] = static_cast<float>(std::hypot(1, t));
    for (const int side : {0, 1}) {
      const double V = side == 0 ? 0.5 : -0.5;  // in units of pi, at the edge
      c_.above[side][lane] = static_cast<float>(std::max(plus - e * V, 0.0));
      c_.below[side][lane] = static_cast<float>(std::max(minus + e * V, 0.0));
    }
    c_.power[lane] = static_cast<float>(e / alpha);
    c_.t_power[lane] = static_cast<float>(t * e / alpha);
    c_.scale[lane] = static_cast<float>(std::pow(dt, 1 / alpha));
    c_.shift[lane] = static_cast<float>(t * dt * std::expm1(e / alpha * std::log(dt)));
  }

 private:
  void fill(const LaneStream& source, int64_t first, int count, float* out) const override {
    fill_blocks<2>(first, count, out, [&](uint32_t block, int lane, X* value) {
      const Words words = source.words(lane, block);
      value[0] = stable_draw(words.w[0], words.w[1], c_, lane);
      value[1] = stable_draw(words.w[2], words.w[3], c_, lane);
    });
  }
  StableConstants c_;
};

// The textbook formulas: S1 away from alpha = 1, and the one for alpha = 1.
std::vector<double> reference(const RandomKey& key, uint32_t stream, const double* shapes, double dt, int steps) {
  const double alpha = shapes[0], beta = shapes[1], t = beta * std::tan(kPi * alpha / 2);
  std::vector<double> values(static_cast<size_t>(steps));
  for (size_t i = 0; i < values.size(); ++i) {
    const Quad words = key.words(stream, static_cast<uint32_t>(i / 2));
    const size_t pair = i % 2 * 2;
    const double distance = (static_cast<double>(words[pair] & 0x7fffffffu) + 0.5) * 0x1p-32;
    const double V = (words[pair] >> 31 ? -1 : 1) * kPi * (0.5 - distance);
    const double W = -std::log(uniform_positive(words[pair + 1]));
    if (alpha == 1) {
      const double S =
          2 / kPi *
          ((kPi / 2 + beta * V) * std::tan(V) - beta * std::log(kPi / 2 * W * std::cos(V) / (kPi / 2 + beta * V)));
      values[i] = dt * S + 2 / kPi * beta * dt * std::log(dt);
    } else {
      const double B = std::atan(t) / alpha;
      const double S1 = std::pow(1 + t * t, 1 / (2 * alpha)) * std::sin(alpha * (V + B)) /
                        std::pow(std::cos(V), 1 / alpha) *
                        std::pow(std::cos(V - alpha * (V + B)) / W, (1 - alpha) / alpha);
      values[i] = std::pow(dt, 1 / alpha) * S1 - t * dt;
    }
  }
  return values;
}

}  // namespace

const NoiseType& asymmetric_stable_noise() {
  static const NoiseType type = {
      .name = "stable",
      .shapes = {{"alpha", 0, 2, NoiseShape::kOpenLow}, {"beta", -1, 1, NoiseShape::kClosed}},
      .increments =
          "independent, stable with skewness beta, characteristic function exp(-h |k|^alpha [1 + i beta "
          "sign(k) tan(pi alpha/2) (|k|^(1-alpha) - 1)]): Nolan's S0 over unit time",
      .make_driver = [](auto) -> std::unique_ptr<Driver> { return std::make_unique<AsymmetricStableDriver>(); },
      .reference = reference};
  return type;
}

}  // namespace penn
