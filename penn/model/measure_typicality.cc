#include "penn/model/measure_typicality.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "penn/base/half.h"
#include "penn/base/parallel.h"
#include "penn/data/dither.h"
#include "penn/network/decomposition.h"

namespace penn {
namespace {

constexpr size_t kDirections = 32;

std::vector<float> embeddings(const Network& network, const std::vector<TrajectoryBatch>& sets, int threads) {
  std::vector<float> all;
  for (const TrajectoryBatch& set : sets) {
    const size_t begin = all.size();
    all.resize(begin + static_cast<size_t>(set.count * network.embedding_size()));
    network.embed(set.z.data(), set.count, set.length, set.sampling.data(), all.data() + begin, threads);
  }
  return all;
}

// Quantiles 0, 1/1000, ..., 1, linear between the values.
std::vector<float> thousandths(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  std::vector<float> result;
  for (int i = 0; i <= 1000; ++i) {
    const double at = i / 1000.0 * static_cast<double>(values.size() - 1);
    const size_t below = std::min(static_cast<size_t>(at), values.size() - 1),
                 above = std::min(below + 1, values.size() - 1);
    result.push_back(
        static_cast<float>(values[below] + (at - static_cast<double>(below)) * (values[above] - values[below])));
  }
  return result;
}

}  // namespace

Typicality measure_typicality(const Network& network, const std::vector<TrajectoryBatch>& fitted,
                              const std::vector<TrajectoryBatch>& fresh, int threads) {
  const std::vector<float> x = embeddings(network, fitted, threads);
  const size_t E = static_cast<size_t>(network.embedding_size()), count = x.size() / E, k = std::min(E, kDirections);
  std::vector<double> mean(E, 0.0), covariance(E * E, 0.0), vectors(E * E), values;
  for (size_t i = 0; i < x.size(); ++i) mean[i % E] += x[i] / static_cast<double>(count);
  // Rows in blocks, so that a block of the covariance stays in cache while many trajectories are added.
  constexpr size_t kRows = 16;
  parallel_for(static_cast<int64_t>((E + kRows - 1) / kRows), threads, [&](int64_t block, int) {
    const size_t first = static_cast<size_t>(block) * kRows, last = std::min(E, first + kRows);
    std::vector<double> centred(E);
    for (size_t t = 0; t < count; ++t) {
      for (size_t j = 0; j < E; ++j) centred[j] = x[t * E + j] - mean[j];
      for (size_t i = first; i < last; ++i)
        for (size_t j = 0; j < E; ++j) covariance[i * E + j] += centred[i] * centred[j];
    }
  });
  for (double& c : covariance) c /= static_cast<double>(count - 1);
  eigenvectors(covariance.data(), static_cast<int64_t>(E), vectors.data(), values);
  Typicality typicality;
  typicality.mean.assign(mean.begin(), mean.end());
  for (size_t d = 0; d < k; ++d)
    for (size_t i = 0; i < E; ++i)
      typicality.directions.push_back(
          widen(narrow(static_cast<float>(vectors[i * E + d]))));  // as the file will have them
  // A direction that hardly varies would make every small difference look unusual.
  const double floor = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(E) * 1e-6 + 1e-12;
  for (size_t d = 0; d < k; ++d) typicality.spread.push_back(static_cast<float>(std::sqrt(std::max(values[d], floor))));

  const std::vector<float> y = embeddings(network, fresh, threads);
  std::vector<double> inside(y.size() / E), outside(inside.size());
  for (size_t i = 0; i < inside.size(); ++i) typicality.distances(y.data() + i * E, inside[i], outside[i]);
  typicality.inside = thousandths(std::move(inside));
  typicality.outside = thousandths(std::move(outside));
  return typicality;
}

std::vector<bool> find_quantised_channels(const std::vector<TrajectoryBatch>& sets) {
  const int64_t d = sets.front().channels;
  std::vector<bool> quantised;
  for (int64_t c = 0; c < d; ++c) {
    int64_t rounded = 0, looked_at = 0;
    for (const TrajectoryBatch& set : sets)
      for (int64_t i = 0; i < std::min<int64_t>(set.count, 50); ++i, ++looked_at)
        rounded += find_quantisation(set.z.data() + i * set.length * d + c, set.length, d).step > 0;
    quantised.push_back(2 * rounded > looked_at);
  }
  return quantised;
}

void measure_values(const std::vector<TrajectoryBatch>& sets, std::vector<float>& low, std::vector<float>& high) {
  const int64_t d = sets.front().channels;
  low.clear();
  high.clear();
  for (int64_t c = 0; c < d; ++c) {
    std::vector<float> values;
    for (const TrajectoryBatch& set : sets)
      for (size_t i = static_cast<size_t>(c); i < set.z.size(); i += static_cast<size_t>(d)) values.push_back(set.z[i]);
    const auto point = [&](double q) {
      const auto at = values.begin() + static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1));
      std::nth_element(values.begin(), at, values.end());
      return *at;
    };
    low.push_back(point(0.001));
    high.push_back(point(0.999));
  }
}

}  // namespace penn
