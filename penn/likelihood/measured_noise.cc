// No states: one channel y = f(t) + sum_i s_i N_i. With constant s_i and Gaussian or fractional noises y - f is
// stationary and Gaussian, with covariance sum_i s_i^2 gamma_H(lag); one noise alone may have a coefficient that
// depends on time, or be stable.
#include "penn/likelihood/measured_noise.h"

#include <fmt/core.h>

#include <cmath>
#include <limits>

#include "penn/likelihood/family.h"
#include "penn/likelihood/series_values.h"
#include "penn/likelihood/stable_density.h"
#include "penn/likelihood/toeplitz.h"
#include "penn/noise/fractional_covariance.h"
#include "penn/noise/gaussian.h"
#include "penn/noise/stable.h"

namespace penn {
namespace {

struct MeasuredSystem {
  System system;
  NodeId value = -1;
  struct Term {
    int noise;
    NodeId coefficient;
  };
  std::vector<Term> terms;
};

std::vector<NodeId> all_nodes(const MeasuredSystem& m) {
  std::vector<NodeId> roots = {m.value};
  for (const MeasuredSystem::Term& term : m.terms) {
    roots.push_back(term.coefficient);
    const Noise& noise = m.system.noises[static_cast<size_t>(term.noise)];
    roots.insert(roots.end(), noise.shapes.begin(), noise.shapes.end());
  }
  return roots;
}

class MeasuredLikelihood final : public TrajectoryLikelihood {
 public:
  MeasuredLikelihood(std::shared_ptr<const MeasuredSystem> measured, std::span<const float> z, double sampling)
      : m_(std::move(measured)),
        y_(z.begin(), z.end()),
        values_(m_->system.graph, all_nodes(*m_), {}, times(y_.size(), sampling)),
        gamma_(y_.size()),
        e_(y_.size()) {}

  double log_likelihood(std::span<const double> theta) override {
    values_.evaluate(theta);
    const size_t n = y_.size();
    const SeriesValues::View f = values_[m_->value], first = values_[m_->terms[0].coefficient];
    const bool is_alone = m_->terms.size() == 1;
    double sum = 0;
    for (size_t k = 0; k < n; ++k) {  // a noise alone is divided by its coefficient
      const double scale = is_alone ? std::abs(first[k]) : 1;
      e_[k] = (y_[k] - f[k]) / scale;
      sum -= std::log(scale);
      gamma_[k] = 0;
    }
    for (const MeasuredSystem::Term& term : m_->terms) {
      const Noise& noise = m_->system.noises[static_cast<size_t>(term.noise)];
      if (noise.type == &stable_noise()) {
        const StableDensity density(values_[noise.shapes[0]][0]);
        for (const double x : e_) sum += density.log_density(x);
        return std::isnan(sum) ? kNever : sum;
      }
      const double s = is_alone ? 1 : values_[term.coefficient][0];
      if (noise.type == &gaussian_noise()) gamma_[0] += s * s;
      else
        for (size_t k = 0; k < n; ++k)
          gamma_[k] += s * s * fractional_covariance(static_cast<double>(k), values_[noise.shapes[0]][0]);
    }
    if (!filter_.run(gamma_, e_)) return kNever;
    sum += filter_.log_density();
    return std::isnan(sum) ? kNever : sum;
  }

 private:
  static std::vector<double> times(size_t n, double sampling) {
    std::vector<double> t(n);
    for (size_t k = 0; k < n; ++k) t[k] = sampling * static_cast<double>(k);
    return t;
  }
  std::shared_ptr<const MeasuredSystem> m_;
  std::vector<double> y_;
  SeriesValues values_;
  std::vector<double> gamma_, e_;
  ToeplitzFilter filter_;
};

class MeasuredNoise final : public LikelihoodFamily {
 public:
  explicit MeasuredNoise(std::shared_ptr<const MeasuredSystem> measured)
      : LikelihoodFamily("measured noise on a function of time", ""), m_(std::move(measured)) {}
  std::unique_ptr<TrajectoryLikelihood> of(std::span<const float> z, double sampling) const override {
    return std::make_unique<MeasuredLikelihood>(m_, z, sampling);
  }

 private:
  std::shared_ptr<const MeasuredSystem> m_;
};

}  // namespace

Recognised recognise_measured_noise(const System& system, int observation, std::string& why_not) {
  const auto refuse = [&](const std::string& reason) { return why_not = reason, nullptr; };
  const std::vector<Channel>& channels = system.observations[static_cast<size_t>(observation)].channels;
  if (!system.states.empty()) return refuse("there are states");
  if (channels.size() != 1) return refuse("there are several channels");
  auto m = std::make_shared<MeasuredSystem>();
  m->system = system;
  m->value = channels[0].value;
  ExpressionGraph& graph = m->system.graph;
  std::vector<NodeId> symbols;
  bool is_stable = false, varies = false;
  for (size_t k = 0; k < system.noises.size(); ++k) {
    if (!depends_on(graph, m->value, SymbolKind::kNoise, static_cast<int>(k))) continue;
    m->terms.push_back({static_cast<int>(k), -1});
    symbols.push_back(graph.symbol(SymbolKind::kNoise, static_cast<int>(k)));
    is_stable = is_stable || system.noises[k].type == &stable_noise();
  }
  if (symbols.empty()) return refuse("nothing is random");
  const auto coefficients = slopes(graph, m->value, symbols);
  if (!coefficients) return refuse("the channel is not linear in its noises");
  for (size_t i = 0; i < symbols.size(); ++i) {
    m->terms[i].coefficient = (*coefficients)[i];
    varies = varies || depends_on(graph, (*coefficients)[i], SymbolKind::kTime);
  }
  if (symbols.size() > 1 && is_stable) return refuse("stable noise is added to another noise");
  if (symbols.size() > 1 && varies) return refuse("several noises have coefficients that depend on time");
  return std::make_shared<MeasuredNoise>(m);
}

}  // namespace penn
