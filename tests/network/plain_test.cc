// Inference without LibTorch computes what the modules compute.
#include <gtest/gtest.h>

#include <filesystem>

#include "penn/base/error.h"
#include "penn/density/normal.h"
#include "penn/infer/estimator.h"
#include "penn/infer/plain_network.h"
#include "penn/network/network_file.h"
#include "penn/network/tensor_io.h"
#include "penn/train/familiarity.h"

namespace penn {
namespace {

namespace fs = std::filesystem;

struct SavedModel {
  fs::path path;
  std::shared_ptr<PennNetwork> network;
  ~SavedModel() { fs::remove(path); }
};

// A model with random weights, its outputs enlarged so that widths and couplings of many sizes occur.
SavedModel random_model(const std::string& system_name, const std::string& preset, IntRange lengths, const char* file) {
  const SystemChoice choice = load_system(system_name);
  const int d = static_cast<int>(choice.system.observations[static_cast<size_t>(choice.observation)].channels.size());
  const int M = static_cast<int>(choice.system.parameters.size());
  NetworkOptions options = preset == "paper" ? paper_network(d, M) : fast_network(d, M);
  if (preset == "convolution") options.encoders = {"statistics", "convolution"};
  if (preset == "first") options.decoder_stem = false, options.encoder_settings["statistics"] = {{"version", 2}};  // as the first models were
  options.length_low = static_cast<double>(lengths.low);
  options.length_high = static_cast<double>(lengths.high);
  options.sampling_low = options.sampling_high = choice.system.simulation.sampling.low;
  torch::manual_seed(3);
  SavedModel saved{fs::temp_directory_path() / file, std::make_shared<PennNetwork>(options)};
  const TrajectoryBatch set = simulate_set(choice.system, choice.observation, {.seed = 1, .length = 300}, 256).all;
  const torch::Tensor z = torch::from_blob(const_cast<float*>(set.z.data()), {set.count, set.length, set.channels});
  saved.network->calibrate(z);
  {
    torch::NoGradGuard no_grad;
    for (auto& p : saved.network->named_parameters())
      if (p.key().find("last") != std::string::npos) p.value().mul_(3);
  }
  ModelInfo info;
  info.version = "test";
  info.system_text = choice.system.text;
  info.observation = choice.system.observations[static_cast<size_t>(choice.observation)].name;
  info.network = saved.network->options();
  info.training = nlohmann::ordered_json::object();
  info.lengths = lengths;
  info.sampling = choice.system.simulation.sampling;
  measure_values({set}, info.value_low, info.value_high);
  info.on_lattice = find_lattices({set});
  info.familiarity = measure_familiarity(*saved.network, {set}, {set});
  round_as_compact(*saved.network);
  save_model(saved.path, info, *saved.network);
  return saved;
}

TEST(plain_test, embedding_and_free_vector_are_those_of_the_modules) {
  for (const std::string what : {"soup fast", "cfhn:x1x2 fast", "oup paper", "airfoil paper", "airfoil first", "soup convolution", "cfhn:x1x2 convolution"}) {
    const std::string system_name = what.substr(0, what.find(' ')), preset = what.substr(what.find(' ') + 1);
    const SavedModel saved = random_model(system_name, preset, {100, 400}, "penn-plain-test.safetensors");
    const ModelFile model = open_model(saved.path);
    const PlainNetwork plain(model);
    torch::NoGradGuard no_grad;
    for (const int64_t n : {100, 257}) {
      constexpr int64_t B = 37;  // not a multiple of anything
      const TrajectoryBatch set = simulate_set(model.system, model.observation, {.seed = 5, .length = n}, B).all;
      const torch::Tensor z = torch::from_blob(const_cast<float*>(set.z.data()), {B, n, set.channels});
      const torch::Tensor sampling = torch::from_blob(const_cast<float*>(set.sampling.data()), {B});
      const torch::Tensor e = saved.network->embedding(z, sampling), y = saved.network->decode(e);
      torch::Tensor plain_e = torch::empty_like(e), plain_y = torch::empty_like(y);
      plain.embed(set.z.data(), B, n, set.sampling.data(), plain_e.data_ptr<float>(), 2);
      EXPECT_LT((plain_e - e).abs().max().item<double>(), 2e-5) << what;
      plain.decode(plain_e.data_ptr<float>(), B, plain_y.data_ptr<float>(), 2);
      EXPECT_LT(((plain_y - y).abs() / (1 + y.abs())).max().item<double>(), 1e-3) << what;
      EXPECT_GT(y.std().item<double>(), 0.1) << what;  // not all the same number
    }
  }
}

TEST(plain_test, an_estimate_is_the_mixture_of_the_free_vector_in_the_parameters_own_units) {
  for (const std::string preset : {"fast", "paper"}) {  // box and linear coordinates
    const SavedModel saved = random_model("soup", preset, {100, 400}, "penn-plain-test-2.safetensors");
    const Estimator estimator(open_model(saved.path));
    const TrajectoryBatch set = simulate_set(estimator.system(), 0, {.seed = 6, .length = 200}, 3).all;
    const std::vector<Estimate> estimates = estimator.estimate(set.z.data(), 3, 200, set.sampling.data());
    torch::NoGradGuard no_grad;
    const torch::Tensor y = saved.network->forward(torch::from_blob(const_cast<float*>(set.z.data()), {3, 200, 1})).to(torch::kFloat64);
    for (int64_t b = 0; b < 3; ++b) {
      const torch::Tensor row = y[b].contiguous();
      const auto mixture = GaussianMixture::from_free_vector({row.data_ptr<double>(), static_cast<size_t>(row.numel())}, 10, 2, CovarianceKind::kFull,
                                                             saved.network->options().mixture.least_precision);
      const double s[2] = {0.3, -0.2};
      double theta[2] = {-0.5 + (s[0] + 1) / 2 * 2, 0.01 + (s[1] + 1) / 2 * 0.99}, jacobian = std::log(1.0) + std::log(0.99 / 2);
      if (preset == "fast") {
        theta[0] = -0.5 + 2 * normal_cdf(s[0]), theta[1] = 0.01 + 0.99 * normal_cdf(s[1]);
        jacobian = std::log(2 * normal_density(s[0])) + std::log(0.99 * normal_density(s[1]));
      }
      EXPECT_NEAR(estimates[static_cast<size_t>(b)].posterior.log_density(theta), mixture.log_density(s) - jacobian, 1e-2) << preset;
    }
  }
}

TEST(plain_test, answers_do_not_depend_on_neighbours_or_threads) {
  const SavedModel saved = random_model("soup", "fast", {100, 400}, "penn-plain-test-3.safetensors");
  const Estimator two(open_model(saved.path), 2), one(open_model(saved.path), 1);
  const TrajectoryBatch set = simulate_set(two.system(), 0, {.seed = 7, .length = 150}, 40).all;
  const std::vector<Estimate> all = two.estimate(set.z.data(), 40, 150, set.sampling.data());
  for (const int64_t b : {0, 17, 39}) {
    const std::vector<Estimate> alone = one.estimate(set.z.data() + b * 150, 1, 150, set.sampling.data());
    const double theta[2] = {0.4, 0.4};
    EXPECT_EQ(alone[0].posterior.log_density(theta), all[static_cast<size_t>(b)].posterior.log_density(theta));
    EXPECT_EQ(alone[0].familiarity, all[static_cast<size_t>(b)].familiarity);
  }
}

TEST(plain_test, an_encoder_that_inference_cannot_run_is_named) {
  SavedModel saved = random_model("soup", "fast", {100, 400}, "penn-plain-test-4.safetensors");
  ModelFile model = open_model(saved.path);
  model.info.network.encoders = {"crystal_ball"};
  try {
    const PlainNetwork network(model);
    FAIL();
  } catch (const ModelError& error) {
    EXPECT_NE(error.full_text().find("cannot run the encoder 'crystal_ball'"), std::string::npos);
  }
}

}  // namespace
}  // namespace penn
