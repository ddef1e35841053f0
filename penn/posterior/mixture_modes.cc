// See mixture_modes.h. With d_j = mu_j - theta and g_j = Lambda_j d_j:
//   grad ln q = g = sum_j r_j g_j,   Hess ln q = sum_j r_j (g_j g_j^T - Lambda_j) - g g^T.
#include "penn/posterior/mixture_modes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "penn/posterior/normal.h"

namespace penn {

namespace {

// All the ascent needs at one point.
struct Slope {
  double log_density;
  std::vector<double> gradient;  // of ln q
  DenseMatrix hessian;           // of ln q
  DenseMatrix precision;         // sum_j r_j Lambda_j
};

class Climber {
 public:
  explicit Climber(const GaussianMixture& q) : q_(q), terms_(q.components()) {
    for (std::size_t j = 0; j < q.components(); ++j) {
      DenseMatrix u(q.dimension(), q.dimension());
      std::copy_n(q.factor(j), u.data.size(), u.data.begin());
      precisions_.push_back(inner_gram(u));
    }
  }

  Slope slope(std::span<const double> theta) {
    const std::size_t m = q_.dimension();
    q_.component_log_densities(theta, terms_);
    Slope s{log_sum_exp(terms_), std::vector<double>(m, 0.0), DenseMatrix(m, m), DenseMatrix(m, m)};
    std::vector<double> g(m);
    for (std::size_t j = 0; j < q_.components(); ++j) {
      const double r = std::exp(terms_[j] - s.log_density);
      if (r == 0.0) continue;
      const DenseMatrix& precision = precisions_[j];
      const auto mu = q_.component_mean(j);
      for (std::size_t k = 0; k < m; ++k) {
        g[k] = 0.0;
        for (std::size_t l = 0; l < m; ++l) g[k] += precision(k, l) * (mu[l] - theta[l]);
        s.gradient[k] += r * g[k];
      }
      for (std::size_t k = 0; k < m; ++k)
        for (std::size_t l = 0; l < m; ++l) {
          s.precision(k, l) += r * precision(k, l);
          s.hessian(k, l) += r * (g[k] * g[l] - precision(k, l));
        }
    }
    for (std::size_t k = 0; k < m; ++k)
      for (std::size_t l = 0; l < m; ++l) s.hessian(k, l) -= s.gradient[k] * s.gradient[l];
    return s;
  }

  // Climbs from theta to a local maximum. The result's hessian is negative definite unless the steps ran out.
  Slope climb(std::vector<double>& theta, int max_steps) {
    Slope here = slope(theta);
    for (int step = 0, pushes = 0; step < max_steps; ++step) {
      const std::optional<DenseMatrix> curvature = negative_cholesky(here.hessian);
      std::optional<std::vector<double>> move;
      if (curvature) move = solved(*curvature, here.gradient);
      // Newton decrement: the expected gain is half of it, so below 1e-24 the point is within 1e-12 local SD.
      const double decrement = move ? dot(*move, here.gradient) : std::numeric_limits<double>::infinity();
      if (curvature && decrement < 1e-24) break;
      if (curvature && try_step(theta, here, *move)) continue;
      if (curvature && decrement < 1e-10) break;  // at the resolution of the log density itself
      DenseMatrix l;
      if (!cholesky(here.precision, &l)) break;
      const std::vector<double> shift = solved(l, here.gradient);  // fixed point minus theta
      const double size = dot(shift, here.gradient);
      if (size > 1e-16 && try_step(theta, here, shift)) continue;
      if (curvature || ++pushes > 20 || !push_off_saddle(theta, here)) break;
    }
    return here;
  }

 private:
  static std::optional<DenseMatrix> negative_cholesky(const DenseMatrix& hessian) {
    DenseMatrix negative = hessian, l;
    for (double& v : negative.data) v = -v;
    if (!cholesky(negative, &l)) return std::nullopt;
    return l;
  }

  static std::vector<double> solved(const DenseMatrix& l, std::vector<double> b) {
    solve_cholesky(l, b);
    return b;
  }

  bool try_step(std::vector<double>& theta, Slope& here, std::span<const double> move) {
    std::vector<double> next(theta);
    for (std::size_t k = 0; k < next.size(); ++k) next[k] += move[k];
    Slope there = slope(next);
    if (!(there.log_density > here.log_density)) return false;
    theta = std::move(next);
    here = std::move(there);
    return true;
  }

  // The gradient vanishes but the density rises along the eigenvector of the largest curvature (relative to the
  // local precision, so that units do not matter): step along it until the density is higher.
  bool push_off_saddle(std::vector<double>& theta, Slope& here) {
    DenseMatrix l;
    if (!cholesky(here.precision, &l)) return false;
    const std::size_t m = theta.size();
    DenseMatrix whitened(m, m);  // L^-1 H L^-T
    for (std::size_t c = 0; c < m; ++c) {
      std::vector<double> column(m);
      for (std::size_t r = 0; r < m; ++r) column[r] = here.hessian(r, c);
      forward(l, column);
      for (std::size_t r = 0; r < m; ++r) whitened(r, c) = column[r];
    }
    for (std::size_t r = 0; r < m; ++r) {
      std::vector<double> row(whitened.row(r).begin(), whitened.row(r).end());
      forward(l, row);
      for (std::size_t c = 0; c < m; ++c) whitened(r, c) = row[c];
    }
    const auto [values, vectors] = symmetric_eigen(whitened);
    if (!(values[0] > 1e-9)) return false;
    std::vector<double> direction(vectors.row(0).begin(), vectors.row(0).end());
    for (std::size_t i = m; i-- > 0;) {  // L^-T: back to theta
      for (std::size_t k = i + 1; k < m; ++k) direction[i] -= l(k, i) * direction[k];
      direction[i] /= l(i, i);
    }
    for (double size = 0.1; size > 1e-6; size *= 0.3) {
      std::vector<double> move(direction);
      for (double& v : move) v *= size;
      if (try_step(theta, here, move)) return true;
    }
    return false;
  }

