#include "penn/answer/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>  // std::iota

namespace penn {
namespace {

constexpr double kIdentifiedAbove = 0.9, kNarrowedAbove = 0.3;
constexpr double kEdgeStrip = 0.02, kEdgeMass = 0.15;  // of the width; of the posterior
constexpr double kModeWeight = 0.05, kModeDip = 0.5;
// A combination is worth naming when its variance is at most this fraction of that of every part, both in units of the
// prior's.
constexpr double kSharperThanParts = 0.25;
constexpr double kUnknownPart = 0.3;  // loading an unknown parameter must have, of 1
constexpr size_t kMostCombinations = 3;

std::string list_of(const std::vector<std::string>& names) {
  if (names.size() < 2) return names.empty() ? "" : names[0];
  return fmt::format("{} and {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

const char* plural(size_t n, const char* one, const char* many) {
  return n == 1 ? one : many;
}

double rounded(double x) {
  return std::stod(fmt::format("{:.2g}", x));
}

// Covariance in units in which the prior is white: theta / (width / sqrt(12)).
DenseMatrix prior_scaled_covariance(const Posterior& q) {
  const Box& box = q.box();
  DenseMatrix c = q.covariance();
  for (size_t k = 0; k < c.rows; ++k)
    for (size_t l = 0; l < c.rows; ++l) c(k, l) *= 12 / ((box.hi[k] - box.lo[k]) * (box.hi[l] - box.lo[l]));
  return c;
}

class CombinationFinder {
 public:
  CombinationFinder(const Posterior& q, const std::vector<std::string>& names)
      : q_(q), box_(q.box()), names_(names), mean_(q.mean()), c_(prior_scaled_covariance(q)) {}

  // Eigenvectors of a block of the covariance; the small eigenvalues are what is known. First of the parameters that
  // are not identified themselves, then of all: an unknown parameter may be tied to an identified one.
  std::vector<KnownCombination> find(const std::vector<size_t>& unknown) const {
    std::vector<KnownCombination> found;
    if (unknown.empty()) return found;
    std::vector<size_t> all(q_.dimension());
    std::iota(all.begin(), all.end(), size_t{0});
    search(unknown, unknown, found);
    if (all.size() > unknown.size()) search(all, unknown, found);
    return found;
  }

 private:
  void search(const std::vector<size_t>& members, const std::vector<size_t>& unknown,
              std::vector<KnownCombination>& found) const {
    DenseMatrix block(members.size(), members.size());
    for (size_t i = 0; i < members.size(); ++i)
      for (size_t j = 0; j < members.size(); ++j) block(i, j) = c_(members[i], members[j]);
    const auto [values, vectors] = symmetric_eigen(block);
    for (size_t e = values.size(); e-- > 0 && found.size() < kMostCombinations;) {
      if (values[e] > 1 - kIdentifiedAbove) break;  // in falling order: the rest is larger
      KnownCombination c;
      if (!readable(members, vectors.row(e), c)) continue;
      double largest_unknown = 0;
      for (size_t i = 0; i < c.parameters.size(); ++i) {
        const bool is_unknown = std::find(unknown.begin(), unknown.end(), c.parameters[i]) != unknown.end();
        c.all_parts_unknown = c.all_parts_unknown && is_unknown;
        if (is_unknown) largest_unknown = std::max(largest_unknown, std::abs(c.box_units[i]));
      }
      const bool is_new = members.size() == unknown.size() || !c.all_parts_unknown;
      if (is_new && largest_unknown >= kUnknownPart) found.push_back(std::move(c));
    }
  }

  // The fewest of the largest loadings that still make an identified combination, rounded to two digits in the
  // parameters' own units. What is said of it is computed from the rounded coefficients, so that it is true as printed.
  bool readable(const std::vector<size_t>& unknown, std::span<const double> loading, KnownCombination& out) const {
    std::vector<size_t> order(unknown.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return std::abs(loading[a]) > std::abs(loading[b]); });
    for (size_t parts = 2; parts <= order.size(); ++parts) {
      std::vector<size_t> chosen(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(parts));
      std::sort(chosen.begin(), chosen.end());
      out = {};
      const auto own = [&](size_t i) { return loading[i] / (box_.hi[unknown[i]] - box_.lo[unknown[i]]); };
      double square = 0;
      for (const size_t i : chosen) {
        out.parameters.push_back(unknown[i]);
        out.coefficients.push_back(i == chosen[0] ? 1 : rounded(own(i) / own(chosen[0])));
        out.box_units.push_back(out.coefficients.back() * (box_.hi[unknown[i]] - box_.lo[unknown[i]]));
        square += out.box_units.back() * out.box_units.back();
      }
      for (double& u : out.box_units) u /= std::sqrt(square);
      double variance = 0, sharpest_part = 1e300;
      for (size_t i = 0; i < parts; ++i) {
        for (size_t j = 0; j < parts; ++j)
          variance += out.box_units[i] * out.box_units[j] * c_(out.parameters[i], out.parameters[j]);
        sharpest_part = std::min(sharpest_part, c_(out.parameters[i], out.parameters[i]));
      }
      out.contraction = 1 - variance;
      if (variance > 1 - kIdentifiedAbove || variance > kSharperThanParts * sharpest_part) continue;
      describe(out);
      return true;
    }
    return false;
  }

  void describe(KnownCombination& c) const {
    double variance = 0;
    for (size_t i = 0; i < c.parameters.size(); ++i) {
      const double a = c.coefficients[i];
      c.mean += a * mean_[c.parameters[i]];
      for (size_t j = 0; j < c.parameters.size(); ++j)
        variance += a * c.coefficients[j] * own_covariance(c.parameters[i], c.parameters[j]);
      const std::string number = std::abs(a) == 1 ? "" : fmt::format("{:g} ", std::abs(a));
      c.text += fmt::format("{}{}{}", i == 0 ? "" : a < 0 ? " - " : " + ", number, names_[c.parameters[i]]);
    }
    c.sd = std::sqrt(variance);
  }

  double own_covariance(size_t k, size_t l) const {
    return c_(k, l) * (box_.hi[k] - box_.lo[k]) * (box_.hi[l] - box_.lo[l]) / 12;
  }

  const Posterior& q_;
  const Box& box_;
  const std::vector<std::string>& names_;
  std::vector<double> mean_;
  DenseMatrix c_;  // prior-scaled
};

std::string combination_sentence(const KnownCombination& c) {
  return fmt::format("Known {} in combination: {} = {:.3g} +- {:.2g} (contraction {:.2f}; in units of the box {}).",
                     c.all_parts_unknown ? "only" : "better", c.text, c.mean, c.sd, c.contraction,
                     fmt::join(
                         [&] {
                           std::vector<std::string> parts;
                           for (const double u : c.box_units) parts.push_back(fmt::format("{:.2f}", u));
                           return parts;
                         }(),
                         ", "));
}

// Modes, by the parameters in which they differ by more than a tenth of the box.
std::vector<std::string> mode_sentences(const std::vector<Mode>& modes, const Box& box,
                                        const std::vector<std::string>& names) {
  if (modes.size() < 2) return {"One explanation fits."};
  std::vector<size_t> differing;
  for (size_t k = 0; k < names.size(); ++k) {
    double low = modes[0].theta[k], high = low;
    for (const Mode& mode : modes) low = std::min(low, mode.theta[k]), high = std::max(high, mode.theta[k]);
    if (high - low > 0.1 * (box.hi[k] - box.lo[k])) differing.push_back(k);
  }
  std::vector<std::string> lines = {
      fmt::format("{} explanations fit; the mean may lie between them, where nothing fits.", modes.size())};
  for (const Mode& mode : modes) {
    std::vector<std::string> values;
    for (const size_t k : differing) values.push_back(fmt::format("{} = {:.3g}", names[k], mode.theta[k]));
    lines.push_back(fmt::format("  weight {:.2f}: {}", mode.weight,
                                values.empty() ? "close to the others" : fmt::format("{}", fmt::join(values, ", "))));
  }
  return lines;
}

}  // namespace

std::string PosteriorVerdict::text() const {
  return fmt::format("{}\n", fmt::join(sentences, "\n"));
}

PosteriorVerdict posterior_verdict(const Posterior& q, const std::vector<std::string>& names) {
  const Box& box = q.box();
  PosteriorVerdict verdict;
  const DenseMatrix scaled = prior_scaled_covariance(q);
  std::vector<std::string> identified, narrowed, open;
  std::vector<size_t> unknown;
  for (size_t k = 0; k < q.dimension(); ++k) {
    const double contraction = 1 - scaled(k, k), strip = kEdgeStrip * (box.hi[k] - box.lo[k]);
    const Knowledge knowledge = contraction >= kIdentifiedAbove ? Knowledge::kIdentified
                                : contraction >= kNarrowedAbove ? Knowledge::kNarrowed
                                                                : Knowledge::kOpen;
    const Marginal marginal = q.marginal(k);
    verdict.parameters.push_back(
        {names[k], contraction, knowledge, marginal.cdf(box.lo[k] + strip), marginal.survival(box.hi[k] - strip)});
    (knowledge == Knowledge::kIdentified ? identified
     : knowledge == Knowledge::kNarrowed ? narrowed
                                         : open)
        .push_back(names[k]);
    if (knowledge != Knowledge::kIdentified) unknown.push_back(k);
  }
  verdict.combinations = CombinationFinder(q, names).find(unknown);
  for (const Mode& mode : q.modes({.merge_dip = kModeDip}))
    if (mode.weight >= kModeWeight || verdict.modes.empty()) verdict.modes.push_back(mode);

  auto& say = verdict.sentences;
  if (!identified.empty()) say.push_back(fmt::format("Identified: {}.", list_of(identified)));
  if (!narrowed.empty()) say.push_back(fmt::format("Narrowed down, not pinned: {}.", list_of(narrowed)));
  for (const KnownCombination& c : verdict.combinations) say.push_back(combination_sentence(c));
  if (!open.empty())
    say.push_back(fmt::format("Not identified{}: {} ({} little more than the prior says).",
                              verdict.combinations.empty() ? "" : " by itself", list_of(open),
                              plural(open.size(), "the trajectory says", "about them the trajectory says")));
  for (std::string& line : mode_sentences(verdict.modes, box, names)) say.push_back(std::move(line));
  for (const ParameterVerdict& p : verdict.parameters)
    for (const bool low : {true, false}) {
      const double mass = low ? p.edge_low : p.edge_high;
      if (mass > kEdgeMass)
        say.push_back(
            fmt::format("{} presses against the {} edge of its range ({:.0f} % of the mass within 2 % of it or "
                        "beyond): unless that is a "
                        "natural limit, "
                        "the true value may lie outside what was trained.",
                        p.name, low ? "lower" : "upper", 100 * mass));
    }
  return verdict;
}

}  // namespace penn
