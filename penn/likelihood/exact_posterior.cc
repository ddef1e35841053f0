#include "penn/likelihood/exact_posterior.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "penn/likelihood/grid_quadrature.h"
#include "penn/posterior/probit_coordinates.h"

namespace penn {
namespace {

constexpr double kLeastEffective = 100, kLeastFraction = 0.05;

double log_prior(const Box& box) {
  double sum = 0;
  for (size_t k = 0; k < box.lo.size(); ++k) sum -= std::log(box.hi[k] - box.lo[k]);
  return sum;
}

}  // namespace

Evidence evidence_by_quadrature(TrajectoryLikelihood& likelihood, const Box& box, const QuadratureOptions& options) {
  const size_t M = box.lo.size();
  check_box(box, M);
  Evidence evidence;
  if (M > kMostQuadratureParameters)
    return evidence.why_not = fmt::format("quadrature is for at most {} parameters", kMostQuadratureParameters),
           evidence;
  std::vector<double> theta(M);
  // Uniform in the box is standard normal in w: p(x) = int p(x | theta(w)) N(w; 0, 1) dw.
  const LogFunction integrand = [&](std::span<const double> w) {
    double sum = -kHalfLogTwoPi * static_cast<double>(M);
    for (size_t k = 0; k < M; ++k) {
      theta[k] = from_probit_coordinate(w[k], box.lo[k], box.hi[k]);
      sum -= 0.5 * w[k] * w[k];
    }
    return sum + likelihood.log_likelihood(theta);
  };
  GridOptions grid{.tolerance = options.tolerance, .most_points = options.most_evaluations};
  for (const std::vector<double>& start : options.starts) {
    grid.starts.emplace_back();
    for (size_t k = 0; k < M; ++k) grid.starts.back().push_back(probit_coordinate(start[k], box.lo[k], box.hi[k]));
  }
  const GridIntegral integral = integrate_on_grid(integrand, M, grid);
  evidence.log_value = integral.log_value, evidence.error = integral.error;
  evidence.evaluations = integral.evaluations, evidence.modes = integral.peaks, evidence.why_not = integral.why_not;
  return evidence;
}

Evidence evidence_by_sampling(TrajectoryLikelihood& likelihood, const Box& box, std::span<const double> draws,
                              std::span<const double> log_densities) {
  const size_t M = box.lo.size(), n = log_densities.size();
  check_box(box, M);
  std::vector<double> logs(n, -std::numeric_limits<double>::infinity());
  Evidence evidence;
  double top = -std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < n; ++i) {
    const std::span<const double> theta = draws.subspan(i * M, M);
    if (!box.contains(theta)) continue;
    ++evidence.evaluations;
    logs[i] = likelihood.log_likelihood(theta) + log_prior(box) - log_densities[i];
    top = std::max(top, logs[i]);
  }
  double sum = 0, squares = 0;
  for (const double value : logs) {
    const double weight = std::exp(value - top);
    sum += weight, squares += weight * weight;
  }
  if (!std::isfinite(top)) return evidence.why_not = "no draw has a likelihood", evidence;
  const double count = static_cast<double>(n);
  evidence.log_value = top + std::log(sum / count);
  evidence.effective = sum * sum / squares;
  evidence.error = std::sqrt(std::max(0.0, count / evidence.effective - 1) / count);
  if (evidence.effective < kLeastEffective || evidence.effective < kLeastFraction * count)
    evidence.why_not =
        fmt::format("{:.0f} effective draws of {}: the draws are too far from the posterior", evidence.effective, n);
  return evidence;
}

double log_posterior(TrajectoryLikelihood& likelihood, const Box& box, const Evidence& evidence,
                     std::span<const double> theta) {
  if (!box.contains(theta)) return -std::numeric_limits<double>::infinity();
  return likelihood.log_likelihood(theta) + log_prior(box) - evidence.log_value;
}

}  // namespace penn