  static void forward(const DenseMatrix& l, std::span<double> x) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      for (std::size_t k = 0; k < i; ++k) x[i] -= l(i, k) * x[k];
      x[i] /= l(i, i);
    }
  }

  const GaussianMixture& q_;
  std::vector<double> terms_;
  std::vector<DenseMatrix> precisions_;
};

struct Peak {
  Mode mode;
  DenseMatrix curvature;  // minus the Hessian
  std::size_t climbers = 0;
};

// Distance in units of the local SD of the peak.
double distance(const Peak& peak, std::span<const double> theta) {
  const std::size_t m = theta.size();
  double sum = 0.0;
  for (std::size_t k = 0; k < m; ++k)
    for (std::size_t l = 0; l < m; ++l)
      sum += peak.curvature(k, l) * (theta[k] - peak.mode.theta[k]) * (theta[l] - peak.mode.theta[l]);
  return std::sqrt(std::max(sum, 0.0));
}

Peak& find_or_add(std::vector<Peak>& peaks, const std::vector<double>& theta, const Slope& top) {
  for (Peak& peak : peaks)
    if (distance(peak, theta) < 1e-3) return peak;
  Peak peak;
  peak.mode.theta = theta;
  peak.mode.log_density = top.log_density;
  peak.curvature = top.hessian;
  for (double& v : peak.curvature.data) v = -v;
  peaks.push_back(std::move(peak));
  return peaks.back();
}

// Depth of the deepest point of the straight line between two modes, below the lower of them.
double dip_between(const GaussianMixture& q, const Mode& a, const Mode& b) {
  constexpr int kPoints = 64;
  const double floor = std::min(a.log_density, b.log_density);
  double deepest = 0.0;
  std::vector<double> theta(a.theta.size());
  for (int i = 1; i < kPoints; ++i) {
    const double t = static_cast<double>(i) / kPoints;
    for (std::size_t k = 0; k < theta.size(); ++k) theta[k] = (1.0 - t) * a.theta[k] + t * b.theta[k];
    deepest = std::max(deepest, floor - q.log_density(theta));
  }
  return deepest;
}

// Joins the pair with the shallowest valley until every valley is deeper than allowed; the higher peak stays.
void merge_shallow(const GaussianMixture& q, std::vector<Peak>& peaks, double allowed) {
  while (peaks.size() > 1) {
    double shallowest = std::numeric_limits<double>::infinity();
    std::size_t keep = 0, drop = 0;
    for (std::size_t a = 0; a < peaks.size(); ++a)
      for (std::size_t b = a + 1; b < peaks.size(); ++b) {
        const double dip = dip_between(q, peaks[a].mode, peaks[b].mode);
        if (dip >= shallowest) continue;
        shallowest = dip;
        const bool a_higher = peaks[a].mode.log_density >= peaks[b].mode.log_density;
        keep = a_higher ? a : b;
        drop = a_higher ? b : a;
      }
    if (shallowest > allowed) return;
    peaks[keep].mode.weight += peaks[drop].mode.weight;
    peaks[keep].climbers += peaks[drop].climbers;
    peaks.erase(peaks.begin() + static_cast<std::ptrdiff_t>(drop));
  }
}

}  // namespace

std::vector<double> log_density_gradient(const GaussianMixture& q, std::span<const double> theta) {
  return Climber(q).slope(theta).gradient;
}

DenseMatrix log_density_hessian(const GaussianMixture& q, std::span<const double> theta) {
  return Climber(q).slope(theta).hessian;
}

std::vector<Mode> find_modes(const GaussianMixture& q, const ModeOptions& options) {
  Climber climber(q);
  std::vector<Peak> peaks;
  const auto climb_from = [&](std::span<const double> start) -> Peak& {
    std::vector<double> theta(start.begin(), start.end());
    const Slope top = climber.climb(theta, options.max_steps);
    return find_or_add(peaks, theta, top);
  };
  for (std::size_t j = 0; j < q.components(); ++j) {
    if (q.weight(j) == 0.0 && q.components() > 1) continue;  // nothing there that a double can see
    climb_from(q.component_mean(j)).mode.weight += q.weight(j);
  }
  DrawStream draws(options.seed);
  const std::vector<double> starts = q.sample(options.basin_draws, draws);
  for (std::size_t i = 0; i < options.basin_draws; ++i)
    climb_from({&starts[i * q.dimension()], q.dimension()}).climbers += 1;
  if (options.merge_dip > 0.0) merge_shallow(q, peaks, options.merge_dip);

  std::vector<Mode> modes;
  for (Peak& peak : peaks) {
    if (options.basin_draws > 0) {
      const double n = static_cast<double>(options.basin_draws);
      peak.mode.mass = static_cast<double>(peak.climbers) / n;
      peak.mode.mass_error = std::sqrt(peak.mode.mass * (1.0 - peak.mode.mass) / n);
    }
    modes.push_back(std::move(peak.mode));
  }
  std::stable_sort(modes.begin(), modes.end(), [&](const Mode& a, const Mode& b) {
    return options.basin_draws > 0 ? a.mass > b.mass : a.weight > b.weight;
  });
  return modes;
}

}  // namespace penn
