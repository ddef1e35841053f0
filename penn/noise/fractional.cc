// Davies-Harte: the covariance of n fGn values is embedded in a circulant matrix of size N = 2*half, whose eigenvalues
// lambda_k are the Fourier transform of its first row. With g complex standard normal,
//   X_j = sum_k sqrt(lambda_k / N) g_k exp(2 pi i j k / N),  g_{N-k} = conj(g_k),
// has exactly the wanted covariance. Every lane has its own H, and two transforms per trajectory (one of them in double
// precision) would cost more than everything else. But ln lambda_k is a smooth function of ln H, so it is interpolated
// from kNodes Chebyshev nodes computed once per grid; outside [kLowestH, kHighestH] it is computed directly.
#include "penn/noise/fractional.h"

#include <fftw3.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <numbers>

#include "penn/noise/fractional_covariance.h"
#include "penn/noise/gaussian.h"
#include "penn/noise/lane_random.h"

namespace penn {
namespace {

using namespace lanes;

constexpr double kLowestH = 0.01, kHighestH = 0.99;
constexpr double kPi = std::numbers::pi;
constexpr int kNodes = 20;  // Chebyshev nodes in ln H; error of an amplitude below 2e-6

std::mutex& planner_mutex() {  // FFTW plans are made by one thread at a time
  static std::mutex mutex;
  return mutex;
}

// The smallest 2^a 3^b 5^c with a >= 2 that is not below n: sizes that FFTW is fast at.
int64_t fast_size(int64_t n) {
  int64_t best = 4;
  while (best < n) best *= 2;
  for (int64_t five = 1; five <= best; five *= 5)
    for (int64_t three = five; three <= best; three *= 3) {
      int64_t size = 4 * three;
      while (size < n) size *= 2;
      if (size < best) best = size;
    }
  return best;
}

int half_size(int64_t steps) {
  return static_cast<int>(fast_size(std::max<int64_t>(2 * steps, 4)) / 2);
}

// Chebyshev coordinate in [-1, 1] of H.
double coordinate(double H) {
  return 2 * (std::log(H) - std::log(kLowestH)) / (std::log(kHighestH) - std::log(kLowestH)) - 1;
}
double at_coordinate(double x) {
  return std::exp(std::log(kLowestH) + (x + 1) / 2 * (std::log(kHighestH) - std::log(kLowestH)));
}

// All eigenvalues but the first vanish like 1 - H as H -> 1; taking that factor out leaves a smooth function.
double log_amplitude(double eigenvalue, int k, int half) {
  // k = 0 and k = half have a real Gaussian, all others a complex one with two parts of half the variance.
  const double parts = k == 0 || k == half ? 1 : 2;
  // Positive in theory; for H within rounding of 0 or 1 the computed one may not be.
  return 0.5 * std::log2(std::max(eigenvalue, 1e-30) / (parts * 2.0 * half));
}
double vanishing_factor(int k, double H) {
  return k == 0 ? 0 : 0.5 * std::log2(1 - H);
}

}  // namespace

std::vector<double> fractional_eigenvalues(int half, double H) {
  std::vector<double> row(static_cast<size_t>(half) + 1), eigenvalue(row.size());
  for (int k = 0; k <= half; ++k) row[k] = fractional_covariance(k, H);
  // The circulant row is even, so its transform is a cosine transform of half the size.
  fftw_plan plan;
  {
    std::lock_guard lock(planner_mutex());
    plan = fftw_plan_r2r_1d(half + 1, row.data(), eigenvalue.data(), FFTW_REDFT00, FFTW_ESTIMATE);
  }
  fftw_execute(plan);
  std::lock_guard lock(planner_mutex());
  fftw_destroy_plan(plan);
  return eigenvalue;
}

struct FractionalGrid::Plan {
  fftwf_plan plan = nullptr;
  ~Plan() {
    std::lock_guard lock(planner_mutex());
    fftwf_destroy_plan(plan);
  }
};

FractionalGrid::FractionalGrid(int64_t steps) : steps_(steps), half_(half_size(steps)), plan_(new Plan) {
  const size_t frequencies = static_cast<size_t>(half_) + 1;
  table_.assign(frequencies * kNodes, 0);
  std::vector<double> node(frequencies * kNodes);  // (kNodes, frequencies) values at the nodes
  for (int p = 0; p < kNodes; ++p) {
    const double H = at_coordinate(std::cos(kPi * (p + 0.5) / kNodes));
    const std::vector<double> eigenvalue = fractional_eigenvalues(half_, H);
    for (int k = 0; k <= half_; ++k)
      node[p * frequencies + k] = log_amplitude(eigenvalue[k], k, half_) - vanishing_factor(k, H);
  }
  for (int degree = 0; degree < kNodes; ++degree)
    for (int p = 0; p < kNodes; ++p) {
      const double weight = (degree == 0 ? 1.0 : 2.0) / kNodes * std::cos(kPi * degree * (p + 0.5) / kNodes);
      for (size_t k = 0; k < frequencies; ++k)
        table_[k * kNodes + degree] += static_cast<float>(weight * node[p * frequencies + k]);
    }
  Scratch scratch{AlignedVector<std::complex<float>>(frequencies),
                  AlignedVector<float>(2 * static_cast<size_t>(half_))};
  // FFTW_ESTIMATE, not FFTW_MEASURE: a measured plan may differ from run to run, and with it the last bits of a
  // trajectory.
  std::lock_guard lock(planner_mutex());
  plan_->plan = fftwf_plan_dft_c2r_1d(2 * half_, reinterpret_cast<fftwf_complex*>(scratch.spectrum.data()),
                                      scratch.series.data(), FFTW_ESTIMATE | FFTW_DESTROY_INPUT);
}

FractionalGrid::~FractionalGrid() = default;

namespace {
// c (kNodes): the Chebyshev coefficients of one frequency.
inline X interpolate(const float basis[kNodes][kPairWidth], const float* c) {
  X even = 0.0f, odd = 0.0f;  // two sums: half the latency
  for (int p = 0; p < kNodes; p += 2) {
    even = fma(load_pair(basis[p]), c[p], even);
    odd = fma(load_pair(basis[p + 1]), c[p + 1], odd);
  }
  return even + odd;
}
}  // namespace

std::vector<float> FractionalGrid::log_amplitudes_direct(double H) const {
  const std::vector<double> eigenvalue = fractional_eigenvalues(half_, H);
  std::vector<float> result(eigenvalue.size());
  for (int k = 0; k <= half_; ++k) result[k] = static_cast<float>(log_amplitude(eigenvalue[k], k, half_));
  return result;
}

namespace {
void chebyshev_basis(double H, int nodes, float* first, int stride) {
  const double x = coordinate(H);
  double previous = 1, current = x;
  for (int p = 0; p < nodes; ++p) {
    first[p * stride] = static_cast<float>(previous);
    const double next = 2 * x * current - previous;
    previous = current;
    current = next;
  }
}
bool in_table(double H) {
  return H >= kLowestH && H <= kHighestH;
}
}  // namespace

std::vector<float> FractionalGrid::log_amplitudes_fast(double H) const {
  if (!in_table(H)) return log_amplitudes_direct(H);
  alignas(64) float basis[kNodes][kPairWidth] = {};
  chebyshev_basis(H, kNodes, &basis[0][0], kPairWidth);
  std::vector<float> result(static_cast<size_t>(half_) + 1);
  for (int k = 0; k <= half_; ++k) {
    const X log_amplitude = interpolate(basis, table_.data() + static_cast<size_t>(k) * kNodes);
    result[k] = log_amplitude.a[0] + static_cast<float>(vanishing_factor(k, H));
  }
  return result;
}

void FractionalGrid::fill(const LaneKeys& keys, uint32_t stream, const double* H, const float* scale, float* out,
                          Scratch& scratch) const {
  const size_t stride = (static_cast<size_t>(half_) + 8) / 8 * 8;  // keeps every trajectory's spectrum on a cache line
  // Series that are written to `out` together: one at a time, every number of them would touch a cache line of its own.
  constexpr int kTogether = 8;
  static_assert(kPairWidth % kTogether == 0);
  const size_t series_stride = (2 * static_cast<size_t>(half_) + 15) / 16 * 16 +
                               16;  // aligned, and not a power of two: these compete for the same cache sets
  scratch.spectrum.resize(kPairWidth * stride);
  scratch.series.resize(static_cast<size_t>(kTogether) * series_stride);

  const LaneStream source(keys, stream);
  for (int first = 0; first < kLanes; first += kPairWidth) {
    alignas(64) float basis[kNodes][kPairWidth], vanishing[kPairWidth];
    std::vector<float> direct[kPairWidth];
    bool any_direct = false;
    for (int lane = 0; lane < kPairWidth; ++lane) {
      const double h = H[first + lane];
      if (!in_table(h)) direct[lane] = log_amplitudes_direct(h), any_direct = true;
      chebyshev_basis(in_table(h) ? h : 0.5, kNodes, &basis[0][lane], kPairWidth);
      vanishing[lane] = static_cast<float>(vanishing_factor(1, in_table(h) ? h : 0.5));
    }

    // Spectrum, eight frequencies at a time: made with a lane as trajectory, stored trajectory by trajectory for the
    // transform.
    constexpr int kTile = 8;
    alignas(64) float tile[kTile][2][kPairWidth];
    for (int k0 = 0; k0 <= half_; k0 += kTile) {
      const int count = std::min(kTile, half_ + 1 - k0);
      for (int i = 0; i < count; i += 2) {
        const Words words = source.words(first, static_cast<uint32_t>(k0 + i) / 2);
        for (int j = 0; j < 2 && i + j < count; ++j) {
          const int k = k0 + i + j;
          X amplitude = interpolate(basis, table_.data() + static_cast<size_t>(k) * kNodes), real, imaginary;
          if (k > 0) amplitude = amplitude + load_pair(vanishing);
          for (int lane = 0; any_direct && lane < kPairWidth; ++lane) {
            if (direct[lane].empty()) continue;
            if (lane < kWidth) amplitude.a[lane] = direct[lane][k];
            else amplitude.b[lane - kWidth] = direct[lane][k];
          }
          amplitude = exp2_saturating(amplitude);
          box_muller(words.w[2 * j], words.w[2 * j + 1], real, imaginary);
          store(tile[i + j][0], real * amplitude);
          store(tile[i + j][1], k == 0 || k == half_ ? X(0.0f) : imaginary * amplitude);
        }
      }
      for (int lane = 0; lane < kPairWidth; ++lane) {
        std::complex<float>* spectrum = scratch.spectrum.data() + lane * stride + k0;
        for (int i = 0; i < count; ++i) spectrum[i] = {tile[i][0][lane], tile[i][1][lane]};
      }
    }

    for (int lane = 0; lane < kPairWidth; lane += kTogether) {
      for (int i = 0; i < kTogether; ++i)
        fftwf_execute_dft_c2r(plan_->plan,
                              reinterpret_cast<fftwf_complex*>(scratch.spectrum.data() + (lane + i) * stride),
                              scratch.series.data() + static_cast<size_t>(i) * series_stride);
      for (int64_t step = 0; step < steps_; ++step) {
        float row[kTogether];
        for (int i = 0; i < kTogether; ++i)
          row[i] = scale[first + lane + i] *
                   scratch.series[static_cast<size_t>(i) * series_stride + static_cast<size_t>(step)];
        std::memcpy(out + step * kLanes + first + lane, row, sizeof row);
      }
    }
  }
}

namespace {

class FractionalDriver final : public Driver {
 public:
  explicit FractionalDriver(std::shared_ptr<const NoiseGrid> grid)
      : grid_(std::static_pointer_cast<const FractionalGrid>(std::move(grid))),
        values_(static_cast<size_t>(grid_->steps()) * kLanes) {}

