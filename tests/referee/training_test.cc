// Whole training steps against LibTorch: its autograd for the gradient, and Adam and SOAP written down here from their
// definitions, all in doubles. Ours runs in float32. Three things can keep the weights from being as equal as the
// arithmetic is exact without a difference of definitions (inferred from what is left when each is taken out; the third
// was not isolated):
//
// - SOAP's basis. Eigenvectors of nearly equal eigenvalues, and all those of eigenvalues below 1e-7 of the largest, are
// any vectors of their space. A basis of
//   ours is therefore checked by what defines it (orthonormal; the mean diagonal in it, largest first; triangular
//   factors of what it came from), which every stable algorithm fulfils to rounding, and then taken over: from the same
//   basis both sides go on.
// - Adam divides every entry of a gradient by its usual size. Entries far below the largest (in SOAP's basis: most of
// them) are rounding errors in part, and get
//   steps of full length. Differences of weights are therefore measured by Adam's own yardstick, the root of its second
//   moments: by how much they change the loss. A rounding error e of an entry of the usual size u moves the weight by e
//   / u and counts as e. (By the plain length SOAP differs by up to 4 % of the way.)
// - The next gradient sees those steps. Each run is made twice: on its own, and with our weights taken over after every
// step, so that one step's rounding is all there is.
//
// In the first step the usual size is that of the first gradient itself: where this is zero but for rounding (off the
// diagonal in SOAP's basis) the step is all noise, which does count later. The rate of the first step is 0 here (a
// training's has 1 % of the rate); a test of its own looks at it.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <span>

#include "network/reference.h"
#include "penn/base/random.h"
#include "penn/network/mixture_output.h"
#include "penn/system/load_system.h"
#include "penn/train/gradients.h"
#include "penn/train/network_coordinates.h"
#include "penn/train/optimiser.h"
#include "penn/train/train_options.h"
#include "referee/torch_network.h"

namespace penn::referee {
namespace {

using reference::random_floats;

double largest(const Tensor& a) {
  return a.abs().max().item<double>();
}
double size_of(const Tensor& a) {
  return a.norm().item<double>();
}

std::vector<Tensor> tensors_of(const std::vector<WeightBlock>& blocks, std::span<const float> values) {
  std::vector<Tensor> list;
  for (const WeightBlock& block : blocks)
    list.push_back(
        tensor_of(values.data() + block.offset, std::vector<int64_t>(block.shape.begin(), block.shape.end())).clone());
  return list;
}

// Running means of G G^T and G^T G, and the bases made from them. SOAP (Vyas et al. 2024) with the choices of
// gradient_basis.h.
struct TorchBasis {
  Tensor left, right, q_left, q_right;

  // What the errors of ours are, relative to the largest entry: of orthonormality, of what has to vanish, of the order.
  struct Errors {
    double orthonormal = 0, vanishing = 0, order = 0;
    void add(const Errors& o) {
      orthonormal = std::max(orthonormal, o.orthonormal), vanishing = std::max(vanishing, o.vanishing),
      order = std::max(order, o.order);
    }
    void add_orthonormal(const Tensor& q) {
      orthonormal = std::max(orthonormal, largest(q.t().matmul(q) - torch::eye(q.size(0), torch::kDouble)));
    }
    void add_vanishing(const Tensor& zero, const Tensor& scale) {
      vanishing = std::max(vanishing, largest(zero) / largest(scale));
    }
  };

  Tensor into(const Tensor& g) const { return q_left.t().matmul(g).matmul(q_right); }
  Tensor out_of(const Tensor& x) const { return q_left.matmul(x).matmul(q_right.t()); }

  void observe(const Tensor& g) {
    if (!left.defined())
      left = torch::zeros({g.size(0), g.size(0)}, torch::kDouble),
      right = torch::zeros({g.size(1), g.size(1)}, torch::kDouble);
    left = 0.95 * left + 0.05 * g.matmul(g.t());
    right = 0.95 * right + 0.05 * g.t().matmul(g);
  }

