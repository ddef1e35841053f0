#include "penn/likelihood/grid_quadrature.h"

#include <fmt/core.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <set>

#include "penn/posterior/linear_algebra.h"
#include "penn/posterior/normal.h"

namespace penn {
namespace {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

struct GridPeak {
  Vector at;
  double value;
};

class PeakGrid {
 public:
  PeakGrid(const LogFunction& f, size_t dimension, const GridOptions& options)
      : f_(f), M_(static_cast<Eigen::Index>(dimension)), options_(options) {}

  GridIntegral run() {
    const std::vector<GridPeak> peaks = search();
    GridIntegral result;
    if (peaks.empty() || !std::isfinite(peaks[0].value))
      return result.why_not = "the function is 0 at every start", result;
    top_ = peaks[0].value;
    std::vector<double> logs;
    double weighted_error = 0;
    std::vector<Region> regions;
    for (const GridPeak& peak : peaks) {
      if (peak.value < top_ - options_.depth) continue;
      if (std::any_of(regions.begin(), regions.end(), [&](const Region& r) { return r.contains(peak.at); })) continue;
      regions.push_back(cover(peak, result));
      if (!result.why_not.empty()) break;
      logs.push_back(regions.back().log_integral);
      weighted_error += regions.back().error * std::exp(logs.back() - top_);
    }
    result.evaluations = evaluations_;
    result.peaks = static_cast<int>(logs.size());
    if (logs.empty()) return result;
    result.log_value = log_sum_exp(logs);
    result.error = weighted_error / std::exp(result.log_value - top_);
    return result;
  }

 private:
  using Cell = std::vector<int>;
  struct Region {
    Vector centre;
    Matrix from_white, to_white;  // w = centre + from_white u
    double spacing = 1.2, log_integral = 0, error = 0;
    std::set<Cell> cells;
    bool contains(const Vector& w) const {
      const Vector u = to_white * (w - centre) / spacing;
      Cell cell(static_cast<size_t>(u.size()));
      for (Eigen::Index i = 0; i < u.size(); ++i)
        cell[static_cast<size_t>(i)] = static_cast<int>(std::lround(std::clamp(u(i), -1e6, 1e6)));
      return cells.count(cell) > 0;
    }
  };

  double value(const Vector& w) {
    ++evaluations_;
    return f_({w.data(), static_cast<size_t>(w.size())});
  }

  // Nelder and Mead's simplex, upwards.
  GridPeak climb(const Vector& start) {
    std::vector<GridPeak> s = {{start, value(start)}};
    for (Eigen::Index i = 0; i < M_; ++i) {
      Vector w = start;
      w(i) += w(i) > 0 ? -0.3 : 0.3;
      s.push_back({w, value(w)});
    }
    const auto higher = [](const GridPeak& a, const GridPeak& b) { return a.value > b.value; };
    for (int round = 0; round < 120 * static_cast<int>(M_); ++round) {
      std::sort(s.begin(), s.end(), higher);
      double size = 0;
      for (const GridPeak& p : s) size = std::max(size, (p.at - s[0].at).cwiseAbs().maxCoeff());
      if (s[0].value - s.back().value < 1e-4 || size < 1e-9) break;
      Vector centre = Vector::Zero(M_);
      for (Eigen::Index i = 0; i < M_; ++i) centre += s[static_cast<size_t>(i)].at / static_cast<double>(M_);
      const auto along = [&](double t) {
        const Vector w = centre + t * (s.back().at - centre);
        return GridPeak{w, value(w)};
      };
      const GridPeak reflected = along(-1);
      if (reflected.value > s[0].value) {
        const GridPeak further = along(-2);
        s.back() = further.value > reflected.value ? further : reflected;
      } else if (reflected.value > s[s.size() - 2].value) {
        s.back() = reflected;
      } else {
        const GridPeak nearer = along(reflected.value > s.back().value ? -0.5 : 0.5);
        if (nearer.value > std::max(reflected.value, s.back().value)) {
          s.back() = nearer;
        } else {
          for (size_t i = 1; i < s.size(); ++i) {
            s[i].at = 0.5 * (s[i].at + s[0].at);
            s[i].value = value(s[i].at);
          }
        }
      }
    }
    return *std::min_element(s.begin(), s.end(), higher);
  }

  // From the caller's starts, and from the best of some Halton points that lie apart from each other. Highest first.
  std::vector<GridPeak> search() {
    constexpr int kPrimes[] = {2, 3, 5, 7, 11, 13};
    std::vector<GridPeak> points, starts, peaks;
    for (int i = 1; i <= 48 * static_cast<int>(M_); ++i) {
      Vector w(M_);
      for (Eigen::Index k = 0; k < M_; ++k) {
        double fraction = 0, unit = 1;
        for (int rest = i; rest > 0; rest /= kPrimes[k % 6])
          fraction += (unit /= kPrimes[k % 6]) * (rest % kPrimes[k % 6]);
        w(k) = normal_quantile(fraction);
      }
      points.push_back({w, value(w)});
    }
    const auto higher = [](const GridPeak& a, const GridPeak& b) { return a.value > b.value; };
    std::sort(points.begin(), points.end(), higher);
    for (const std::vector<double>& start : options_.starts)
      starts.push_back({Eigen::Map<const Vector>(start.data(), M_), 0});
    const size_t most = starts.size() + 3 + static_cast<size_t>(M_);
    for (const GridPeak& point : points) {
      if (starts.size() >= most || !std::isfinite(point.value)) break;
      if (std::all_of(starts.begin(), starts.end(), [&](const GridPeak& s) { return (s.at - point.at).norm() > 0.4; }))
        starts.push_back(point);
    }
    for (const GridPeak& start : starts) peaks.push_back(climb(start.at));
    std::sort(peaks.begin(), peaks.end(), higher);
    return peaks;
  }

