// Prints test mixtures and the values that penn/posterior gives for them, as JSON: the page's own algebra
// (web/src/posterior_distribution.js) must give the same numbers. 12 parameters, 10 components, in parameter units from
// 1e-2 to 1e2; condition numbers of the covariances up to 1e12; in linear and in probit coordinates.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <vector>

#include "penn/posterior/mixture_json.h"
#include "penn/posterior/posterior.h"

namespace penn {
namespace {

using nlohmann::json;

struct Case {
  double condition;  // of the covariances, apart from units
  const char* kind;  // "linear", "probit"; "mixed": every third parameter in linear coordinates
};
// In probit coordinates a component 1e-6 wide is the limit: theta in doubles says where u is to some 1e-15.
constexpr Case kCases[] = {{1e2, "linear"}, {1e6, "linear"}, {1e12, "linear"},
                           {1e2, "probit"}, {1e8, "probit"}, {1e4, "mixed"}};
constexpr std::uint64_t kSeed = 3;

// Covariance of component j = D Q diag(lambda) Q^T D, with lambda falling from 1 to 1/condition and D the units; its
// factor without ever forming it: rows sqrt(1/lambda_k) q_k^T D^-1, then QR.
GaussianMixture random_mixture(std::size_t n, std::size_t m, double condition, bool with_units, std::uint64_t seed) {
  DrawStream draws(seed);
  std::vector<double> log_weights, means, factors;
  const auto unit = [&](std::size_t c) { return with_units ? std::pow(10.0, static_cast<double>(c % 5) - 2.0) : 1.0; };
  for (std::size_t j = 0; j < n; ++j) {
    log_weights.push_back(-2.0 * draws.uniform());
    DenseMatrix symmetric(m, m);
    for (std::size_t r = 0; r < m; ++r)
      for (std::size_t c = r; c < m; ++c) symmetric(r, c) = symmetric(c, r) = draws.normal();
    const DenseMatrix vectors = symmetric_eigen(symmetric).second;
    const double spread = 0.02 + 0.1 * draws.uniform();
    DenseMatrix rows(m, m);
    for (std::size_t r = 0; r < m; ++r) {
      const double lambda = std::pow(condition, -static_cast<double>(r) / static_cast<double>(m - 1));
      for (std::size_t c = 0; c < m; ++c) rows(r, c) = vectors(r, c) / (spread * std::sqrt(lambda) * unit(c));
    }
    const DenseMatrix u = qr_upper(rows);
    factors.insert(factors.end(), u.data.begin(), u.data.end());
    for (std::size_t c = 0; c < m; ++c) means.push_back((0.5 + 0.15 * draws.normal()) * unit(c));
  }
  return GaussianMixture::from_factors(log_weights, means, factors);
}

Posterior posterior_of(const Case& one) {
  Box box;
  for (std::size_t k = 0; k < 12; ++k)
    box.lo.push_back(static_cast<double>(k) - 3),
        box.hi.push_back(box.lo.back() + std::pow(10.0, static_cast<double>(k % 4) - 1.0));
  Coordinates coordinates;
  for (std::size_t k = 0; k < 12; ++k)
    coordinates.push_back(one.kind[0] == 'p' || (one.kind[0] == 'm' && k % 3 > 0) ? Coordinate::kProbit
                                                                                  : Coordinate::kLinear);
  return {random_mixture(10, 12, one.condition, one.kind[0] == 'l', kSeed), coordinates, box};
}

Posterior marginal_of(const Posterior& q, const std::vector<std::size_t>& indices) {
  Box box;
  Coordinates coordinates;
  for (const std::size_t k : indices)
    box.lo.push_back(q.box().lo[k]), box.hi.push_back(q.box().hi[k]), coordinates.push_back(q.coordinates()[k]);
  return {q.mixture().marginal(indices), coordinates, box};
}

json rows_of(const DenseMatrix& matrix) {
  json rows = json::array();
  for (std::size_t r = 0; r < matrix.rows; ++r)
    rows.push_back(std::vector<double>(matrix.row(r).begin(), matrix.row(r).end()));
  return rows;
}

json values_of(const Posterior& q, DrawStream& draws) {
  const std::size_t m = q.dimension();
  const std::vector<double> sample = q.sample(40, draws);
  json points = json::array(), log_density = json::array(), parts = json::array(), line = json::array();
  for (std::size_t i = 0; i < 40; ++i) {
    const std::span<const double> theta(&sample[i * m], m);
    points.push_back(std::vector<double>(theta.begin(), theta.end()));
    log_density.push_back(q.log_density(theta));
  }
  for (std::size_t i = 0; i < 12;
       ++i) {  // a pair, and a conditional that fixes 1 to M - 2 of the parameters to those of another draw
    const std::span<const double> theta(&sample[i * m], m);
    const std::size_t a = i % m, b = (i * 5 + 3) % m == a ? (a + 1) % m : (i * 5 + 3) % m;
    const std::vector<std::size_t> pair = {a, b};
    std::vector<std::size_t> fixed;
    std::vector<double> values, rest;
    for (std::size_t k = 0; k < m; ++k) {
      if (k != a && k != b && fixed.size() < 1 + i % (m - 2)) fixed.push_back(k), values.push_back(theta[k]);
      else rest.push_back(theta[k]);
    }
    const Posterior conditional = q.conditional(fixed, values);
    const std::vector<double> both = {theta[a], theta[b]};
    parts.push_back({{"theta", std::vector<double>(theta.begin(), theta.end())},
                     {"pair", pair},
                     {"marginal", marginal_of(q, pair).log_density(both)},
                     {"fixed", fixed},
                     {"values", values},
                     {"conditional", conditional.log_density(rest)},
                     {"conditional_mean", conditional.mean()}});
  }
  for (std::size_t k = 0; k < m; ++k) {
    const Marginal distribution = q.marginal(k);
    json quantiles = json::array();
    for (const double p : {0.001, 0.05, 0.25, 0.5, 0.75, 0.95, 0.999})
      quantiles.push_back({p, distribution.quantile(p)});
    line.push_back({{"x", sample[k]},
                    {"log_density", distribution.log_density(sample[k])},
                    {"cdf", distribution.cdf(sample[k])},
                    {"quantiles", quantiles},
                    {"sd", distribution.sd()}});
  }
  json factors = json::array();
  for (std::size_t j = 0; j < q.components(); ++j) {
    DenseMatrix u(m, m);
    std::copy(q.mixture().factor(j), q.mixture().factor(j) + m * m, u.data.begin());
    factors.push_back(rows_of(u));
  }
  std::vector<std::string> names;
  for (std::size_t k = 0; k < m; ++k) names.push_back("p" + std::string(1, static_cast<char>('a' + k)));
  json result = mixture_to_json(q.mixture(), names);
  result.update({{"coordinates", coordinate_names(q.coordinates())},
                 {"box", {{"low", q.box().lo}, {"high", q.box().hi}}},
                 {"factors", factors},
                 {"points", points},
                 {"log_density", log_density},
                 {"parts", parts},
                 {"line", line},
                 {"mean", q.mean()},
                 {"correlation", rows_of(q.correlation())}});
  return result;
}

// The question of the browser test: {"case", "fixed", "values", "pair", "points"} on standard input; the answer is the
// log density of the pair given the fixed values, at every point.
int answer() {
  const json question = json::parse(std::cin);
  const Posterior q = posterior_of(kCases[question.at("case").get<std::size_t>()]);
  const auto fixed = question.at("fixed").get<std::vector<std::size_t>>(),
             pair = question.at("pair").get<std::vector<std::size_t>>();
  std::vector<std::size_t> places;  // of the pair among the parameters that stay free
  for (const std::size_t k : pair)
    places.push_back(
        k - static_cast<std::size_t>(std::count_if(fixed.begin(), fixed.end(), [k](std::size_t f) { return f < k; })));
  const Posterior distribution =
      marginal_of(fixed.empty() ? q : q.conditional(fixed, question.at("values").get<std::vector<double>>()), places);
  json values = json::array();
  for (const json& point : question.at("points"))
    values.push_back(distribution.log_density(point.get<std::vector<double>>()));
  std::printf("%s\n", values.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace penn

int main(int count, char**) {
  if (count > 1) return penn::answer();
  nlohmann::json cases = nlohmann::json::array();
  penn::DrawStream draws(7);
  for (const penn::Case& one : penn::kCases) {
    nlohmann::json entry = penn::values_of(penn::posterior_of(one), draws);
    entry["condition"] = one.condition;
    entry["kind"] = one.kind;
    cases.push_back(entry);
  }
  std::printf("%s\n", cases.dump().c_str());
  return 0;
}
