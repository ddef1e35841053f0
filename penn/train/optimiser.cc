#include "penn/train/optimiser.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "penn/base/parallel.h"

namespace penn {
namespace {

// Steps between two looks at the gradient's covariance and between two turns of the basis. At 8 and 50 a training of
// soup ended 0.03 nats higher (docs/notes/recipe.md).
constexpr int64_t kObserveEvery = 4, kRefreshEvery = 20;
constexpr int64_t kLargeSide = 320;  // of a matrix whose basis all threads turn together; smaller ones are shared out
constexpr int64_t kPartRows = 132, kPartColumns = 128, kPartEntries = 1 << 14;

}  // namespace

OptimiserOptions optimiser_for(const TrainOptions& options) {
  OptimiserOptions o{.weight_decay = options.weight_decay, .clip = options.clip, .ema = options.ema};
  if (options.optimiser == "soap") {
    o.rotated = true;
    o.beta1 = o.beta2 = 0.95;
  }
  return o;
}

Optimiser::Optimiser(const std::vector<WeightBlock>& blocks, std::span<const float> weights,
                     const OptimiserOptions& options)
    : options_(options) {
  for (const WeightBlock& block : blocks) {
    const size_t number = matrices_.size();
    matrices_.push_back({block, {}, {}, {}});
    const bool is_rotated = options.rotated && GradientBasis::is_useful(block.shape);
    const int64_t whole = static_cast<int64_t>(is_rotated ? block.shape[0] : block.size()),
                  step = is_rotated ? kPartRows : kPartEntries;
    for (int64_t first = 0; first < whole; first += step) {
      parts_.push_back({number, first, std::min(whole, first + step)});
      if (is_rotated) row_parts_.push_back(parts_.back());
    }
    if (!is_rotated) continue;
    const int64_t columns = static_cast<int64_t>(block.shape[1]);
    for (int64_t first = 0; first < columns; first += kPartColumns)
      column_parts_.push_back({number, first, std::min(columns, first + kPartColumns)});
    matrices_.back().basis.emplace(static_cast<int64_t>(block.shape[0]), static_cast<int64_t>(block.shape[1]));
    matrices_.back().half.resize(block.size());
    matrices_.back().turned.resize(block.size());
  }
  m_.assign(weights.size(), 0);
  v_.assign(weights.size(), 0);
  if (options_.ema > 0) average_.assign(weights.begin(), weights.end());
}

bool Optimiser::step(std::span<float> weights, std::span<const float> gradient, double learning_rate, int threads) {
  std::vector<double> squares(matrices_.size(), 0.0);
  parallel_for(static_cast<int64_t>(matrices_.size()), threads, [&](int64_t k, int) {
    const WeightBlock& block = matrices_[static_cast<size_t>(k)].block;
    const float* g = gradient.data() + block.offset;
    double sums[8] = {};  // side by side: a single chain of additions would wait for itself
    size_t i = 0;
    for (; i + 8 <= block.size(); i += 8)
      for (size_t j = 0; j < 8; ++j) sums[j] += static_cast<double>(g[i + j]) * g[i + j];
    for (; i < block.size(); ++i) sums[0] += static_cast<double>(g[i]) * g[i];
    squares[static_cast<size_t>(k)] = std::accumulate(sums, sums + 8, 0.0);
  });
  const double norm = std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0));
  if (!std::isfinite(norm)) return false;
  ++steps_;
  const float g_scale = static_cast<float>(options_.clip > 0 && norm > options_.clip ? options_.clip / norm : 1);
  // The corrections are those of the betas as rounded: 1 - 0.999f is 1.3e-5 off 0.001, and the means are made with it.
  const float b1 = static_cast<float>(options_.beta1), b2 = static_cast<float>(options_.beta2);
  const double correction1 = 1 - std::pow(static_cast<double>(b1), static_cast<double>(steps_)),
               correction2 = 1 - std::pow(static_cast<double>(b2), static_cast<double>(steps_));
  const float rate = static_cast<float>(learning_rate / correction1),
              root2 = static_cast<float>(1 / std::sqrt(correction2));
  const float epsilon = static_cast<float>(options_.epsilon),
              decay = static_cast<float>(1 - learning_rate * options_.weight_decay);
  // The average starts short and grows to its full memory, so that it forgets the random initial weights.
  const float keep = static_cast<float>(
      std::min(options_.ema, (1.0 + static_cast<double>(steps_)) / (10.0 + static_cast<double>(steps_))));

  // Adam's step of entries [0, n) from offset on: g is read, s written; they may be the same.
  const auto adam = [&](size_t offset, size_t n, const float* g, float* s) {
    float *m = m_.data() + offset, *v = v_.data() + offset;
    for (size_t i = 0; i < n; ++i) {
      const float gi = g[i] * g_scale;
      m[i] = b1 * m[i] + (1 - b1) * gi;
      v[i] = b2 * v[i] + (1 - b2) * gi * gi;
      s[i] = rate * m[i] / (std::sqrt(v[i]) * root2 + epsilon);
    }
  };
  const auto apply = [&](size_t offset, size_t n, const float* s) {
    float* w = weights.data() + offset;
    for (size_t i = 0; i < n; ++i) w[i] = w[i] * decay - s[i];
    if (options_.ema <= 0) return;
    float* a = average_.data() + offset;
    for (size_t i = 0; i < n; ++i) a[i] = keep * a[i] + (1 - keep) * w[i];
  };
  const auto for_parts = [&](const std::vector<Part>& parts, const auto& work) {
    parallel_for(static_cast<int64_t>(parts.size()), threads, [&](int64_t i, int) {
      const Part& part = parts[static_cast<size_t>(i)];
      work(matrices_[part.matrix], part.first, part.last);
    });
  };
  const auto for_bases = [&](const auto& work) {
    parallel_for(static_cast<int64_t>(matrices_.size()), threads, [&](int64_t k, int) {
      if (matrices_[static_cast<size_t>(k)].basis) work(matrices_[static_cast<size_t>(k)]);
    });
  };

  if (steps_ % kObserveEvery == 1)
    for_parts(row_parts_, [&](Matrix& w, int64_t first, int64_t last) {
      w.basis->observe(gradient.data() + w.block.offset, g_scale, first, last);
    });
  if (steps_ == 1) for_bases([&](Matrix& w) { w.basis->set_basis(gradient.data() + w.block.offset); });
  for_parts(column_parts_, [&](Matrix& w, int64_t first, int64_t last) {
    w.basis->rotate_left(gradient.data() + w.block.offset, first, last, w.half.data());
  });
  for_parts(parts_, [&](Matrix& w, int64_t first, int64_t last) {
    if (!w.basis) {
      thread_local std::vector<float> step;
      const size_t n = static_cast<size_t>(last - first), offset = w.block.offset + static_cast<size_t>(first);
      step.resize(std::max(step.size(), n));
      adam(offset, n, gradient.data() + offset, step.data());
      return apply(offset, n, step.data());
    }
    const size_t columns = w.block.shape[1], at = static_cast<size_t>(first) * columns;
    w.basis->rotate_right(w.half.data(), first, last, w.turned.data());
    adam(w.block.offset + at, static_cast<size_t>(last - first) * columns, w.turned.data() + at, w.turned.data() + at);
    w.basis->rotate_right_back(w.turned.data(), first, last, w.half.data());
  });
  for_parts(column_parts_, [&](Matrix& w, int64_t first, int64_t last) {
    w.basis->rotate_left_back(w.half.data(), first, last, w.turned.data());
    for (size_t i = 0, at = static_cast<size_t>(first); i < w.block.shape[0]; ++i, at += w.block.shape[1])
      apply(w.block.offset + at, static_cast<size_t>(last - first), w.turned.data() + at);
  });
  if (steps_ % kRefreshEvery == 0) {
    const auto is_large = [](const Matrix& w) { return std::max(w.basis->rows(), w.basis->columns()) > kLargeSide; };
    const auto refresh = [&](Matrix& w, int on) {
      w.basis->refresh(m_.data() + w.block.offset, v_.data() + w.block.offset, on);
    };
    for (Matrix& w : matrices_)
      if (w.basis && is_large(w)) refresh(w, threads);
    for_bases([&](Matrix& w) {
      if (!is_large(w)) refresh(w, 1);
    });
  }
  return true;
}

