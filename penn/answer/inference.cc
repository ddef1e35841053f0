#include "penn/answer/inference.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "penn/base/error.h"
#include "penn/model/parameter_box.h"
#include "penn/posterior/mixture_product.h"

namespace penn {
namespace {

// By Markov's inequality at most one training trajectory in a hundred has more of its samples outside the 0.1 %
// and 99.9 % points of all.
constexpr double kValuesOutside = 0.2;
constexpr double kCoarse = 0.3;       // step of rounding over typical change
constexpr double kDisagreement = -5;  // log agreement of combined trajectories
constexpr double kRough = 0.3;        // divergence of a combined posterior from the product it stands for, in nats

void fill_numbers(Inference& answer) {
  const Posterior& q = answer.posterior;
  answer.mean = q.mean();
  answer.correlation = q.correlation();
  answer.quantiles.assign(kQuantiles.size(), {});
  for (size_t k = 0; k < q.dimension(); ++k) {
    const Marginal marginal = q.marginal(k);
    answer.sd.push_back(marginal.sd());
    answer.median.push_back(marginal.median());
    for (size_t i = 0; i < kQuantiles.size(); ++i) answer.quantiles[i].push_back(marginal.quantile(kQuantiles[i]));
  }
  answer.outside_mass = q.outside_mass();
  if (answer.outside_mass > kLeakWarning)
    answer.warnings.push_back(
        fmt::format("{:.0f} % of the posterior lies outside the box of trained parameters, where the true ones may be",
                    100 * answer.outside_mass));
  answer.verdict = posterior_verdict(q, answer.parameters);
}

// FNV-1a over the values' bits (-0 counts as 0), and a multiplication that spreads the last ones.
uint64_t fingerprint_of(const std::vector<float>& z) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const float value : z) hash = (hash ^ std::bit_cast<uint32_t>(value + 0.0f)) * 0x100000001b3u;
  return hash * 0x9e3779b97f4a7c15u;
}

bool is_other_sampling(const ModelContext& model, const ObservedTrajectory& observed) {
  const Range trained = model.info.sampling;
  return observed.sampling < trained.low * (1 - kSameSampling) ||
         observed.sampling > trained.high * (1 + kSameSampling);
}

// Fraction of the samples that equal their predecessor.
double standing_fraction(const ObservedTrajectory& observed, size_t channel, size_t channels) {
  size_t standing = 0;
  for (size_t i = 1; i < static_cast<size_t>(observed.n); ++i)
    standing += observed.z[i * channels + channel] == observed.z[(i - 1) * channels + channel];
  return static_cast<double>(standing) / static_cast<double>(observed.n - 1);
}

// A sensor that was stuck; sign(x) stands still by nature.
bool is_stuck(const ModelContext& model, const ObservedTrajectory& observed) {
  const size_t d = model.system.observations[static_cast<size_t>(model.observation)].channels.size();
  for (size_t c = 0; c < d; ++c)
    if (standing_fraction(observed, c, d) > 0.5 && !(c < model.info.quantised.size() && model.info.quantised[c]))
      return true;
  return false;
}

std::string comma_list(const std::vector<Channel>& channels) {  // as --columns takes it
  std::string text;
  for (const Channel& channel : channels) text += (text.empty() ? "" : ",") + channel.name;
  return text;
}

void withhold_verdict(Inference& answer) {
  answer.trusted = false;
  answer.verdict.sentences = {"No verdict: this answer is not to be trusted; the warnings say why."};
}

std::string range_text(double low, double high) {
  return low == high ? fmt::format("{:g}", low) : fmt::format("{:g} to {:g}", low, high);
}

}  // namespace

std::vector<std::string> observation_warnings(const ModelContext& model, const ObservedTrajectory& observed,
                                              std::span<const Quantisation> quantisations) {
  std::vector<std::string> warnings;
  const auto& channels = model.system.observations[static_cast<size_t>(model.observation)].channels;
  const IntRange lengths = model.info.lengths;
  if (observed.n < lengths.low || observed.n > lengths.high)
    warnings.push_back(fmt::format(
        "{} samples; the model was trained on {}: the scales cannot be trusted", observed.n,
        lengths.is_single() ? fmt::format("{}", lengths.low) : fmt::format("{} to {}", lengths.low, lengths.high)));
  const Range sampling = model.info.sampling;
  if (is_other_sampling(model, observed))
    warnings.push_back(fmt::format(
        "sampled every {:.6g}; the model was trained for {}: rates and times will be wrong (the unit of time is that "
        "of the system file; for times in another unit leave their column out: --columns {} --sampling {:g})",
        observed.sampling, range_text(sampling.low, sampling.high), comma_list(channels), sampling.low));
  const size_t d = channels.size(), n = static_cast<size_t>(observed.n);
  for (size_t c = 0; c < d; ++c) {
    size_t outside = 0;
    for (size_t i = 0; i < n; ++i)
      outside += observed.z[i * d + c] < model.info.value_low[c] || observed.z[i * d + c] > model.info.value_high[c];
    const double standing = standing_fraction(observed, c, d);
    const std::string& name = channels[c].name;
    if (standing == 1) warnings.push_back(fmt::format("{} is constant: nothing can be learned from it", name));
    else if (standing > 0.5 && !(c < model.info.quantised.size() && model.info.quantised[c]))
      warnings.push_back(
          fmt::format("{} repeats its last value in {:.0f} % of the samples: stuck, rounded or interpolated data", name,
                      100 * standing));
    const Quantisation quantisation = c < quantisations.size() ? quantisations[c] : Quantisation();
    if (quantisation.step > kCoarse * quantisation.typical_change)
      warnings.push_back(
          fmt::format("{} is rounded to steps of {:.3g}, and typically changes by {:.3g} from one sample to the next: "
                      "what shows on small scales, and short times, is biased",
                      name, quantisation.step, quantisation.typical_change));
    else if (quantisation.step > 0)
      warnings.push_back(fmt::format("{} is rounded to steps of {:.3g}: every value was spread over its step", name,
                                     quantisation.step));
    if (static_cast<double>(outside) > kValuesOutside * static_cast<double>(n))
      warnings.push_back(
          fmt::format("{:.0f} % of the values of {} lie outside the range of the training data ({:.3g} to {:.3g}): "
                      "other units, or an offset?",
                      100.0 * static_cast<double>(outside) / static_cast<double>(n), name, model.info.value_low[c],
                      model.info.value_high[c]));
  }
  return warnings;
}

