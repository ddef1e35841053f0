// Every state is observed as it is and a sample is one step: the increments x_(k+1) - x_k - h f(x_k) are the noise
// itself, times its coefficient at x_k. Their density is a product over the samples (white Gaussian noises, shared or
// not; stable noise) or that of a Gaussian vector with Toeplitz covariance h^2H gamma_H (fractional noise), whatever
// drift and coefficients depend on.
#include "penn/likelihood/transitions.h"

#include <fmt/core.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "penn/likelihood/family.h"
#include "penn/likelihood/series_values.h"
#include "penn/likelihood/stable_density.h"
#include "penn/likelihood/toeplitz.h"
#include "penn/noise/fractional.h"
#include "penn/noise/fractional_covariance.h"
#include "penn/noise/gaussian.h"
#include "penn/noise/stable.h"
#include "penn/posterior/linear_algebra.h"

namespace penn {
namespace {

// States that share Gaussian noises; one alone with a noise of its own is the usual case.
struct GaussianBlock {
  std::vector<size_t> states;
};

struct TransitionSystem {
  System system;
  std::vector<size_t> channel_of, single;  // single: states with one stable or fractional noise
  std::vector<GaussianBlock> blocks;
  bool starts_seen = false;  // no burn-in: the first sample is the initial state
};

std::vector<NodeId> all_nodes(const System& system) {
  std::vector<NodeId> roots;
  for (const State& state : system.states) {
    roots.insert(roots.end(), {state.drift, state.initial.low, state.initial.high});
    for (const Diffusion& diffusion : state.diffusion) roots.push_back(diffusion.coefficient);
  }
  for (const Noise& noise : system.noises) roots.insert(roots.end(), noise.shapes.begin(), noise.shapes.end());
  return roots;
}

// (r, r) covariance of the increments of a block over one step, without its factor h.
template <class Coefficient>
void covariance_of(const System& system, const GaussianBlock& block, DenseMatrix& out, Coefficient coefficient) {
  for (size_t i = 0; i < block.states.size(); ++i)
    for (size_t j = 0; j <= i; ++j) {
      double sum = 0;
      for (const Diffusion& a : system.states[block.states[i]].diffusion)
        for (const Diffusion& b : system.states[block.states[j]].diffusion)
          if (a.noise == b.noise) sum += coefficient(a.coefficient) * coefficient(b.coefficient);
      out(i, j) = out(j, i) = sum;
    }
}

class TransitionLikelihood final : public TrajectoryLikelihood {
 public:
  TransitionLikelihood(std::shared_ptr<const TransitionSystem> transitions, std::span<const float> z, double sampling)
      : t_(std::move(transitions)),
        h_(sampling),
        x_(columns(*t_, z)),
        n_(x_[0].size() - 1),
        values_(make_values()),
        e_(n_),
        scaled_(n_) {}

  double log_likelihood(std::span<const double> theta) override {
    values_.evaluate(theta);
    double sum = t_->starts_seen ? first_sample() : 0;
    for (const GaussianBlock& block : t_->blocks)
      sum += block.states.size() == 1 ? one_gaussian(block.states[0]) : several_gaussian(block);
    for (const size_t state : t_->single) sum += single(state);
    return std::isnan(sum) ? kNever : sum;
  }

 private:
  static std::vector<std::vector<double>> columns(const TransitionSystem& t, std::span<const float> z) {
    const size_t S = t.system.states.size(), n = z.size() / S;
    std::vector<std::vector<double>> x(S, std::vector<double>(n));
    for (size_t s = 0; s < S; ++s)
      for (size_t k = 0; k < n; ++k) x[s][k] = z[k * S + t.channel_of[s]];
    return x;
  }
  SeriesValues make_values() const {  // at the starts of the transitions
    std::vector<std::vector<double>> starts = x_;
    for (std::vector<double>& series : starts) series.pop_back();
    std::vector<double> time(n_);
    for (size_t k = 0; k < n_; ++k) time[k] = h_ * static_cast<double>(k);
    return SeriesValues(t_->system.graph, all_nodes(t_->system), std::move(starts), std::move(time));
  }
  double first_sample() const {
    double sum = 0;
    for (size_t s = 0; s < x_.size(); ++s) {
      const Initial& initial = t_->system.states[s].initial;
      sum += log_initial_density(initial, values_[initial.low][0], values_[initial.high][0], x_[s][0]);
    }
    return sum;
  }
  double residual(size_t state, SeriesValues::View drift, size_t k) const {
    return x_[state][k + 1] - x_[state][k] - h_ * drift[k];
  }

