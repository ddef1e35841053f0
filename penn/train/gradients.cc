#include "penn/train/gradients.h"

#include <algorithm>

#include "penn/base/parallel.h"
#include "penn/network/mixture_output.h"
#include "penn/network/tile_sizes.h"

namespace penn {
namespace {

// Trajectories that go through the decoder together: the more, the less often its weights are brought into the order
// the products need.
int64_t tile_rows(int64_t B, int threads) {
  return std::clamp<int64_t>(round_up((B + threads - 1) / threads, 48), 48, 192);
}
constexpr int64_t kGradientColumns = 128;  // of a weight matrix, in one task

}  // namespace

BatchLoss Gradients::compute(const Network& network, std::span<const TrajectoryBatch> chunks,
                             std::span<const float> theta, const LossTerms& terms, int threads) {
  int64_t B = 0;
  for (const TrajectoryBatch& chunk : chunks) B += chunk.count;
  const size_t E = static_cast<size_t>(network.embedding_size()), K = static_cast<size_t>(network.output_size()),
               rows = static_cast<size_t>(B);
  if (rows_ != B || gradient_.size() != network.weights().size()) {
    decoded_ = network.decoder().make_state(B, true);
    rows_ = B;
  }
  embedding_.resize(rows * E);
  raw_.resize(rows * K);
  draw_.resize(rows * K);
  gradient_.resize(network.weights().size());
  log_q_.resize(rows);
  bad_.resize(rows);
  weights_.resize(rows * static_cast<size_t>(network.options().mixture.components));
  encoded_.resize(chunks.size());
  int64_t first = 0;
  for (size_t i = 0; i < chunks.size(); first += chunks[i].count, ++i)
    network.embed(chunks[i].z.data(), chunks[i].count, chunks[i].length, chunks[i].sampling.data(),
                  embedding_.data() + first * network.embedding_size(), encoded_[i], threads,
                  chunks[i].features.empty() ? nullptr : chunks[i].features.data());

  BatchLoss loss = forward(network, theta, terms.auxiliary, B, threads);
  if (loss.good == 0) return loss;
  const float scale = -1.0f / static_cast<float>(loss.good);
  for (float& g : draw_) g *= scale;
  if (terms.load_balancing > 0) add_load_balancing(network.options().mixture, terms.load_balancing, B);
  backward(network, B, threads);
  if (!network.has_trained_encoder()) return loss;
  first = 0;
  for (size_t i = 0; i < chunks.size(); first += chunks[i].count, ++i)
    network.embed_backward(dembedding_.data() + first * network.embedding_size(), encoded_[i], gradient_.data(),
                           threads);
  return loss;
}

BatchLoss Gradients::forward(const Network& network, std::span<const float> theta, double auxiliary, int64_t B,
                             int threads) {
  const int64_t rows = tile_rows(B, threads);
  parallel_for((B + rows - 1) / rows, threads, [&](int64_t tile, int) {
    const int64_t first = tile * rows, last = std::min(B, first + rows);
    network.decoder().forward(network.weights().data(), embedding_.data(), first, last, decoded_, raw_.data());
    mixture_rows(network.options().mixture, first, last, raw_.data(), theta.data(), auxiliary, log_q_.data(),
                 bad_.data(), weights_.data(), draw_.data());
  });
  BatchLoss loss;
  for (size_t b = 0; b < static_cast<size_t>(B); ++b) {
    loss.bad += bad_[b];
    loss.nll -= log_q_[b];
  }
  loss.good = B - loss.bad;
  if (loss.good > 0) loss.nll /= static_cast<double>(loss.good);
  return loss;
}

// With S_j the sum of weight_j over the batch: d/d logit_bi of -(1/N) sum_j ln S_j = -(1/N) (w_bi / S_i - w_bi sum_j
// w_bj / S_j).
void Gradients::add_load_balancing(const MixtureShape& shape, double load_balancing, int64_t B) {
  const size_t N = static_cast<size_t>(shape.components), K = static_cast<size_t>(shape.size());
  std::vector<double> inverse(N, 0.0);
  for (size_t i = 0; i < weights_.size(); ++i) inverse[i % N] += weights_[i];
  for (double& s : inverse) s = s > 0 ? 1 / s : 0;
  for (size_t b = 0; b < static_cast<size_t>(B); ++b) {
    const double* w = &weights_[b * N];
    double sum = 0;
    for (size_t j = 0; j < N; ++j) sum += w[j] * inverse[j];
    for (size_t j = 0; j < N; ++j)
      draw_[b * K + j] -= static_cast<float>(load_balancing / static_cast<double>(N) * w[j] * (inverse[j] - sum));
  }
}

void Gradients::backward(const Network& network, int64_t B, int threads) {
  if (network.has_trained_encoder()) {
    dembedding_.resize(embedding_.size());
    std::fill(gradient_.begin(), gradient_.end(), 0.0f);  // chunks add to the encoder's
  }
  float* dembedding = network.has_trained_encoder() ? dembedding_.data() : nullptr;
  const int64_t rows = tile_rows(B, threads);
  parallel_for((B + rows - 1) / rows, threads, [&](int64_t tile, int) {
    const int64_t first = tile * rows, last = std::min(B, first + rows);
    network.decoder().backward(network.weights().data(), draw_.data(), first, last, decoded_, dembedding);
  });
  struct Task {
    size_t term;
    int64_t first, last;
  };
  const std::vector<Decoder::GradientTerm> terms =
      network.decoder().gradient_terms(decoded_, embedding_.data(), draw_.data());
  std::vector<Task> tasks;
  for (size_t i = 0; i < terms.size(); ++i)
    for (int64_t first = 0; first < terms[i].layer->inputs; first += kGradientColumns)
      tasks.push_back({i, first, std::min(terms[i].layer->inputs, first + kGradientColumns)});
  parallel_for(static_cast<int64_t>(tasks.size()), threads, [&](int64_t i, int) {
    const Task& task = tasks[static_cast<size_t>(i)];
    dense_gradient(terms[task.term], B, kShardRows, task.first, task.last, gradient_.data());
  });
}

}  // namespace penn
