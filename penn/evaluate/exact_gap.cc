#include "penn/evaluate/exact_gap.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "penn/evaluate/calibration.h"
#include "penn/likelihood/exact_posterior.h"

namespace penn {
namespace {

constexpr size_t kDraws = 4000;

}  // namespace

std::optional<double> ExactGapMeter::log_posterior_of(std::span<const float> z, double sampling,
                                                      std::span<const double> truth, const Posterior& q,
                                                      uint64_t seed) const {
  const auto likelihood = exact_.of(z, sampling);
  const size_t M = truth.size();
  Evidence evidence;
  if (M <= kMostQuadratureParameters) {
    evidence = evidence_by_quadrature(*likelihood, box_, {.starts = {{truth.begin(), truth.end()}, q.mean()}});
  } else {
    DrawStream stream(seed);
    const std::vector<double> draws = q.sample(kDraws, stream);
    std::vector<double> logs(kDraws);
    for (size_t i = 0; i < kDraws; ++i) logs[i] = q.log_density({&draws[i * M], M});
    evidence = evidence_by_sampling(*likelihood, box_, draws, logs);
  }
  if (!evidence.why_not.empty()) return std::nullopt;
  const double value = log_posterior(*likelihood, box_, evidence, truth);
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

void ExactGapMeter::add(std::optional<double> exact, double log_q) {
  if (!exact) {
    ++refused_;
    return;
  }
  exact_nll_.push_back(-*exact);
  gaps_.push_back(*exact - log_q);
}

ExactGap ExactGapMeter::result() const {
  ExactGap result{.family = exact_.family(),
                  .note = exact_.note(),
                  .count = static_cast<int64_t>(gaps_.size()),
                  .refused = refused_};
  if (gaps_.empty()) return result;
  RunningMoments nll, gap;
  for (const double value : exact_nll_) nll.add(value);
  for (const double value : gaps_) gap.add(value);
  std::vector<double> sorted = gaps_;
  std::sort(sorted.begin(), sorted.end());
  result.nll = nll.mean();
  result.mean = gap.mean();
  result.error = gap.sd() / std::sqrt(static_cast<double>(gap.count()));
  result.upper_decile = sorted[sorted.size() * 9 / 10];
  return result;
}

std::string exact_gap_text(const ExactGap& gap) {
  if (gap.count == 0)
    return fmt::format(
        "exact posterior   {}: not accurate on any of {} trajectories; train longer, it is sampled from the model's\n",
        gap.family, gap.refused);
  std::string out = fmt::format(
      "exact posterior   {:.4f} on the first {} trajectories; the model is {:.4f} +- {:.4f} nats behind, for a tenth "
      "more than {:.2f}\n",
      gap.nll, gap.count, gap.mean, gap.error, gap.upper_decile);
  out += fmt::format("                  {}{}\n", gap.family, gap.note.empty() ? "" : "; " + gap.note);
  if (gap.refused > 0)
    out += fmt::format("                  {} more could not be compared: the exact posterior was not accurate enough\n",
                       gap.refused);
  return out;
}

}  // namespace penn