double Optimiser::flops_per_step() const {
  double sum = 0;
  for (const Matrix& w : matrices_) {
    if (!w.basis) continue;
    const double m = static_cast<double>(w.basis->rows()), n = static_cast<double>(w.basis->columns());
    sum += 4 * m * n * (m + n);              // four rotations
    sum += m * n * (m + n) / kObserveEvery;  // two upper triangles
    sum += (4 * m * n * (m + n) + (2 + 8.0 / 3) * (m * m * m + n * n * n)) /
           kRefreshEvery;  // rotations, power iterations, QR with its Q
  }
  return sum;
}

Optimiser::State Optimiser::state() const {
  State state = {m_, v_, average_, {}, steps_};
  if (steps_ > 0)
    for (const Matrix& w : matrices_)
      if (w.basis) w.basis->write(state.bases);
  return state;
}

bool Optimiser::set_state(const State& state) {
  size_t size = 0;
  for (const Matrix& w : matrices_)
    if (w.basis && state.steps > 0) size += static_cast<size_t>(w.basis->size());
  if (state.m.size() != m_.size() || state.v.size() != v_.size() || state.average.size() != average_.size() ||
      state.bases.size() != size)
    return false;
  m_ = state.m;
  v_ = state.v;
  average_ = state.average;
  steps_ = state.steps;
  const float* from = state.bases.data();
  for (Matrix& w : matrices_) {
    if (!w.basis) continue;
    if (state.steps > 0) from = w.basis->read(from);
    else
      w.basis.emplace(w.basis->rows(),
                      w.basis->columns());  // as before the first step: it must not remember later ones
  }
  return true;
}

}  // namespace penn