Inference make_inference(const ModelContext& model, const ObservedTrajectory& observed, const Estimate& estimate,
                         std::span<const Quantisation> quantisations) {
  Inference answer{.source = observed.source,
                   .model = model.name,
                   .fingerprint = fingerprint_of(observed.z),
                   .parameters = parameter_names(model.system),
                   .box = parameter_box(model.system),
                   .n = observed.n,
                   .sampling = observed.sampling,
                   .sampling_high = observed.sampling,
                   .sampling_assumed = observed.sampling_assumed,
                   .reading = observed.reading,
                   .posterior = estimate.posterior,
                   .typicality = estimate.typicality,
                   .mean = {},
                   .median = {},
                   .sd = {},
                   .quantiles = {},
                   .correlation = {},
                   .verdict = {},
                   .warnings = observed.warnings,
                   .predictive = {}};
  for (std::string& warning : observation_warnings(model, observed, quantisations))
    answer.warnings.push_back(std::move(warning));
  if (!(estimate.typicality >= kAtypical))
    answer.warnings.push_back(
        fmt::format("this does not look like the training data (typicality {:.3f}): perhaps another system, other "
                    "units or another sampling; "
                    "do not trust the posterior",
                    estimate.typicality));
  fill_numbers(answer);
  answer.other_sampling = is_other_sampling(model, observed);
  if (!(estimate.typicality >= kAtypical) || answer.other_sampling || is_stuck(model, observed) ||
      answer.outside_mass > kLeakWarning)
    withhold_verdict(answer);
  return answer;
}

Inference combine_inferences(std::span<const Inference> single) {
  if (single.empty()) throw Error("nothing to combine");
  if (single.size() == 1) return single[0];
  std::vector<GaussianMixture> posteriors;
  std::map<std::pair<uint64_t, int64_t>, std::string> seen;  // by content
  int64_t repeated = 0;
  std::string example;
  Inference answer = single[0];
  answer.source = fmt::format("{} trajectories", single.size());
  answer.sources.clear();
  answer.combined = static_cast<int64_t>(single.size());
  answer.reading.clear();
  answer.sampling_assumed =
      std::any_of(single.begin(), single.end(), [](const Inference& one) { return one.sampling_assumed; });
  answer.n = 0;
  answer.trusted = true;
  answer.warnings.clear();
  answer.sd.clear();
  answer.median.clear();
  answer.predictive.reset();
  for (const Inference& one : single) {
    posteriors.push_back(one.posterior.mixture());
    answer.sources.push_back(one.source);
    const auto [earlier, is_new] = seen.emplace(std::pair(one.fingerprint, one.n), one.source);
    if (!is_new && ++repeated == 1)
      example = fmt::format("{} is the same trajectory as {}", one.source, earlier->second);
    answer.n += one.n;
    answer.sampling = std::min(answer.sampling, one.sampling);
    answer.sampling_high = std::max(answer.sampling_high, one.sampling_high);
    answer.other_sampling = answer.other_sampling || one.other_sampling;
    answer.typicality = std::min(answer.typicality, one.typicality);  // see below
    for (const std::string& warning : one.warnings)
      answer.warnings.push_back(fmt::format("{}: {}", one.source, warning));
  }
  answer.typicality =
      std::min(1.0, answer.typicality * static_cast<double>(single.size()));  // the smallest of many is small by chance
  std::vector<bool> is_probit;
  for (size_t k = 0; k < answer.box.lo.size(); ++k) is_probit.push_back(answer.posterior.is_probit(k));
  const ProductResult product = multiply_posteriors(ProductDensity(std::move(posteriors), answer.box, is_probit));
  answer.posterior = Posterior(product.mixture, answer.posterior.coordinates(), answer.box);
  if (repeated > 0)
    answer.warnings.push_back(
        fmt::format("{}{}: its evidence is counted more than once, and the posterior is too narrow", example,
                    repeated == 1 ? "" : fmt::format(", and {} more are repeated so", repeated - 1)));
  if (product.log_agreement < kDisagreement)
    answer.warnings.push_back(fmt::format(
        "the trajectories disagree (log agreement {:.1f}): they do not look like one system with the same parameters",
        product.log_agreement));
  if (!(product.divergence <= kRough))
    answer.warnings.push_back(
        fmt::format("the product of the posteriors is only approximated (divergence {:.1f} nats): do not trust it",
                    product.divergence));
  fill_numbers(answer);
  const auto doubtful = std::count_if(single.begin(), single.end(), [](const Inference& one) {
    return !one.trusted;
  });  // one in a hundred is so by chance
  if (answer.outside_mass > kLeakWarning || answer.typicality < kAtypical ||
      2 * static_cast<size_t>(doubtful) > single.size() || answer.other_sampling ||
      product.log_agreement < kDisagreement || !(product.divergence <= kRough))
    withhold_verdict(answer);
  return answer;
}

}  // namespace penn