  double one_gaussian(size_t s) const {
    const State& state = t_->system.states[s];
    const SeriesValues::View drift = values_[state.drift];
    double sum = 0;
    if (state.diffusion.size() == 1 && values_[state.diffusion[0].coefficient].is_constant) {
      const double g = values_[state.diffusion[0].coefficient][0], variance = h_ * g * g;
      for (size_t k = 0; k < n_; ++k) sum += std::pow(residual(s, drift, k), 2);
      return -0.5 * (static_cast<double>(n_) * std::log(2 * std::numbers::pi * variance) + sum / variance);
    }
    for (size_t k = 0; k < n_; ++k) {
      double variance = 0;
      for (const Diffusion& diffusion : state.diffusion)
        variance += h_ * std::pow(values_[diffusion.coefficient][k], 2);
      sum += std::log(2 * std::numbers::pi * variance) + std::pow(residual(s, drift, k), 2) / variance;
    }
    return -0.5 * sum;
  }

  double several_gaussian(const GaussianBlock& block) const {
    const size_t r = block.states.size();
    DenseMatrix covariance(r, r), L;
    std::vector<double> e(r), solved(r);
    double sum = 0;
    for (size_t k = 0; k < n_; ++k) {
      covariance_of(t_->system, block, covariance, [&](NodeId node) { return values_[node][k]; });
      if (!cholesky(covariance, &L)) return kNever;
      for (size_t i = 0; i < r; ++i) {
        const size_t s = block.states[i];
        e[i] = solved[i] = residual(s, values_[t_->system.states[s].drift], k);
        sum += 2 * std::log(L(i, i));
      }
      solve_cholesky(L, solved);
      sum += dot(e, solved) / h_;
    }
    return -0.5 * (sum + static_cast<double>(n_ * r) * std::log(2 * std::numbers::pi * h_));
  }

  double single(size_t s) {
    const State& state = t_->system.states[s];
    const Noise& noise = t_->system.noises[static_cast<size_t>(state.diffusion[0].noise)];
    const double shape = values_[noise.shapes[0]][0];
    const bool is_stable = noise.type == &stable_noise();
    const double unit = std::pow(h_, is_stable ? 1 / shape : shape);  // scale of an increment of the noise over a step
    const SeriesValues::View drift = values_[state.drift], coefficient = values_[state.diffusion[0].coefficient];
    double sum = 0;
    if (coefficient.is_constant) sum -= static_cast<double>(n_) * std::log(unit * std::abs(coefficient[0]));
    for (size_t k = 0; k < n_; ++k) {
      const double scale = unit * std::abs(coefficient[k]);
      scaled_[k] = residual(s, drift, k) / scale;
      if (!coefficient.is_constant) sum -= std::log(scale);
    }
    if (is_stable) {
      const StableDensity density(shape);
      for (const double x : scaled_) sum += density.log_density(x);
      return sum;
    }
    for (size_t k = 0; k < n_; ++k) e_[k] = fractional_covariance(static_cast<double>(k), shape);
    return filter_.run(e_, scaled_) ? sum + filter_.log_density() : kNever;
  }

  std::shared_ptr<const TransitionSystem> t_;
  double h_;
  std::vector<std::vector<double>> x_;  // (S, n + 1)
  size_t n_;                            // transitions
  SeriesValues values_;
  std::vector<double> e_, scaled_;
  ToeplitzFilter filter_;
};

class Transitions final : public LikelihoodFamily {
 public:
  Transitions(std::shared_ptr<const TransitionSystem> transitions, std::string note)
      : LikelihoodFamily("every state observed at every step (transition densities)", std::move(note)),
        t_(std::move(transitions)) {}
  std::unique_ptr<TrajectoryLikelihood> of(std::span<const float> z, double sampling) const override {
    return std::make_unique<TransitionLikelihood>(t_, z, sampling);
  }

