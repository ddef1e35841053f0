// Whole training steps against LibTorch: its autograd for the gradient, and Adam and SOAP written down here from their definitions with linalg_eigh and
// linalg_qr, all in doubles. Ours runs in float32.
//
// What can be expected. A gradient of ours is right to some 1e-5 of its largest entry. Adam divides every entry by its own size: entries far below the largest
// are noise in float32, and their steps may go the other way. Weights are therefore compared by the length of the difference relative to the length of the way
// they went, and losses, which those entries hardly change, to 1e-5. In SOAP directions that no gradient has reached yet are a basis by convention
// only: the larger side of a matrix is completed by QR from the same random numbers here and there, which is unique up to signs, and signs do not matter to Adam.
// In the basis of the first gradient all its entries off the diagonal are rounding errors, to which Adam gives steps of full length in float32 and none in
// doubles; the first step has the rate 0 here (a training's has 1 % of the rate).
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <span>

#include "network/reference.h"
#include "penn/base/random.h"
#include "penn/network/mixture_output.h"
#include "penn/train/gradients.h"
#include "penn/train/network_coordinates.h"
#include "penn/train/optimiser.h"
#include "penn/train/train_options.h"
#include "referee/torch_network.h"

namespace penn::referee {
namespace {

using reference::random_floats;

// One weight matrix or vector.
class TorchOptimiser {
 public:
  TorchOptimiser(std::vector<Tensor> weights, const OptimiserOptions& options) : weights_(std::move(weights)), o_(options) {
    for (const Tensor& w : weights_) {
      m_.push_back(torch::zeros_like(w).detach());
      v_.push_back(m_.back().clone());
      average_.push_back(w.detach().clone());
    }
    bases_.resize(weights_.size());
  }
  const std::vector<Tensor>& average() const { return average_; }

  void step(const std::vector<Tensor>& gradients, double rate) {
    torch::NoGradGuard no_grad;
    ++steps_;
    double square = 0;
    for (const Tensor& g : gradients) square += g.square().sum().item<double>();
    const double scale = o_.clip > 0 && std::sqrt(square) > o_.clip ? o_.clip / std::sqrt(square) : 1;
    const double t = static_cast<double>(steps_), keep = std::min(o_.ema, (1 + t) / (10 + t));
    for (size_t k = 0; k < weights_.size(); ++k) {
      Tensor g = gradients[k] * scale, w = weights_[k];
      const bool rotated = o_.rotated && w.dim() == 2 && std::min(w.size(0), w.size(1)) >= 9;
      Basis& b = bases_[k];
      if (rotated) {
        if (steps_ == 1) b.left = torch::zeros({w.size(0), w.size(0)}, torch::kDouble), b.right = torch::zeros({w.size(1), w.size(1)}, torch::kDouble);
        if (steps_ % 4 == 1) b.left = 0.95 * b.left + 0.05 * g.matmul(g.t()), b.right = 0.95 * b.right + 0.05 * g.t().matmul(g);
        if (steps_ == 1) b.set(g);
        g = b.q_left.t().matmul(g).matmul(b.q_right);
      }
      m_[k] = o_.beta1 * m_[k] + (1 - o_.beta1) * g;
      v_[k] = o_.beta2 * v_[k] + (1 - o_.beta2) * g.square();
      Tensor s = rate * (m_[k] / (1 - std::pow(o_.beta1, t))) / ((v_[k] / (1 - std::pow(o_.beta2, t))).sqrt() + o_.epsilon);
      if (rotated) s = b.q_left.matmul(s).matmul(b.q_right.t());
      w.mul_(1 - rate * o_.weight_decay).sub_(s);
      average_[k] = keep * average_[k] + (1 - keep) * w;
      if (rotated && steps_ % 20 == 0) b.refresh(m_[k], v_[k]);
    }
  }

