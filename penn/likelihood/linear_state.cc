// One linear state x' = A x + b(t) + noise, observed as it is, any number of steps m between samples and any burn-in.
// With r = 1 + h A,
//   x_(k+1) = r^m x_k + offset_k + e_k,   e_k = g sum_i r^(m-1-i) dN_(km+i).
// Stable noise: e_k is stable with scale^alpha = h |g|^alpha sum_i |r|^(alpha i), and so is the first sample.
// Fractional (and white) Gaussian noise: e is Gaussian and stationary, so its covariance is Toeplitz; the first sample,
// made by the same noise before, is Gaussian given e: with c its covariance with e,  x_0 | e ~ N(mean + c^T T^-1 e, var
// x_0 - c^T T^-1 c).
#include "penn/likelihood/linear_state.h"

#include <fmt/core.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "penn/likelihood/family.h"
#include "penn/likelihood/stable_density.h"
#include "penn/likelihood/toeplitz.h"
#include "penn/noise/fractional.h"
#include "penn/noise/fractional_covariance.h"
#include "penn/noise/gaussian.h"
#include "penn/noise/stable.h"

namespace penn {
namespace {

struct LinearState {
  System system;
  NodeId slope = -1;
  bool offset_varies = false;  // b depends on time
  const State& state() const { return system.states[0]; }
};

std::vector<NodeId> all_nodes(const LinearState& l) {
  std::vector<NodeId> roots = {l.slope, l.state().drift, l.state().initial.low, l.state().initial.high};
  for (const Diffusion& diffusion : l.state().diffusion) {
    roots.push_back(diffusion.coefficient);
    const Noise& noise = l.system.noises[static_cast<size_t>(diffusion.noise)];
    roots.insert(roots.end(), noise.shapes.begin(), noise.shapes.end());
  }
  return roots;
}

class LinearStateLikelihood : public TrajectoryLikelihood {
 public:
  LinearStateLikelihood(std::shared_ptr<const LinearState> linear, std::span<const float> z, double sampling)
      : l_(std::move(linear)),
        x_(z.begin(), z.end()),
        sampling_(sampling),
        m_(l_->system.simulation.steps_per_sample),
        burn_in_(l_->system.simulation.burn_in.low),
        h_(sampling / static_cast<double>(m_)),
        values_(l_->system.graph, all_nodes(*l_)),
        e_(x_.empty() ? 0 : x_.size() - 1) {}

  // |r|^(2 m burn_in) times the variance of the drawn initial value, over the square of the first sample's scale.
  double remembered(std::span<const double> theta) {
    prepare(theta);
    const double spread =
        (high_ - low_) / std::sqrt(12.0) + (l_->state().initial.random_sign ? std::abs(low_ + high_) / 2 : 0);
    return std::pow(r_, 2 * static_cast<double>(burn_in_ * m_)) * spread * spread / start_scale_squared();
  }

 protected:
  virtual double start_scale_squared() = 0;

  // r, the start's mean and the residuals e.
  void prepare(std::span<const double> theta) {
    values_.evaluate(theta, {}, 0);
    const Initial& initial = l_->state().initial;
    r_ = 1 + h_ * values_[l_->slope];
    low_ = values_[initial.low], high_ = values_[initial.high];
    mean_ = initial.random_sign ? 0 : 0.5 * (low_ + high_);
    double b = h_ * values_[l_->state().drift];
    const auto step = [&](double& x, int64_t i) {  // from fine step i, counted from the first sample
      if (l_->offset_varies) {
        values_.evaluate(theta, {}, static_cast<double>(i) * h_);
        b = h_ * values_[l_->state().drift];
      }
      x = r_ * x + b;
    };
    for (int64_t i = -burn_in_ * m_; i < 0; ++i) step(mean_, i);
    const double a = std::pow(r_, static_cast<double>(m_));
    double offset = 0;
    for (size_t k = 0; k < e_.size(); ++k) {
      if (l_->offset_varies || k == 0) {
        offset = 0;
        for (int64_t i = 0; i < m_; ++i) step(offset, static_cast<int64_t>(k) * m_ + i);
      }
      e_[k] = x_[k + 1] - a * x_[k] - offset;
    }
  }
  double initial_density() const { return log_initial_density(l_->state().initial, low_, high_, x_[0]); }