  // Columns scaled so that one unit is about one standard deviation: from second differences over steps that cost about
  // half a nat.
  Matrix whitening(const GridPeak& peak) {
    Vector step(M_), curvature(M_);
    const auto moved = [&](const Vector& by) { return std::max(value(peak.at + by), peak.value - 1e3); };
    for (Eigen::Index i = 0; i < M_; ++i) {
      double d = 0.1, drop = 0;
      for (int round = 0; round < 40; ++round) {
        drop = peak.value - 0.5 * (moved(d * Vector::Unit(M_, i)) + moved(-d * Vector::Unit(M_, i)));
        if (drop > 0.2 && drop < 2) break;
        d *= drop > 0 ? std::clamp(std::sqrt(0.5 / drop), 0.05, 4.0) : 3;
        if (d > 10) break;
      }
      step(i) = d;
      curvature(i) = drop > 0 ? 2 * drop / (d * d) : 1;
    }
    Matrix H = curvature.asDiagonal();
    for (Eigen::Index i = 0; i < M_; ++i)
      for (Eigen::Index j = 0; j < i; ++j) {  // half a step each, so that the point lies inside
        const Vector a = 0.5 * step(i) * Vector::Unit(M_, i), b = 0.5 * step(j) * Vector::Unit(M_, j);
        H(i, j) = H(j, i) = -(moved(a + b) - moved(a - b) - moved(b - a) + moved(-a - b)) / (step(i) * step(j));
      }
    const Vector scale = curvature.cwiseSqrt();
    const Matrix correlation = scale.cwiseInverse().asDiagonal() * H * scale.cwiseInverse().asDiagonal();
    const size_t M = static_cast<size_t>(M_);
    DenseMatrix symmetric(M, M);
    std::copy_n(correlation.data(), M * M, symmetric.data.begin());
    const auto [values, vectors] = symmetric_eigen(std::move(symmetric));
    Matrix columns(M_, M_);
    for (size_t i = 0; i < M; ++i)  // a peak that is not quite one, or no Gaussian, is kept in bounds
      columns.col(static_cast<Eigen::Index>(i)) =
          Eigen::Map<const Vector>(vectors.row(i).data(), M_) / std::sqrt(std::max(values[i], 1e-4));
    return scale.cwiseInverse().asDiagonal() * columns;
  }

  // Sum of exp(f - top) over the points of one grid that are connected with the peak.
  double spread(Region& region, double shift, bool keep) {
    std::deque<Cell> open;
    std::set<Cell> seen;
    const auto reach = [&](const Cell& cell) {
      if (seen.insert(cell).second) open.push_back(cell);
    };
    for (int corner = 0; corner < 1 << M_; ++corner) {  // a shifted grid has no point at the peak: begin around it
      Cell cell(static_cast<size_t>(M_));
      for (Eigen::Index i = 0; i < M_; ++i) cell[static_cast<size_t>(i)] = -((corner >> i) & 1);
      reach(cell);
    }
    double sum = 0;
    Vector u(M_);
    while (!open.empty() && evaluations_ < options_.most_points) {
      const Cell cell = open.front();
      open.pop_front();
      for (Eigen::Index i = 0; i < M_; ++i) u(i) = region.spacing * (cell[static_cast<size_t>(i)] + shift);
      const double height = value(region.centre + region.from_white * u) - top_;
      if (!(height > -options_.depth)) continue;
      sum += std::exp(height);
      if (keep) region.cells.insert(cell);
      for (size_t i = 0; i < cell.size(); ++i)
        for (const int by : {-1, 1}) {
          Cell next = cell;
          next[i] += by;
          reach(next);
        }
    }
    return sum;
  }

  Region cover(const GridPeak& peak, GridIntegral& result) {
    Region region;
    region.centre = peak.at;
    region.from_white = whitening(peak);
    region.to_white = region.from_white.inverse();
    const double log_volume = std::log(std::abs(region.from_white.determinant()));
    for (int round = 0; round < 8; ++round, region.spacing *= 0.6) {
      region.cells.clear();
      const double a = spread(region, 0, true), b = spread(region, 0.5, false);
      region.log_integral =
          top_ + log_volume + static_cast<double>(M_) * std::log(region.spacing) + std::log(0.5 * (a + b));
      region.error = 0.5 * std::abs(a - b) / (0.5 * (a + b));
      if (evaluations_ >= options_.most_points) break;
      if (region.error <= options_.tolerance) return region;
    }
    result.why_not =
        fmt::format("the integral is not accurate to {} after {} evaluations", options_.tolerance, evaluations_);
    return region;
  }

  const LogFunction& f_;
  Eigen::Index M_;
  const GridOptions& options_;
  double top_ = 0;
  int64_t evaluations_ = 0;
};

}  // namespace

GridIntegral integrate_on_grid(const LogFunction& f, size_t dimension, const GridOptions& options) {
  return PeakGrid(f, dimension, options).run();
}

}  // namespace penn
