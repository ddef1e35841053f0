// Every layer's values and gradients against LibTorch in doubles. Tolerances are relative to the largest entry. Ours
// are sums of up to some hundred float32 products (rounding 6e-8 each, a few 1e-7 in all) through up to 20 layers: 5e-6
// for values. Gradients pass every layer twice: 2e-5.
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "network/reference.h"
#include "penn/network/activation.h"
#include "penn/network/mixture_output.h"
#include "penn/system/load_system.h"
#include "penn/train/gradients.h"
#include "penn/train/network_coordinates.h"
#include "penn/train/train_options.h"
#include "referee/torch_network.h"

namespace penn::referee {
namespace {

using reference::random_floats;

constexpr double kValue = 5e-6, kGradient = 2e-5;

TEST(referee_layers_test, activations_are_those_of_libtorch) {
  const Tensor x =
      torch::cat({torch::linspace(-30, 30, 60001, torch::kFloat), torch::linspace(-1e-3, 1e-3, 2001, torch::kFloat)});
  const auto apply = [&](lanes::F (*f)(lanes::F)) {
    Tensor y = torch::empty_like(x);
    for (int64_t i = 0; i < x.numel(); ++i) y.data_ptr<float>()[i] = f(lanes::splat(x.data_ptr<float>()[i]))[0];
    return y.to(torch::kDouble);
  };
  const Tensor exact = x.to(torch::kDouble);
  const auto relative = [](const Tensor& a, const Tensor& b) {
    return ((a - b).abs() / b.abs().clamp_min(1e-300)).max().item<double>();
  };
  EXPECT_LT(relative(apply(penn::elu), torch::elu(exact)), 4e-7);  // the bounds of activation.h
  EXPECT_LT(relative(apply(penn::sigmoid), torch::sigmoid(exact)), 5e-7);
  EXPECT_LT(relative(apply(penn::tanh), torch::tanh(exact)), 6e-7);
  EXPECT_LT(
      ((apply(penn::asinh) - torch::asinh(exact)).abs() / torch::asinh(exact).abs().clamp_min(1)).max().item<double>(),
      3e-7);
}

TEST(referee_layers_test, decoder_and_all_its_gradients) {
  struct Case {
    int64_t inputs, width, blocks, outputs, rows;
    bool has_projection;
  };
  for (const Case& c : {Case{50, 100, 6, 210, 37, false}, Case{130, 256, 3, 65, 200, true}, Case{7, 5, 2, 3, 1, false},
                        Case{300, 9, 1, 1, 131, true}, Case{1, 1, 1, 1, 5, true}}) {
    SCOPED_TRACE(::testing::Message() << c.inputs << " -> " << c.width << " -> " << c.outputs);
    WeightList list;
    const Decoder decoder(list, c.inputs, c.width, c.blocks, c.outputs, c.has_projection);
    std::vector<float> weights = random_floats(list.size(), 1);
    for (const WeightBlock& block : list.blocks())
      for (size_t i = 0; i < block.size(); ++i) weights[block.offset + i] *= static_cast<float>(block.spread);
    const std::vector<float> embedding = random_floats(static_cast<size_t>(c.rows * c.inputs), 2),
                             draw = random_floats(static_cast<size_t>(c.rows * c.outputs), 3);
    std::vector<float> raw(draw.size()), dembedding(embedding.size()), gradient(weights.size());
    Decoder::State state = decoder.make_state(c.rows, true);
    for (int64_t first = 0; first < c.rows; first += 48)
      decoder.forward(weights.data(), embedding.data(), first, std::min(c.rows, first + 48), state, raw.data());
    for (int64_t first = 0; first < c.rows; first += 48)
      decoder.backward(weights.data(), draw.data(), first, std::min(c.rows, first + 48), state, dembedding.data());
    for (const Decoder::GradientTerm& term : decoder.gradient_terms(state, embedding.data(), draw.data()))
      dense_gradient(term, c.rows, 96, 0, term.layer->inputs, gradient.data());

    Leaves leaves = leaves_of(list.blocks(), weights.data());
    const Tensor x = tensor_of(embedding.data(), {c.rows, c.inputs}).clone().requires_grad_(),
                 expected = decode(leaves, x);
    (expected * tensor_of(draw.data(), {c.rows, c.outputs})).sum().backward();
    EXPECT_LT(difference(tensor_of(raw.data(), {c.rows, c.outputs}), expected.detach()), kValue);
    EXPECT_LT(difference(tensor_of(dembedding.data(), {c.rows, c.inputs}), x.grad()), kGradient);
    for (const WeightBlock& block : list.blocks()) {
      const Tensor& leaf = leaves[block.name];
      EXPECT_LT(difference(tensor_of(gradient.data() + block.offset, leaf.sizes().vec()), leaf.grad()), kGradient)
          << block.name;
    }
  }
}

// Batches below, at and above a tile; lengths below, at and above a chunk of 16 steps; one to four layers.
TEST(referee_layers_test, lstm_and_all_its_gradients) {
  struct Case {
    int batch, time, channels, hidden, layers;
  };
  for (const Case& c : {Case{1, 1, 1, 1, 1}, Case{3, 2, 1, 50, 4}, Case{37, 53, 1, 50, 4}, Case{16, 16, 2, 50, 4},
                        Case{5, 33, 2, 7, 2}, Case{17, 100, 1, 20, 3}, Case{33, 17, 3, 9, 1}, Case{2, 131, 9, 4, 2}}) {
    SCOPED_TRACE(::testing::Message() << "batch " << c.batch << ", time " << c.time << ", channels " << c.channels
                                      << ", hidden " << c.hidden << ", layers " << c.layers);
    const LstmShape s{c.channels, c.hidden, c.layers};
    // Larger than at the start of a training, so that the gates leave their linear range.
    const std::vector<float> weights =
        random_floats(s.weight_count(), 4, 1.2 / std::sqrt(static_cast<double>(c.hidden)));
    const std::vector<float> x = random_floats(static_cast<size_t>(c.batch * c.time * c.channels), 5, 2),
                             dmean = random_floats(static_cast<size_t>(c.batch * c.hidden), 6);
    std::vector<Tensor> parameters;
    size_t at = 0;
    for (int layer = 0; layer < c.layers; ++layer) {
      const int64_t H4 = 4 * c.hidden;
      for (const std::vector<int64_t>& sizes :
           {std::vector<int64_t>{H4, s.inputs(layer)}, {H4, c.hidden}, {H4}, {H4}}) {
        parameters.push_back(tensor_of(weights.data() + at, sizes).clone().requires_grad_());
        at += static_cast<size_t>(parameters.back().numel());
      }
    }
    ASSERT_EQ(at, weights.size());
    const Tensor expected = lstm_mean(tensor_of(x.data(), {c.batch, c.time, c.channels}), parameters);
    (expected * tensor_of(dmean.data(), {c.batch, c.hidden})).sum().backward();
    for (const LstmMemory memory : {LstmMemory::kEverything, LstmMemory::kRecompute}) {
      const LstmPass pass(s, c.batch, c.time, weights.data(), memory);
      AlignedVector<float> saved(static_cast<size_t>(pass.tiles()) * pass.saved_floats_per_tile()),
          parts(static_cast<size_t>(pass.tiles()) * pass.gradient_floats_per_tile());
      std::vector<float> mean(dmean.size()), gradient(weights.size(), 0.0f);
      for (size_t tile = 0; tile < static_cast<size_t>(pass.tiles()); ++tile)
        pass.forward(static_cast<int64_t>(tile), x.data(), mean.data(), c.hidden,
                     saved.data() + tile * pass.saved_floats_per_tile());
      for (size_t tile = 0; tile < static_cast<size_t>(pass.tiles()); ++tile)
        pass.backward(static_cast<int64_t>(tile), x.data(), dmean.data(), c.hidden,
                      saved.data() + tile * pass.saved_floats_per_tile(),
                      parts.data() + tile * pass.gradient_floats_per_tile());
      pass.add_gradients(parts.data(), gradient.data());
      EXPECT_LT(difference(tensor_of(mean.data(), {c.batch, c.hidden}), expected.detach()), kValue);
      at = 0;
      for (size_t k = 0; k < parameters.size(); ++k) {
        EXPECT_LT(difference(tensor_of(gradient.data() + at, parameters[k].sizes().vec()), parameters[k].grad()),
                  kGradient)
            << "parameter " << k;
        at += static_cast<size_t>(parameters[k].numel());
      }
    }
  }
}

// Both sides compute in doubles: ln q to 1e-10. Our gradient is rounded to float32 at the end: 1e-7 of each entry, and
// doubles' rounding of the largest.
TEST(referee_layers_test, mixture_and_its_gradient) {
  for (const char* parameterisation : {"direct", "log_scale"})
    for (const auto& [M, N, full] : {std::tuple{1, 1, true},
                                     {1, 4, true},
                                     {2, 3, true},
                                     {5, 10, true},
                                     {12, 10, true},
                                     {3, 2, false},
                                     {8, 30, false}})
      for (const int floor : {0, 1})
        for (const double auxiliary : {0.0, 0.5}) {
          MixtureShape s{M, N, full, parameterisation, {}};
          for (int k = 0; floor && k < M; ++k) s.precision_floor.push_back(0.25 * (1 + k % 4));
          SCOPED_TRACE(::testing::Message()
                       << parameterisation << " M " << M << " N " << N << (full ? " full" : " diagonal") << " floor "
                       << floor << " auxiliary " << auxiliary);
          constexpr int64_t B = 33;
          const int64_t K = s.size();
          const std::vector<float> raw = random_floats(static_cast<size_t>(B * K), 7, 0.7),
                                   theta = random_floats(static_cast<size_t>(B * M), 8, 0.5);
          std::vector<double> log_q(B), weights(static_cast<size_t>(B * N));
          std::vector<uint8_t> bad(B);
          std::vector<float> gradient(raw.size());
          mixture_rows(s, 0, B, raw.data(), theta.data(), auxiliary, log_q.data(), bad.data(), weights.data(),
                       gradient.data());
          const Tensor y = tensor_of(raw.data(), {B, K}).clone().requires_grad_();
          const LogDensities expected = log_densities(s, y, tensor_of(theta.data(), {B, M}));
          (expected.log_q.sum() + auxiliary * expected.alone.mean(1).sum()).backward();
          const Tensor got = torch::tensor(log_q, torch::kDouble), value = expected.log_q.detach();
          EXPECT_LT(((got - value).abs() / (1 + value.abs())).max().item<double>(), 1e-10);
          const Tensor g = tensor_of(gradient.data(), {B, K});
          EXPECT_TRUE(((g - y.grad()).abs() <= 1e-7 * y.grad().abs() + 1e-10 * y.grad().abs().max()).all().item<bool>())
              << difference(g, y.grad());
          EXPECT_LT((torch::tensor(weights, torch::kDouble).view({B, N}) - torch::softmax(y.detach().slice(1, 0, N), 1))
                        .abs()
                        .max()
                        .item<double>(),
                    1e-13);
        }
}

// The whole network with every term of the loss, the load-balancing term over the whole batch, trajectories in chunks
// of several lengths.
TEST(referee_layers_test, the_gradient_of_a_step) {
  const System system = load_system("oup").system;
  for (const std::string preset : {"fast", "paper", "both encoders"})
    for (const LossTerms& terms :
         {LossTerms{}, LossTerms{.load_balancing = 0.3}, LossTerms{.load_balancing = 0.3, .auxiliary = 0.5}}) {
      SCOPED_TRACE(preset + ", load balancing " + std::to_string(terms.load_balancing));
      TrainOptions options = preset_options(preset == "paper" ? "paper" : "fast", system);
      options.lengths = {30, 60};
      if (preset == "both encoders") options.encoders = {"statistics", "lstm"};
      Network network(network_for(options, system, 0));
      network.set_random_weights(3);
      std::vector<TrajectoryBatch> chunks;
      for (const auto& [count, length] : {std::pair<int64_t, int64_t>{50, 30}, {61, 45}, {40, 60}})
        chunks.push_back(
            simulate_set(system, 0, {.seed = static_cast<uint64_t>(length), .threads = 1, .length = length}, count)
                .all);
      network.fit_input_scaling(chunks[0].z.data(), chunks[0].count, chunks[0].length, 1);
      const std::vector<float> theta = NetworkCoordinates(system, network.options()).of(chunks);
      Gradients gradients;
      const BatchLoss loss = gradients.compute(network, chunks, theta, terms, 2);
      ASSERT_EQ(loss.bad, 0);

      Leaves leaves = leaves_of(network.blocks(), network.weights().data());
      std::vector<Tensor> rows;
      for (const TrajectoryBatch& chunk : chunks) {
        std::vector<float> e(static_cast<size_t>(chunk.count * network.embedding_size()));
        network.embed(chunk.z.data(), chunk.count, chunk.length, chunk.sampling.data(), e.data(), 1);
        Tensor embedding = tensor_of(e.data(), {chunk.count, network.embedding_size()}).clone();
        if (network.lstm()) {
          const Tensor centre = tensor_of(network.lstm()->centre().data(), {1}),
                       unit = tensor_of(network.lstm()->unit().data(), {1});
          const Tensor mean =
              lstm_mean(torch::asinh((tensor_of(chunk.z.data(), {chunk.count, chunk.length, 1}) - centre) / unit),
                        lstm_parameters(leaves));
          const int64_t first = network.statistics() ? network.statistics()->size() : 0;
          EXPECT_LT(difference(embedding.slice(1, first, first + network.lstm()->size()), mean.detach()), kValue);
          embedding =
              torch::cat({embedding.slice(1, 0, first), mean, embedding.slice(1, first + network.lstm()->size())}, 1);
        }
        rows.push_back(embedding);
      }
      const Tensor raw = decode(leaves, torch::cat(rows, 0)), targets = tensor_of(theta.data(), {raw.size(0), 5});
      const LogDensities q = log_densities(network.options().mixture, raw, targets);
      const Tensor nll = -q.log_q.mean();
      Tensor load_balancing =
          torch::softmax(raw.slice(1, 0, network.options().mixture.components), 1).mean(0).log().mean();
      (nll - terms.auxiliary * q.alone.mean() - terms.load_balancing * load_balancing).backward();
      EXPECT_NEAR(loss.nll, nll.item<double>(), 1e-5 * std::fabs(nll.item<double>()));
      for (const WeightBlock& block : network.blocks()) {
        const Tensor& leaf = leaves[block.name];
        EXPECT_LT(difference(tensor_of(gradients.gradient().data() + block.offset, leaf.sizes().vec()), leaf.grad()),
                  5 * kGradient)
            << block.name;  // of a mixture, whose slopes differ
      }
    }
}

}  // namespace
}  // namespace penn::referee
