// How far is a posterior from the exact one? Where the likelihood of the system can be computed (penn/likelihood), on
// some trajectories: gap = ln p(truth | x) - ln q(truth | x). Its mean is the KL divergence from the exact posterior,
// never negative in expectation.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "penn/likelihood/exact_likelihood.h"
#include "penn/posterior/posterior.h"

namespace penn {

struct ExactGap {
  std::string family, note;        // of the likelihood; the note says what it leaves out
  int64_t count = 0, refused = 0;  // trajectories; refused: the exact posterior could not be computed accurately
  bool is_late = false;            // the time was up before all that were asked for
  double nll = 0;                  // mean of -ln p(truth | x), the parameters' own units
  double mean = 0, error = 0;      // of the gaps; error: standard error
  double upper_decile = 0;         // a tenth of the gaps are larger
};
std::string exact_gap_text(const ExactGap& gap);

class ExactGapMeter {
 public:
  // seconds: no comparison goes on for longer; trajectories are compared in their order, those begun too late not at
  // all.
  ExactGapMeter(ExactLikelihood exact, const Box& box, double seconds);

  // ln p(truth | x). Up to three parameters by quadrature; above by importance sampling from q. NaN where that is not
  // accurate, nothing where the time is up.
  std::optional<double> log_posterior_of(std::span<const float> z, double sampling, std::span<const double> truth,
                                         const Posterior& q, uint64_t seed) const;
  void add(std::optional<double> exact, double log_q);
  ExactGap result() const;

 private:
  ExactLikelihood exact_;
  Box box_;
  std::chrono::steady_clock::time_point end_;
  int64_t refused_ = 0;
  bool is_late_ = false;
  std::vector<double> exact_nll_, gaps_;
};

}  // namespace penn