 private:
  std::shared_ptr<const TransitionSystem> t_;
};

// Sorts the states into blocks; says what does not fit.
std::string sort_states(TransitionSystem& t) {
  const System& system = t.system;
  std::vector<int> users(system.noises.size(), 0);
  for (const State& state : system.states)
    for (const Diffusion& diffusion : state.diffusion) ++users[static_cast<size_t>(diffusion.noise)];
  std::vector<std::vector<size_t>> block_noises;  // noises of t.blocks
  for (size_t s = 0; s < system.states.size(); ++s) {
    const State& state = system.states[s];
    if (state.diffusion.empty()) {
      if (depends_on(system.graph, state.drift, SymbolKind::kParameter))
        return fmt::format("'{}' has no noise: two samples would fix the parameters of its drift", state.name);
      continue;  // its increments say nothing about the parameters
    }
    bool is_gaussian = true;
    for (const Diffusion& diffusion : state.diffusion)
      is_gaussian = is_gaussian && system.noises[static_cast<size_t>(diffusion.noise)].type == &gaussian_noise();
    if (!is_gaussian) {
      if (state.diffusion.size() > 1) return fmt::format("the noises of '{}' add up to no known density", state.name);
      if (users[static_cast<size_t>(state.diffusion[0].noise)] > 1)
        return fmt::format("the noise of '{}' drives other equations too", state.name);
      t.single.push_back(s);
      continue;
    }
    GaussianBlock block{{s}};
    std::vector<size_t> noises;
    for (const Diffusion& diffusion : state.diffusion) noises.push_back(static_cast<size_t>(diffusion.noise));
    for (size_t b = t.blocks.size(); b-- > 0;) {  // joined with every block it shares a noise with
      bool shared = false;
      for (const size_t noise : block_noises[b])
        for (const Diffusion& diffusion : state.diffusion)
          shared = shared || noise == static_cast<size_t>(diffusion.noise);
      if (!shared) continue;
      block.states.insert(block.states.end(), t.blocks[b].states.begin(), t.blocks[b].states.end());
      noises.insert(noises.end(), block_noises[b].begin(), block_noises[b].end());
      t.blocks.erase(t.blocks.begin() + static_cast<std::ptrdiff_t>(b));
      block_noises.erase(block_noises.begin() + static_cast<std::ptrdiff_t>(b));
    }
    t.blocks.push_back(block);
    block_noises.push_back(noises);
  }
  if (t.blocks.empty() && t.single.empty()) return "there is no driving noise";
  return "";
}

// Fewer noises than states: some combination of increments would be without noise. Tried at points of the box and of
// positive states.
std::string check_rank(const TransitionSystem& t) {
  NodeValues values(t.system.graph, all_nodes(t.system));
  const std::vector<std::vector<double>> thetas = box_points(t.system, 32);
  for (const GaussianBlock& block : t.blocks) {
    bool has_full_rank = false;
    DenseMatrix covariance(block.states.size(), block.states.size()), L;
    for (size_t i = 0; i < thetas.size(); ++i) {
      std::vector<double> x(t.system.states.size());
      for (size_t s = 0; s < x.size(); ++s)
        x[s] = 0.1 + std::fmod(0.618 * static_cast<double>(i + 1) * static_cast<double>(s + 1), 1.9);
      values.evaluate(thetas[i], x, 0.3);
      covariance_of(t.system, block, covariance, [&](NodeId node) { return values[node]; });
      double most = 0;
      for (size_t r = 0; r < covariance.rows; ++r) most = std::max(most, covariance(r, r));
      if (!std::isfinite(most) || !cholesky(covariance, &L)) continue;
      double least = L(0, 0);
      for (size_t r = 0; r < L.rows; ++r) least = std::min(least, L(r, r));
      has_full_rank = has_full_rank || least * least > 1e-12 * most;
    }
    if (!has_full_rank) return "some states share all their noises: a combination of them would fix the parameters";
  }
  return "";
}

}  // namespace

Recognised recognise_transitions(const System& system, int observation, std::string& why_not) {
  const auto refuse = [&](const std::string& reason) { return why_not = reason, nullptr; };
  const auto channel_of = channels_of_states(system, observation);
  if (system.states.empty() || !channel_of) return refuse("the channels are not just the states");
  if (system.simulation.steps_per_sample != 1) return refuse("there are several steps between two samples");
  auto t = std::make_shared<TransitionSystem>();
  t->system = system;
  t->channel_of = *channel_of;
  t->starts_seen = system.simulation.burn_in.high == 0;
  if (const std::string reason = sort_states(*t); !reason.empty()) return refuse(reason);
  if (const std::string reason = check_rank(*t); !reason.empty()) return refuse(reason);
  std::string note;
  for (const State& state : system.states)
    if (t->starts_seen && state.initial.low == state.initial.high &&
        depends_on(system.graph, state.initial.low, SymbolKind::kParameter))
      return refuse("the first sample is fixed by the parameters");
  if (!t->starts_seen) note = "given the first sample, whose distribution after the burn-in is not counted";
  for (const size_t s : t->single) {
    const Noise& noise = system.noises[static_cast<size_t>(system.states[s].diffusion[0].noise)];
    if (!t->starts_seen && noise.type == &fractional_noise()) note += ", nor the noise before it";
  }
  return std::make_shared<Transitions>(t, note);
}

}  // namespace penn
