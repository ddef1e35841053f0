// Fractional Gaussian noise on a lane group, exact on its grid (Davies & Harte 1987), each lane with its own H.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "penn/base/aligned.h"
#include "penn/noise/noise_type.h"

namespace penn {

const NoiseType& fractional_noise();

// Eigenvalues 0..half of the circulant matrix of size 2*half that embeds the fGn covariance. All are positive for 0 < H
// < 1.
std::vector<double> fractional_eigenvalues(int half, double H);

// Everything that depends on the number of steps only; shared by threads.
class FractionalGrid final : public NoiseGrid {
 public:
  explicit FractionalGrid(int64_t steps);
  ~FractionalGrid() override;
  FractionalGrid(const FractionalGrid&) = delete;
  FractionalGrid& operator=(const FractionalGrid&) = delete;

  int64_t steps() const override { return steps_; }
  int half() const { return half_; }  // the circulant matrix has size 2*half

  // Buffers of one thread.
  struct Scratch {
    AlignedVector<std::complex<float>> spectrum;
    AlignedVector<float> series;
  };

  // out (steps, kLanes) = scale * unit fGn with exponent H[lane], each in (0, 1).
  void fill(const LaneKeys& keys, uint32_t stream, const double* H, const float* scale, float* out,
            Scratch& scratch) const;

  // log2 sqrt(eigenvalue k / (4 half)) for one H, k = 0..half: by interpolation in H, and directly. Exposed for the
  // test.
  std::vector<float> log_amplitudes_fast(double H) const;
  std::vector<float> log_amplitudes_direct(double H) const;

 private:
  int64_t steps_;
  int half_;
  std::vector<float> table_;  // (half + 1, nodes) Chebyshev coefficients
  struct Plan;
  std::unique_ptr<Plan> plan_;
};

}  // namespace penn
