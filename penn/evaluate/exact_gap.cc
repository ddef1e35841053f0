#include "penn/evaluate/exact_gap.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "penn/evaluate/calibration.h"
#include "penn/likelihood/exact_posterior.h"

namespace penn {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kDraws = 4000;

struct TimeUp {};

// A likelihood that stops whoever integrates it when the time is up.
class TimedLikelihood : public TrajectoryLikelihood {
 public:
  TimedLikelihood(std::unique_ptr<TrajectoryLikelihood> inner, Clock::time_point end)
      : inner_(std::move(inner)), end_(end) {}
  double log_likelihood(std::span<const double> theta) override {
    if (Clock::now() > end_) throw TimeUp();
    return inner_->log_likelihood(theta);
  }

 private:
  std::unique_ptr<TrajectoryLikelihood> inner_;
  Clock::time_point end_;
};

}  // namespace

ExactGapMeter::ExactGapMeter(ExactLikelihood exact, const Box& box, double seconds)
    : exact_(std::move(exact)),
      box_(box),
      end_(Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {}

std::optional<double> ExactGapMeter::log_posterior_of(std::span<const float> z, double sampling,
                                                      std::span<const double> truth, const Posterior& q,
                                                      uint64_t seed) const try {
  TimedLikelihood likelihood(exact_.of(z, sampling), end_);
  const size_t M = truth.size();
  Evidence evidence;
  if (M <= kMostQuadratureParameters) {
    evidence = evidence_by_quadrature(likelihood, box_, {.starts = {{truth.begin(), truth.end()}, q.mean()}});
  } else {
    DrawStream stream(seed);
    const std::vector<double> draws = q.sample(kDraws, stream);
    std::vector<double> logs(kDraws);
    for (size_t i = 0; i < kDraws; ++i) logs[i] = q.log_density({&draws[i * M], M});
    evidence = evidence_by_sampling(likelihood, box_, draws, logs);
  }
  const double none = std::numeric_limits<double>::quiet_NaN();
  const double value = evidence.why_not.empty() ? log_posterior(likelihood, box_, evidence, truth) : none;
  return std::isfinite(value) ? value : none;
} catch (const TimeUp&) {
  return std::nullopt;
}

void ExactGapMeter::add(std::optional<double> exact, double log_q) {
  is_late_ |= !exact;
  if (!exact) return;
  if (std::isnan(*exact)) {
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
                  .refused = refused_,
                  .is_late = is_late_};
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
  if (gap.count == 0 && gap.refused == 0) return "exact posterior   not compared: that takes longer than a minute\n";
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
  if (gap.is_late) out += "                  not more of them: the time for it was up\n";
  return out;
}

}  // namespace penn
