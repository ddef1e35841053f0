// See mixture_reduce.h. Covariances are carried as factors T, S = T T^T: the merged factor is the RQ of the columns
//   [ sqrt(a_i) T_i, sqrt(a_j) T_j, sqrt(a_i a_j) (mu_i - mu_j) ],   a = weights within the pair.
#include "penn/posterior/mixture_reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "penn/base/error.h"

namespace penn {

namespace {

struct Part {
  double weight;
  std::vector<double> mean;
  DenseMatrix t;           // covariance T T^T
  DenseMatrix covariance;  // the same, multiplied out
  double log_determinant;  // ln |S| / 2 = sum ln t_kk
};

double sum_log_diagonal(const DenseMatrix& t) {
  double sum = 0.0;
  for (std::size_t k = 0; k < t.rows; ++k) sum += std::log(t(k, k));
  return sum;
}

Part merged(const Part& a, const Part& b) {
  const std::size_t m = a.mean.size();
  const double weight = a.weight + b.weight;
  const double share_a = a.weight / weight, share_b = b.weight / weight;
  const double root_a = std::sqrt(share_a), root_b = std::sqrt(share_b);
  Part result{weight, std::vector<double>(m), {}, {}, 0.0};
  DenseMatrix columns(m, 2 * m + 1);
  for (std::size_t r = 0; r < m; ++r) {
    result.mean[r] = share_a * a.mean[r] + share_b * b.mean[r];
    for (std::size_t c = 0; c < m; ++c) {
      columns(r, c) = root_a * a.t(r, c);
      columns(r, m + c) = root_b * b.t(r, c);
    }
    columns(r, 2 * m) = root_a * root_b * (a.mean[r] - b.mean[r]);
  }
  result.t = rq_upper(columns);
  result.covariance = outer_gram(result.t);
  result.log_determinant = sum_log_diagonal(result.t);
  return result;
}

// ln |S_ab| / 2 of the merged pair by Cholesky of its covariance, which is several times quicker than the QR of
// merged(). False when a pivot has lost more than half its digits; the caller then takes the QR.
bool quick_log_determinant(const Part& a, const Part& b, std::vector<double>& work, double* result) {
  const std::size_t m = a.mean.size();
  const double share_a = a.weight / (a.weight + b.weight), share_b = 1.0 - share_a;
  work.resize(m * m);
  *result = 0.0;
  for (std::size_t r = 0; r < m; ++r) {
    const double offset = share_a * share_b * (a.mean[r] - b.mean[r]);
    for (std::size_t c = 0; c <= r; ++c) {
      double sum = share_a * a.covariance(r, c) + share_b * b.covariance(r, c) + offset * (a.mean[c] - b.mean[c]);
      const double whole = sum;
      for (std::size_t k = 0; k < c; ++k) sum -= work[r * m + k] * work[c * m + k];
      if (c < r) {
        work[r * m + c] = sum / work[c * m + c];
      } else {
        if (!(sum > 1e-8 * whole)) return false;
        work[r * m + r] = std::sqrt(sum);
        *result += 0.5 * std::log(sum);
      }
    }
  }
  return true;
}

double merge_cost(const Part& a, const Part& b, std::vector<double>& work) {
  double log_determinant = 0.0;
  if (!quick_log_determinant(a, b, work, &log_determinant)) log_determinant = merged(a, b).log_determinant;
  return std::max(
      0.0, (a.weight + b.weight) * log_determinant - a.weight * a.log_determinant - b.weight * b.log_determinant);
}

}  // namespace

ReducedMixture reduce_mixture(const GaussianMixture& q, std::size_t max_components, double drop_below) {
  if (max_components == 0) throw Error("a mixture needs at least one component");
  const std::size_t m = q.dimension();
  std::size_t heaviest = 0;
  for (std::size_t j = 1; j < q.components(); ++j)
    if (q.log_weight(j) > q.log_weight(heaviest)) heaviest = j;

  double dropped = 0.0;
  std::vector<Part> parts;
  for (std::size_t j = 0; j < q.components(); ++j) {
    if (q.weight(j) <= drop_below && j != heaviest) {
      dropped += q.weight(j);
      continue;
    }
    const auto mean = q.component_mean(j);
    DenseMatrix t = inverse_upper(q.factor(j), m);
    DenseMatrix covariance = outer_gram(t);
    parts.push_back(
        {q.weight(j), {mean.begin(), mean.end()}, std::move(t), std::move(covariance), -q.log_determinant(j)});
  }

  double bound = 0.0;
  std::vector<double> work;
  std::size_t merges = 0;
  if (parts.size() > max_components) {
    std::vector<std::vector<double>> cost(parts.size(), std::vector<double>(parts.size()));
    for (std::size_t a = 0; a < parts.size(); ++a)
      for (std::size_t b = a + 1; b < parts.size(); ++b) cost[a][b] = merge_cost(parts[a], parts[b], work);
    while (parts.size() > max_components) {
      std::size_t first = 0, second = 1;
      for (std::size_t a = 0; a < parts.size(); ++a)
        for (std::size_t b = a + 1; b < parts.size(); ++b)
          if (cost[a][b] < cost[first][second]) first = a, second = b;
      bound += cost[first][second];
      ++merges;
      parts[first] = merged(parts[first], parts[second]);
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(second));
      cost.erase(cost.begin() + static_cast<std::ptrdiff_t>(second));
      for (auto& row : cost) row.erase(row.begin() + static_cast<std::ptrdiff_t>(second));
      for (std::size_t k = 0; k < parts.size(); ++k)
        if (k != first) cost[std::min(k, first)][std::max(k, first)] = merge_cost(parts[k], parts[first], work);
    }
  }

  std::vector<double> log_weights, means, factors;
  for (const Part& part : parts) {
    log_weights.push_back(std::log(part.weight));
    means.insert(means.end(), part.mean.begin(), part.mean.end());
    const DenseMatrix u = inverse_upper(part.t.data.data(), m);
    factors.insert(factors.end(), u.data.begin(), u.data.end());
  }
  return {GaussianMixture::from_factors(std::move(log_weights), std::move(means), std::move(factors)), dropped, bound,
          merges};
}

}  // namespace penn