  // The smaller side: eigenvectors of its mean. The larger: Q of the QR decomposition of G's image of them beside
  // random columns.
  Errors take_first(const Tensor& g, const TorchBasis& ours) {
    Errors errors;
    q_left = ours.q_left;
    q_right = ours.q_right;
    errors.add_orthonormal(q_left);
    errors.add_orthonormal(q_right);
    const bool small_left = g.size(0) <= g.size(1);
    const Tensor small = small_left ? q_left : q_right, large = small_left ? q_right : q_left;
    const Tensor d = small.t().matmul(small_left ? left : right).matmul(small), values = d.diagonal();
    errors.add_vanishing(d - torch::diag(values), d);
    const int64_t n = d.size(0), N = large.size(0);
    errors.order = std::max(0.0, (values.slice(0, 1) - values.slice(0, 0, n - 1)).max().item<double>()) / largest(d);
    const Tensor reached = large.t().matmul((small_left ? g.t() : g).matmul(small));
    errors.add_vanishing(reached.tril(-1), reached);
    if (N > n) {
      const Tensor random = torch::empty({N, N}, torch::kDouble);  // the numbers of gradient_basis.cc
      const RandomKey key{0, static_cast<uint64_t>(N)};
      for (int64_t i = 0; i < N * N; ++i)
        random.data_ptr<double>()[i] = static_cast<float>(key.uniform(0, static_cast<uint32_t>(i)) - 0.5);
      const Tensor r = large.t().matmul(random.slice(1, n));
      errors.add_vanishing(r.tril(-n - 1), r);
    }
    return errors;
  }

  // One power iteration: Q of the QR decomposition of mean * Q, columns sorted by their eigenvalues; Adam's means go
  // along.
  Errors take_next(const TorchBasis& ours, Tensor& m, Tensor& v) {
    Errors errors;
    const Tensor in_weights = out_of(m);
    const auto turn = [&](const Tensor& mean, const Tensor& next, Tensor& q) {
      const Tensor product = mean.matmul(q), order = std::get<1>((q * product).sum(0).sort(0, /*descending=*/true)),
                   r = next.t().matmul(product.index_select(1, order));
      errors.add_orthonormal(next);
      errors.add_vanishing(r.tril(-1), r);
      q = next;
      return order;
    };
    const Tensor rows = turn(left, ours.q_left, q_left), columns = turn(right, ours.q_right, q_right);
    m = into(in_weights);
    v = v.index_select(0, rows).index_select(1, columns);
    return errors;
  }
};

class TorchOptimiser {
 public:
  TorchOptimiser(std::vector<Tensor> weights, const OptimiserOptions& options)
      : weights_(std::move(weights)), o_(options) {
    for (const Tensor& w : weights_) {
      m_.push_back(torch::zeros_like(w).detach());
      v_.push_back(m_.back().clone());
      average_.push_back(w.detach().clone());
      bases_.emplace_back();
      if (o_.rotated && w.dim() == 2 && std::min(w.size(0), w.size(1)) >= 9) bases_.back().emplace();
    }
    start_ = average_;
  }

  // ours: the state of our optimiser after the same step.
  void step(const std::vector<Tensor>& gradients, double rate, const Optimiser::State& ours) {
    torch::NoGradGuard no_grad;
    ++steps_;
    double square = 0;
    for (const Tensor& g : gradients) square += g.square().sum().item<double>();
    const double scale = o_.clip > 0 && std::sqrt(square) > o_.clip ? o_.clip / std::sqrt(square) : 1;
    const double t = static_cast<double>(steps_), keep = std::min(o_.ema, (1 + t) / (10 + t));
    const std::vector<std::optional<TorchBasis>> theirs = bases_of(ours);
    for (size_t k = 0; k < weights_.size(); ++k) {
      Tensor g = gradients[k] * scale, w = weights_[k];
      std::optional<TorchBasis>& b = bases_[k];
      if (b) {
        if (steps_ % 4 == 1) b->observe(g);
        if (steps_ == 1) errors_.add(b->take_first(g, *theirs[k]));
        g = b->into(g);
      }
      m_[k] = o_.beta1 * m_[k] + (1 - o_.beta1) * g;
      v_[k] = o_.beta2 * v_[k] + (1 - o_.beta2) * g.square();
      Tensor s =
          rate * (m_[k] / (1 - std::pow(o_.beta1, t))) / ((v_[k] / (1 - std::pow(o_.beta2, t))).sqrt() + o_.epsilon);
      if (b) s = b->out_of(s);
      w.mul_(1 - rate * o_.weight_decay).sub_(s);
      average_[k] = keep * average_[k] + (1 - keep) * w;
      if (b && steps_ % 20 == 0) errors_.add(b->take_next(*theirs[k], m_[k], v_[k]));
    }
  }

