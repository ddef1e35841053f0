// How far is a posterior from the exact one? Where the likelihood of the system can be computed (penn/likelihood), on
// some trajectories: gap = ln p(truth | x) - ln q(truth | x). Its mean is the KL divergence from the exact posterior,
// never negative in expectation.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "penn/posterior/posterior.h"
#include "penn/likelihood/exact_likelihood.h"

namespace penn {

struct ExactGap {
  std::string family, note;        // of the likelihood; the note says what it leaves out
  int64_t count = 0, refused = 0;  // trajectories; refused: the exact posterior could not be computed accurately
  double nll = 0;                  // mean of -ln p(truth | x), the parameters' own units
  double mean = 0, error = 0;      // of the gaps; error: standard error
  double upper_decile = 0;         // a tenth of the gaps are larger
};
std::string exact_gap_text(const ExactGap& gap);

class ExactGapMeter {
 public:
  explicit ExactGapMeter(ExactLikelihood exact, const Box& box) : exact_(std::move(exact)), box_(box) {}

  // ln p(truth | x). Up to three parameters by quadrature; above by importance sampling from q. Nothing where that is
  // not accurate.
  std::optional<double> log_posterior_of(std::span<const float> z, double sampling, std::span<const double> truth,
                                         const Posterior& q, uint64_t seed) const;
  void add(std::optional<double> exact, double log_q);
  ExactGap result() const;

 private:
  ExactLikelihood exact_;
  Box box_;
  int64_t refused_ = 0;
  std::vector<double> exact_nll_, gaps_;
};

}  // namespace penn