  std::shared_ptr<const LinearState> l_;
  std::vector<double> x_;
  double sampling_;
  int64_t m_, burn_in_;
  double h_;
  NodeValues values_;
  double r_ = 0, mean_ = 0, low_ = 0, high_ = 0;
  std::vector<double> e_;
};

class StableState final : public LinearStateLikelihood {
 public:
  using LinearStateLikelihood::LinearStateLikelihood;
  double log_likelihood(std::span<const double> theta) override {
    prepare(theta);
    const StableDensity density(alpha());
    const double scale = scale_after(m_);
    double sum = -static_cast<double>(e_.size()) * std::log(scale);
    for (const double e : e_) sum += density.log_density(e / scale);
    if (burn_in_ == 0) sum += initial_density();
    else
      sum += density.log_density((x_[0] - mean_) / scale_after(m_ * burn_in_)) - std::log(scale_after(m_ * burn_in_));
    return std::isnan(sum) ? kNever : sum;
  }

 private:
  double alpha() const {
    return values_[l_->system.noises[static_cast<size_t>(l_->state().diffusion[0].noise)].shapes[0]];
  }
  double scale_after(int64_t steps) const {
    const double factor = std::pow(std::abs(r_), alpha());
    double sum = 0, power = 1;
    for (int64_t i = 0; i < steps && power > 0; ++i, power *= factor) sum += power;
    return std::abs(values_[l_->state().diffusion[0].coefficient]) * std::pow(h_ * sum, 1 / alpha());
  }
  double start_scale_squared() override { return std::pow(scale_after(m_ * burn_in_), 2); }
};

class FractionalState final : public LinearStateLikelihood {
 public:
  using LinearStateLikelihood::LinearStateLikelihood;
  double log_likelihood(std::span<const double> theta) override {
    prepare(theta);
    const size_t n = e_.size();
    gamma_.assign(n, 0.0), with_start_.assign(n, 0.0);
    double variance = 0;
    for (const Diffusion& diffusion : l_->state().diffusion) add_noise(diffusion, variance);
    if (!filter_.run(gamma_, e_, with_start_)) return kNever;
    double sum = filter_.log_density();
    if (burn_in_ == 0) {
      sum += initial_density();
    } else {
      double shift = 0;
      for (size_t k = 0; k < n; ++k) {
        const double w = filter_.other_innovations()[k] / filter_.variances()[k];
        shift += w * filter_.innovations()[k];
        variance -= w * filter_.other_innovations()[k];
      }
      sum -= 0.5 * (std::log(2 * std::numbers::pi * variance) + std::pow(x_[0] - mean_ - shift, 2) / variance);
    }
    return std::isnan(sum) ? kNever : sum;
  }

 private:
  // Adds what one noise gives to the covariance of e, to that of e with the first sample, and to the variance of that
  // sample.
  void add_noise(const Diffusion& diffusion, double& variance) {
    const Noise& noise = l_->system.noises[static_cast<size_t>(diffusion.noise)];
    const bool is_white = noise.type == &gaussian_noise();
    const double H = is_white ? 0.5 : values_[noise.shapes[0]], g = values_[diffusion.coefficient],
                 unit = g * g * std::pow(h_, 2 * H);
    const size_t n = e_.size(), m = static_cast<size_t>(m_), P = static_cast<size_t>(burn_in_ * m_);
    rho_.resize(is_white ? 1 : (n + 1) * m + P + 1);
    for (size_t lag = 0; lag < rho_.size(); ++lag) rho_[lag] = fractional_covariance(static_cast<double>(lag), H);
    const auto rho = [&](size_t lag) { return lag < rho_.size() ? rho_[lag] : 0.0; };
    // sum_(p < count - d) r^(2p + d): weight of the pairs of steps a distance d apart.
    const auto pairs = [&](size_t count) {
      std::vector<double> weights(count);
      double sum = 0, power = 1;
      for (size_t d = count; d-- > 0; power *= r_ * r_) weights[d] = sum += power;
      double factor = 1;
      for (size_t d = 0; d < count; ++d, factor *= r_) weights[d] *= factor;
      return weights;
    };
    const std::vector<double> within = pairs(m);
    for (size_t k = 0; k < (is_white ? 1 : n); ++k) {
      double sum = within[0] * rho(k * m);
      for (size_t d = 1; d < m; ++d) sum += within[d] * (rho(k * m + d) + rho(k * m > d ? k * m - d : d - k * m));
      gamma_[k] += unit * sum;
    }
    if (P == 0) return;
    const std::vector<double> before = pairs(P);
    double sum = before[0];
    for (size_t d = 1; d < P; ++d) sum += 2 * before[d] * rho(d);
    variance += unit * sum;
    if (is_white) return;
    // past[l] = sum_(p < P) r^p rho(l + 1 + p): covariance of the first sample with the noise l steps after it.
    past_.assign(n * m, 0.0);
    double last = 0, power = 1;
    for (size_t p = 0; p < P; ++p, power *= r_) last += power * rho(n * m + p);
    for (size_t l = n * m; l-- > 0;) {
      past_[l] = last;
      last = r_ * last - power * rho(l + P) + rho(l);
    }
    for (size_t k = 0; k < n; ++k) {
      double value = 0;
      for (size_t i = 0; i < m; ++i) value = r_ * value + past_[k * m + i];
      with_start_[k] += unit * value;
    }
  }
  double start_scale_squared() override {
    gamma_.assign(e_.size(), 0.0), with_start_.assign(e_.size(), 0.0);
    double variance = 0;
    for (const Diffusion& diffusion : l_->state().diffusion) add_noise(diffusion, variance);
    return variance;
  }