  // The difference over the way of the weights from the start, both by Adam's yardstick, of the matrix where it is
  // largest.
  double difference_of_weights(const std::vector<Tensor>& ours) const { return difference(ours, weights_); }
  double difference_of_averages(const std::vector<Tensor>& ours) const { return difference(ours, average_); }
  // The way begins again.
  void take_weights(const std::vector<Tensor>& weights, const std::vector<Tensor>& average) {
    torch::NoGradGuard no_grad;
    for (size_t k = 0; k < weights_.size(); ++k) weights_[k].copy_(weights[k]);
    start_ = weights;
    average_ = average;
  }
  const TorchBasis::Errors& errors_of_bases() const { return errors_; }

 private:
  std::vector<std::optional<TorchBasis>> bases_of(const Optimiser::State& ours) const {
    std::vector<std::optional<TorchBasis>> list(weights_.size());
    const float* from = ours.bases.data();
    const auto next = [&](int64_t n) { return from += n * n, tensor_of(from - n * n, {n, n}).clone(); };
    for (size_t k = 0; k < weights_.size(); ++k) {
      if (!bases_[k]) continue;
      const int64_t m = weights_[k].size(0), n = weights_[k].size(1);
      TorchBasis& b = list[k].emplace();
      b.left = next(m), b.right = next(n), b.q_left = next(m), b.q_right = next(n);
    }
    EXPECT_EQ(from, ours.bases.data() + ours.bases.size());
    return list;
  }
  double difference(const std::vector<Tensor>& ours, const std::vector<Tensor>& theirs) const {
    double worst = 0;
    for (size_t k = 0; k < weights_.size(); ++k) {
      const auto by_yardstick = [&](const Tensor& a) {
        return size_of(v_[k].sqrt() * (bases_[k] ? bases_[k]->into(a) : a));
      };
      worst =
          std::max(worst, by_yardstick(ours[k] - theirs[k].detach()) / by_yardstick(weights_[k].detach() - start_[k]));
    }
    return worst;
  }

