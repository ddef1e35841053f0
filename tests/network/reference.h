// The network once more, in doubles and plain loops: what the fast code is compared with. No code is shared but the
// list of weights.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "penn/network/network_options.h"
#include "penn/network/weights.h"
#include "penn/posterior/draw_stream.h"

namespace penn::reference {

inline std::vector<float> random_floats(size_t count, uint64_t seed, double scale = 1) {
  DrawStream draws(seed);
  std::vector<float> values(count);
  for (float& v : values) v = static_cast<float>(scale * draws.normal());
  return values;
}

inline const WeightBlock* find(const std::vector<WeightBlock>& blocks, const std::string& name) {
  for (const WeightBlock& block : blocks)
    if (block.name == name) return &block;
  return nullptr;
}

// ---- decoder ----

using Row = std::vector<double>;

inline Row dense(const std::vector<WeightBlock>& blocks, const std::vector<double>& weights, const std::string& name,
                 const Row& x) {
  const WeightBlock &w = *find(blocks, name + ".weight"), &b = *find(blocks, name + ".bias");
  Row y(w.shape[0]);
  for (size_t i = 0; i < y.size(); ++i) {
    y[i] = weights[b.offset + i];
    for (size_t k = 0; k < x.size(); ++k) y[i] += weights[w.offset + i * x.size() + k] * x[k];
  }
  return y;
}

inline Row decode(const std::vector<WeightBlock>& blocks, const std::vector<double>& weights, const Row& embedding) {
  Row u = find(blocks, "decoder.input_projection.weight")
              ? dense(blocks, weights, "decoder.input_projection", embedding)
              : embedding;
  for (int k = 1; find(blocks, "decoder.block" + std::to_string(k) + ".l1.weight"); ++k) {
    const std::string name = "decoder.block" + std::to_string(k) + ".";
    Row v = u;
    for (const char* layer : {"l1", "l2", "l3"}) {
      v = dense(blocks, weights, name + layer, v);
      for (double& x : v) x = x > 0 ? x : std::expm1(x);
    }
    const Row skip = find(blocks, name + "skip.weight") ? dense(blocks, weights, name + "skip", u) : u;
    for (size_t i = 0; i < v.size(); ++i) v[i] += skip[i];
    u = v;
  }
  return dense(blocks, weights, "decoder.last", u);
}

// ---- mixture ----

inline double determinant(std::vector<double> a, int n) {  // by elimination; a is positive definite
  double product = 1;
  for (int k = 0; k < n; ++k) {
    product *= a[k * n + k];
    for (int i = k + 1; i < n; ++i)
      for (int l = n - 1; l >= k; --l) a[i * n + l] -= a[i * n + k] / a[k * n + k] * a[k * n + l];
  }
  return product;
}

struct Mixture {
  std::vector<double> weights;                      // (N)
  std::vector<std::vector<double>> means, factors;  // (N) of (M) and of U (M, M)
  std::vector<std::vector<double>> precisions;      // (N) of (M, M)
};

// The definition in penn/network/mixture_output.h, word for word.
inline Mixture mixture(const MixtureShape& s, const Row& raw) {
  const int M = s.parameters, N = s.components;
  const bool direct = s.parameterisation == "direct";
  Mixture m;
  double sum = 0;
  for (int j = 0; j < N; ++j) sum += std::exp(raw[static_cast<size_t>(j)]);
  size_t coupling = static_cast<size_t>(N + 2 * N * M);
  for (int j = 0; j < N; ++j) {
    m.weights.push_back(std::exp(raw[static_cast<size_t>(j)]) / sum);
    std::vector<double> mean(M), u(static_cast<size_t>(M) * M, 0.0), p(u.size(), 0.0);
    for (int k = 0; k < M; ++k) {
      const double scale = raw[static_cast<size_t>(N + N * M + j * M + k)];
      u[k * M + k] = direct ? std::log1p(std::exp(scale)) : 0.3 + std::exp(std::min(scale, 12.0));
      mean[k] = raw[static_cast<size_t>(N + j * M + k)];
      if (!direct && j > 0) mean[k] = m.means[0][k] + mean[k] / u[k * M + k];
    }
    if (s.full)
      for (int k = 0; k < M; ++k)
        for (int l = k + 1; l < M; ++l) u[k * M + l] = raw[coupling++] * (direct ? 1 : u[l * M + l]);
    for (int a = 0; a < M; ++a)
      for (int b = 0; b < M; ++b)
        for (int k = 0; k < M; ++k) p[a * M + b] += u[k * M + a] * u[k * M + b];
    if (!s.precision_floor.empty())
      for (int a = 0; a < M; ++a) p[a * M + a] += s.precision_floor[static_cast<size_t>(a)];
    m.means.push_back(mean);
    m.factors.push_back(u);
    m.precisions.push_back(p);
  }
  return m;
}

// N(theta; component j), with the precision matrix: no triangular factor, no logarithm.
inline double component_density(const Mixture& m, size_t j, const double* theta) {
  const int M = static_cast<int>(m.means[j].size());
  const std::vector<double>& p = m.precisions[j];
  double quadratic = 0;
  for (int a = 0; a < M; ++a)
    for (int b = 0; b < M; ++b) quadratic += (theta[a] - m.means[j][a]) * p[a * M + b] * (theta[b] - m.means[j][b]);
  return std::sqrt(determinant(p, M)) * std::pow(2 * M_PI, -0.5 * M) * std::exp(-0.5 * quadratic);
}

inline double log_density(const MixtureShape& s, const Row& raw, const double* theta) {
  const Mixture m = mixture(s, raw);
  double sum = 0;
  for (size_t j = 0; j < m.weights.size(); ++j) sum += m.weights[j] * component_density(m, j, theta);
  return std::log(sum);
}

// sum_j ln q_j(theta) / N
inline double mean_component_log_density(const MixtureShape& s, const Row& raw, const double* theta) {
  const Mixture m = mixture(s, raw);
  double sum = 0;
  for (size_t j = 0; j < m.weights.size(); ++j) sum += std::log(component_density(m, j, theta));
  return sum / static_cast<double>(m.weights.size());
}

inline Row as_doubles(const float* x, size_t n) {
  return Row(x, x + n);
}

}  // namespace penn::reference