  void set_lane(int lane, const double* shapes, double dt) override {
    H_[lane] = shapes[0];
    scale_[lane] = static_cast<float>(std::pow(dt, shapes[0]));
  }
  void start(const LaneKeys& keys, uint32_t stream) override {
    grid_->fill(keys, stream, H_, scale_, values_.data(), scratch_);
  }
  const float* values(int64_t first, int) override { return values_.data() + first * kLanes; }

 private:
  std::shared_ptr<const FractionalGrid> grid_;
  AlignedVector<float> values_;  // (steps of the grid, kLanes)
  FractionalGrid::Scratch scratch_;
  double H_[kLanes];
  float scale_[kLanes];
};

// The sum over frequencies, term by term: steps * half operations.
std::vector<double> reference(const RandomKey& key, uint32_t stream, const double* shapes, double dt, int steps) {
  const double H = shapes[0];
  const int half = half_size(steps), N = 2 * half;
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
  for (double& value : result) value *= std::pow(dt, H);
  return result;
}

}  // namespace

const NoiseType& fractional_noise() {
  static const NoiseType type = {
      .name = "fractional",
      .shapes = {{"H", 0, 1, NoiseShape::kOpen}},
      .increments = "normal, mean 0, variance h^(2H), correlated like those of fractional Brownian motion",
      .make_driver = [](std::shared_ptr<const NoiseGrid> grid) -> std::unique_ptr<Driver> {
        return std::make_unique<FractionalDriver>(std::move(grid));
      },
      .reference = reference,
      .make_grid = [](int64_t steps) -> std::shared_ptr<const NoiseGrid> {
        return std::make_shared<FractionalGrid>(steps);
      },
      .grid_bytes = 240,  // the table of 2 kNodes coefficients, and some more while it is made
      .driver_bytes = 270 + 4.0 * kLanes};
  return type;
}

}  // namespace penn