  std::vector<double> gamma_, with_start_, rho_, past_;
  ToeplitzFilter filter_;
};

class LinearStateFamily final : public LikelihoodFamily {
 public:
  LinearStateFamily(std::shared_ptr<const LinearState> linear, bool is_stable, std::string note)
      : LikelihoodFamily(is_stable ? "one linear state with stable noise" : "one linear state with fractional noise",
                         std::move(note)),
        l_(std::move(linear)),
        is_stable_(is_stable) {}
  std::unique_ptr<TrajectoryLikelihood> of(std::span<const float> z, double sampling) const override {
    return make(z, sampling);
  }
  std::unique_ptr<LinearStateLikelihood> make(std::span<const float> z, double sampling) const {
    if (is_stable_) return std::make_unique<StableState>(l_, z, sampling);
    return std::make_unique<FractionalState>(l_, z, sampling);
  }

 private:
  std::shared_ptr<const LinearState> l_;
  bool is_stable_;
};

}  // namespace

Recognised recognise_linear_state(const System& system, int observation, std::string& why_not) {
  const auto refuse = [&](const std::string& reason) { return why_not = reason, nullptr; };
  if (system.states.size() != 1 || !channels_of_states(system, observation))
    return refuse("there is not one state, observed as it is");
  auto l = std::make_shared<LinearState>();
  l->system = system;
  ExpressionGraph& graph = l->system.graph;
  const State& state = system.states[0];
  const auto slope = slopes(graph, state.drift, {graph.symbol(SymbolKind::kState, 0)});
  if (!slope || depends_on(graph, (*slope)[0], SymbolKind::kTime))
    return refuse("the drift is not linear with a constant rate");
  l->slope = (*slope)[0];
  l->offset_varies = depends_on(graph, state.drift, SymbolKind::kTime);
  int stable = 0, fractional = 0;
  for (const Diffusion& diffusion : state.diffusion) {
    if (depends_on(graph, diffusion.coefficient, SymbolKind::kState) ||
        depends_on(graph, diffusion.coefficient, SymbolKind::kTime))
      return refuse("the strength of the noise is not constant");
    const NoiseType* type = system.noises[static_cast<size_t>(diffusion.noise)].type;
    stable += type == &stable_noise(), fractional += type == &fractional_noise();
  }
  if (stable > 0 && state.diffusion.size() > 1) return refuse("stable noise is added to another noise");
  if (stable + fractional == 0) return refuse("there is neither stable nor fractional noise");
  const IntRange burn_in = system.simulation.burn_in;
  const bool is_drawn = state.initial.low != state.initial.high || state.initial.random_sign;
  if (burn_in.low == 0 &&
      (burn_in.high > 0 || (!is_drawn && depends_on(graph, state.initial.low, SymbolKind::kParameter))))
    return refuse(burn_in.high > 0 ? "the burn-in may be short or long"
                                   : "the first sample is fixed by the parameters");
  auto family = std::make_shared<LinearStateFamily>(
      l, stable > 0, burn_in.is_single() ? "" : "the start is taken after the shortest burn-in");
  if (is_drawn && burn_in.low > 0)
    for (const std::vector<double>& theta : box_points(system, 64))
      if (!(family->make(std::vector<float>(2), system.simulation.sampling.low)->remembered(theta) <= 1e-4))
        return refuse("the initial value is drawn, and the burn-in does not forget it");
  return family;
}

}  // namespace penn