  std::vector<Tensor> weights_, start_;
  OptimiserOptions o_;
  int64_t steps_ = 0;
  std::vector<Tensor> m_, v_, average_;
  std::vector<std::optional<TorchBasis>> bases_;
  TorchBasis::Errors errors_;
};

// Gradients are given, so that nothing but the optimiser differs. 45 steps, two turns of the basis. The last matrix'
// columns have sizes over three orders of magnitude. Tolerances: the largest side is 25, and n rounding errors of 6e-8
// are 1.5e-6 for the bases; each step rounds a weight of 0.1 a few times, by 6e-9, beside a step of 0.01, and the
// factor of the decay is rounded alike in all steps: 5e-6.
TEST(referee_training_test, adam_and_soap_by_their_definitions) {
  WeightList list;
  for (const Shape& shape : {Shape{12, 12}, Shape{10, 25}, Shape{25, 10}, Shape{7, 30}, Shape{31}, Shape{9, 12}})
    list.add("w", shape, 1);
  for (const bool rotated : {false, true})
    for (const double clip : {0.0, 1.0}) {
      OptimiserOptions o{.weight_decay = 0.02, .clip = clip, .ema = 0.95, .rotated = rotated};
      if (rotated) o.beta1 = o.beta2 = 0.95;
      std::vector<float> weights = random_floats(list.size(), 1, 0.1);
      Optimiser ours(list.blocks(), weights, o);
      TorchOptimiser referee(tensors_of(list.blocks(), weights), o);
      double worst = 0, worst_average = 0;
      for (uint64_t t = 0; t < 45; ++t) {
        std::vector<float> g = random_floats(list.size(), 100 + t);
        for (size_t i = list.blocks().back().offset; i < g.size(); ++i)
          g[i] *= std::pow(0.55f, static_cast<float>((i - list.blocks().back().offset) % 12));
        const double rate = t == 0 ? 0 : 0.01;
        ASSERT_TRUE(ours.step(weights, g, rate, 2));
        referee.step(tensors_of(list.blocks(), g), rate, ours.state());
        if (t == 0) continue;
        worst = std::max(worst, referee.difference_of_weights(tensors_of(list.blocks(), weights)));
        worst_average =
            std::max(worst_average, referee.difference_of_averages(tensors_of(list.blocks(), ours.averaged(weights))));
      }
      const TorchBasis::Errors& e = referee.errors_of_bases();
      std::printf("%s, clip %g: weights %.2g, average %.2g; bases %.2g %.2g %.2g\n", rotated ? "soap" : "adam", clip,
                  worst, worst_average, e.orthonormal, e.vanishing, e.order);
      EXPECT_LT(worst, 5e-6);
      EXPECT_LT(worst_average, 5e-6);
      EXPECT_LT(e.orthonormal, 2e-6);
      EXPECT_LT(e.vanishing, 2e-6);
      EXPECT_LT(e.order, 2e-6);
      EXPECT_EQ(e.orthonormal > 0, rotated);  // they were looked at
    }
}

// In its own basis the first gradient is diagonal, and Adam's first step is the sign of each entry: the rate itself.
// What is off the diagonal is noise. Tolerance: each basis is orthonormal to 1e-6 in float32, and both are used twice,
// into the basis and back.
TEST(referee_training_test, the_first_step_of_soap) {
  for (const auto& [m, n] : {std::pair<size_t, size_t>{12, 30}, {30, 12}, {14, 14}}) {
    WeightList list;
    list.add("w", Shape{m, n}, 1);
    std::vector<float> weights(m * n, 0.0f);
    const std::vector<float> g = random_floats(m * n, 3);
    Optimiser ours(list.blocks(), weights, {.beta1 = 0.95, .beta2 = 0.95, .rotated = true});
    ASSERT_TRUE(ours.step(weights, g, 0.01, 1));
    const int64_t M = static_cast<int64_t>(m), N = static_cast<int64_t>(n);
    const Optimiser::State state = ours.state();
    const float* q = state.bases.data() + m * m + n * n;
    const Tensor left = tensor_of(q, {M, M}), right = tensor_of(q + m * m, {N, N});
    const auto into = [&](const std::vector<float>& a) {
      return left.t().matmul(tensor_of(a.data(), {M, N})).matmul(right);
    };
    EXPECT_LT(largest(into(weights).diagonal() + 0.01 * into(g).diagonal().sign()), 0.01 * 4e-6);
    EXPECT_LT(largest(into(weights)), 0.01 * (1 + 4e-6));
  }
}

struct Deviation {
  double loss = 0, weights = 0, average = 0;  // the largest of all steps
  TorchBasis::Errors bases;
};

// Trains ours and the referee's on the same trajectories from the same weights.
Deviation train_both(const std::string& preset, const std::string& optimiser_name, bool step_by_step) {
  const System system = load_system("soup").system;
  TrainOptions options = preset_options(preset, system);
  options.lengths = {30, 60};
  options.optimiser = optimiser_name;
  const NetworkOptions shape = network_for(options, system, 0);
  const OptimiserOptions o = optimiser_for(options);
  Network network(shape);
  network.set_random_weights(5);
  const TrajectoryBatch scaling = simulate_set(system, 0, {.seed = 99, .threads = 1, .length = 45}, 256).all;
  network.fit_input_scaling(scaling.z.data(), scaling.count, scaling.length, 1);
  Optimiser optimiser(network.blocks(), network.weights(), o);
  Gradients gradients;
  const NetworkCoordinates coordinates(system, shape);

  Leaves leaves = leaves_of(network.blocks(), network.weights().data());
  std::vector<Tensor> theirs;
  for (const WeightBlock& block : network.blocks()) theirs.push_back(leaves[block.name]);
  TorchOptimiser referee(theirs, o);
  Deviation worst;
  for (int step = 0; step <= 10; ++step) {
    std::vector<TrajectoryBatch> chunks;
    for (const int64_t length : {30, 60})
      chunks.push_back(
          simulate_set(system, 0, {.seed = static_cast<uint64_t>(1000 * step + length), .threads = 1, .length = length},
                       100)
              .all);
    const std::vector<float> theta = coordinates.of(chunks);
    const LossTerms terms{.load_balancing = options.load_balancing, .auxiliary = options.auxiliary_loss};
    const BatchLoss loss = gradients.compute(network, chunks, theta, terms, 2);
    EXPECT_EQ(loss.bad, 0);
    const double rate = step == 0 ? 0 : options.learning_rate;
    EXPECT_TRUE(optimiser.step(network.weights(), gradients.gradient(), rate, 2));

    std::vector<Tensor> rows;
    for (const TrajectoryBatch& chunk : chunks) {
      std::vector<float> e(static_cast<size_t>(chunk.count * network.embedding_size()));
      network.embed(chunk.z.data(), chunk.count, chunk.length, chunk.sampling.data(), e.data(),
                    1);  // of the features and the logarithm of the length; the LSTM's are replaced
      Tensor embedding = tensor_of(e.data(), {chunk.count, network.embedding_size()}).clone();
      if (network.lstm()) {
        const Tensor centre = tensor_of(network.lstm()->centre().data(), {1}),
                     unit = tensor_of(network.lstm()->unit().data(), {1});
        const Tensor x = torch::asinh((tensor_of(chunk.z.data(), {chunk.count, chunk.length, 1}) - centre) / unit);
        embedding = torch::cat({lstm_mean(x, lstm_parameters(leaves)), embedding.slice(1, network.lstm()->size())}, 1);
      }
      rows.push_back(embedding);
    }
    const Tensor raw = decode(leaves, torch::cat(rows, 0));
    const LogDensities q = log_densities(shape.mixture, raw, tensor_of(theta.data(), {raw.size(0), 2}));
    const Tensor nll = -q.log_q.mean(),
                 load_balancing = torch::softmax(raw.slice(1, 0, shape.mixture.components), 1).mean(0).log().mean();
    referee.step(
        torch::autograd::grad({nll - terms.auxiliary * q.alone.mean() - terms.load_balancing * load_balancing}, theirs),
        rate, optimiser.state());
    worst.loss = std::max(worst.loss, std::fabs(loss.nll - nll.item<double>()) / (1 + std::fabs(nll.item<double>())));
    if (step == 0) continue;
    const std::vector<Tensor> weights = tensors_of(network.blocks(), network.weights()),
                              average = tensors_of(network.blocks(), optimiser.averaged(network.weights()));
    worst.weights = std::max(worst.weights, referee.difference_of_weights(weights));
    if (o.ema > 0) worst.average = std::max(worst.average, referee.difference_of_averages(average));
    if (step_by_step) referee.take_weights(weights, average);
  }
  worst.bases = referee.errors_of_bases();
  return worst;
}

// After the first step of rate 0, ten of the preset's rate, networks of the presets' own sizes. Tolerances: step by
// step, the loss is a mean of 200 values right to 5e-6 each (layers_test.cc) or better: 5e-7. Weights: our gradient is
// right to 2e-5 of its largest entry, and a weight of 0.1 is rounded by 6e-9 beside a step of 2e-4 (paper): 3e-5 each,
// 1e-4 in all. On its own a run repeats its errors: in ten steps they grow up to 40 times (the rate of `fast` is
// SOAP's; with it Adam throws the loss from 4 to 24 at first. SOAP in the LSTM has 4 % of its way in directions that
// are noise): 50 times, loss and weights. Bases: sides up to 256, 6e-8 times that.
TEST(referee_training_test, ten_steps_of_both_presets_with_adam_and_soap) {
  for (const std::string preset : {"fast", "paper"})
    for (const std::string optimiser : {"adam", "soap"})
      for (const bool step_by_step : {true, false}) {
        SCOPED_TRACE(preset + ", " + optimiser + (step_by_step ? ", step by step" : ""));
        const Deviation d = train_both(preset, optimiser, step_by_step);
        std::printf("%s, %s%s: loss %.2g, weights %.2g, average %.2g; bases %.2g %.2g %.2g\n", preset.c_str(),
                    optimiser.c_str(), step_by_step ? ", step by step" : "", d.loss, d.weights, d.average,
                    d.bases.orthonormal, d.bases.vanishing, d.bases.order);
        EXPECT_LT(d.loss, step_by_step ? 5e-7 : 2.5e-5);
        EXPECT_LT(d.weights, step_by_step ? 1e-4 : 5e-3);
        EXPECT_LT(d.average, step_by_step ? 1e-4 : 5e-3);
        EXPECT_LT(d.bases.orthonormal, 1.5e-5);
        EXPECT_LT(d.bases.vanishing, 2e-6);
        EXPECT_LT(d.bases.order, 2e-6);
      }
}

}  // namespace
}  // namespace penn::referee