 private:
  struct Basis {
    Tensor left, right, q_left, q_right;
    void set(const Tensor& g) {
      const bool small_left = g.size(0) <= g.size(1);
      const Tensor small = std::get<1>(torch::linalg_eigh(small_left ? left : right)).flip(1);
      const Tensor reached = (small_left ? g.t() : g).matmul(small);
      const int64_t N = reached.size(0), n = reached.size(1);
      const Tensor random = torch::empty({N, N}, torch::kDouble);  // the same numbers as in gradient_basis.cc
      const RandomKey key{0, static_cast<uint64_t>(N)};
      for (int64_t i = 0; i < N * N; ++i) random.data_ptr<double>()[i] = static_cast<float>(key.uniform(0, static_cast<uint32_t>(i)) - 0.5);
      const Tensor large = std::get<0>(torch::linalg_qr(torch::cat({reached, random.slice(1, n)}, 1)));
      q_left = small_left ? small : large;
      q_right = small_left ? large : small;
    }
    static Tensor turn(const Tensor& mean, Tensor& q) {
      const Tensor product = mean.matmul(q), order = std::get<1>((q * product).sum(0).sort(0, /*descending=*/true));
      q = std::get<0>(torch::linalg_qr(product.index_select(1, order)));
      return order;
    }
    void refresh(Tensor& m, Tensor& v) {
      const Tensor in_weights = q_left.matmul(m).matmul(q_right.t()), rows = turn(left, q_left), columns = turn(right, q_right);
      m = q_left.t().matmul(in_weights).matmul(q_right);
      v = v.index_select(0, rows).index_select(1, columns);
    }
  };
  std::vector<Tensor> weights_;
  OptimiserOptions o_;
  int64_t steps_ = 0;
  std::vector<Tensor> m_, v_, average_;
  std::vector<Basis> bases_;
};

std::vector<Tensor> tensors_of(const std::vector<WeightBlock>& blocks, std::span<const float> values) {
  std::vector<Tensor> list;
  for (const WeightBlock& block : blocks) list.push_back(tensor_of(values.data() + block.offset, std::vector<int64_t>(block.shape.begin(), block.shape.end())).clone());
  return list;
}
double length(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  double sum = 0;
  for (size_t k = 0; k < a.size(); ++k) sum += (a[k] - b[k]).detach().square().sum().item<double>();
  return std::sqrt(sum);
}

// Gradients are given, so that nothing but the optimiser differs: Gaussian matrices, all directions of which matter. 45 steps, two refreshes. Float32 tells
// eigenvectors to about 1e-7 times n over the relative distance of their eigenvalues, 1 / n here: some 1e-4 of the way.
TEST(referee_training_test, adam_and_soap_by_their_definitions) {
  WeightList list;
  for (const Shape& shape : {Shape{12, 12}, Shape{10, 25}, Shape{25, 10}, Shape{7, 30}, Shape{31}, Shape{9, 9}}) list.add("w", shape, 1);
  for (const bool rotated : {false, true})
    for (const double clip : {0.0, 1.0}) {
      OptimiserOptions o{.weight_decay = 0.02, .clip = clip, .ema = 0.95, .rotated = rotated};
      if (rotated) o.beta1 = o.beta2 = 0.95;
      std::vector<float> weights = random_floats(list.size(), 1);
      const std::vector<Tensor> start = tensors_of(list.blocks(), weights), theirs = tensors_of(list.blocks(), weights);
      Optimiser ours(list.blocks(), weights, o);
      TorchOptimiser referee(theirs, o);
      double worst = 0;
      for (uint64_t t = 0; t < 45; ++t) {
        const std::vector<float> g = random_floats(list.size(), 100 + t);
        const double rate = t == 0 ? 0 : 0.01;
        ASSERT_TRUE(ours.step(weights, g, rate, 2));
        referee.step(tensors_of(list.blocks(), g), rate);
        if (t == 0) continue;
        const double way = length(theirs, start), off = length(tensors_of(list.blocks(), weights), theirs) / way;
        EXPECT_LT(off, rotated ? 1e-3 : 1e-4) << "step " << t + 1 << (rotated ? ", rotated" : "");  // 1 - 0.999f is 1e-5 off
        EXPECT_LT(length(tensors_of(list.blocks(), ours.averaged(weights)), referee.average()) / way, rotated ? 1e-3 : 1e-4) << "step " << t + 1;
        worst = std::max(worst, off);
      }
      std::printf("%s, clip %g: %.2g of the way\n", rotated ? "soap" : "adam", clip, worst);
    }
}

struct Deviation {
  double loss, weights, average;  // the largest of all steps, relative; weights and their average at the end, relative to the way
};

// Trains ours and the referee's on the same trajectories from the same weights.
Deviation train_both(const std::string& preset, int steps, const std::function<void(NetworkOptions&)>& change) {
  const System system = load_system("soup").system;
  TrainOptions options = preset_options(preset, system);
  options.lengths = {30, 60};
  NetworkOptions shape = network_for(options, system, 0);
  change(shape);
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
  const std::vector<Tensor> start = tensors_of(network.blocks(), network.weights());
  TorchOptimiser referee(theirs, o);
  Deviation worst{};
  for (int step = 0; step < steps; ++step) {
    std::vector<TrajectoryBatch> pieces;
    for (const int64_t length : {30, 60}) pieces.push_back(simulate_set(system, 0, {.seed = static_cast<uint64_t>(1000 * step + length), .threads = 1, .length = length}, 100).all);
    const std::vector<float> theta = coordinates.of(pieces);
    const LossTerms terms{.balance = options.balance, .auxiliary = options.lesson};
    const BatchLoss loss = gradients.compute(network, pieces, theta, terms, 2);
    EXPECT_EQ(loss.bad, 0);
    const double rate = step == 0 ? 0 : options.learning_rate;
    EXPECT_TRUE(optimiser.step(network.weights(), gradients.gradient(), rate, 2));

    std::vector<Tensor> rows;
    for (const TrajectoryBatch& piece : pieces) {
      std::vector<float> e(static_cast<size_t>(piece.count * network.embedding_size()));
      network.embed(piece.z.data(), piece.count, piece.length, piece.sampling.data(), e.data(), 1);  // of the features and the logarithm of the length; the LSTM's are replaced
      Tensor embedding = tensor_of(e.data(), {piece.count, network.embedding_size()}).clone();
      if (network.lstm()) {
        const Tensor centre = tensor_of(network.lstm()->centre().data(), {1}), unit = tensor_of(network.lstm()->unit().data(), {1});
        const Tensor x = torch::asinh((tensor_of(piece.z.data(), {piece.count, piece.length, 1}) - centre) / unit);
        embedding = torch::cat({lstm_mean(x, lstm_parameters(leaves)), embedding.slice(1, network.lstm()->size())}, 1);
      }
      rows.push_back(embedding);
    }
    const Tensor raw = decode(leaves, torch::cat(rows, 0));
    const LogDensities q = log_densities(shape.mixture, raw, tensor_of(theta.data(), {raw.size(0), 2}));
    const Tensor nll = -q.log_q.mean(), balance = torch::softmax(raw.slice(1, 0, shape.mixture.components), 1).mean(0).log().mean();
    referee.step(torch::autograd::grad({nll - terms.auxiliary * q.alone.mean() - terms.balance * balance}, theirs), rate);
    worst.loss = std::max(worst.loss, std::fabs(loss.nll - nll.item<double>()) / (1 + std::fabs(nll.item<double>())));
    if (step == 0) continue;
    const double way = length(theirs, start);
    worst.weights = length(tensors_of(network.blocks(), network.weights()), theirs) / way;
    if (o.ema > 0) worst.average = length(tensors_of(network.blocks(), optimiser.averaged(network.weights())), referee.average()) / way;
  }
  return worst;
}

TEST(referee_training_test, ten_steps_of_preset_paper) {
  const Deviation d = train_both("paper", 10, [](NetworkOptions&) {});
  std::printf("paper: loss %.2g, weights %.2g\n", d.loss, d.weights);
  EXPECT_LT(d.loss, 1e-5);
  EXPECT_LT(d.weights, 1e-3);
}

// 25 steps: the basis is refreshed once, after 20. The gradient of the input projection has singular values over many orders of magnitude; float32 does not tell
// the directions of the smallest (eigenvalues of G G^T below 1e-7 of the largest), and Adam steps along them as far as along others: a twentieth of the way.
// They hardly matter to the loss. The optimiser itself is held to 1e-3 above.
TEST(referee_training_test, twenty_five_steps_of_preset_fast) {
  const auto smaller = [](NetworkOptions& o) { o.decoder_width = 24, o.decoder_blocks = 2, o.mixture.components = 4; };
  const Deviation before = train_both("fast", 20, smaller), after = train_both("fast", 25, smaller);
  std::printf("fast, 20 steps: loss %.2g, weights %.2g, average %.2g\n", before.loss, before.weights, before.average);
  std::printf("fast, 25 steps: loss %.2g, weights %.2g, average %.2g\n", after.loss, after.weights, after.average);
  EXPECT_LT(before.loss, 1e-4);
  EXPECT_LT(before.weights, 1e-1);
  EXPECT_LT(before.average, 1e-1);
  EXPECT_LT(after.loss, 1e-3);
  EXPECT_LT(after.weights, 1e-1);
  EXPECT_LT(after.average, 1e-1);
}

}  // namespace
}  // namespace penn::referee
