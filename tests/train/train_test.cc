#include "penn/network/network_file.h"
#include "penn/train/trainer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "penn/base/error.h"
#include "penn/base/files.h"
#include "penn/base/safetensors.h"
#include "penn/dataset/write_dataset.h"
#include "penn/infer/evaluation.h"
#include "penn/network/penn_network.h"

namespace penn {
namespace {

namespace fs = std::filesystem;

struct Folder {
  Folder() {
    std::string name = (fs::temp_directory_path() / "penn-train-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path); }
  fs::path path;
};

TrainOptions small(const System& system, int64_t steps) {
  TrainOptions o = preset_options("fast", system);
  o.steps = steps;
  o.batch = 32;
  o.lengths = {40, 60};
  o.validation = 100;
  o.validations = 4;
  return o;
}

TrainResult run(const System& system, const TrainOptions& options, const fs::path& model, bool resume = false, int64_t stop_at = -1) {
  TrainRun r;
  r.options = options;
  r.model = model;
  r.resume = resume;
  int64_t asked = 0;
  if (stop_at >= 0) r.should_stop = [&asked, stop_at] { return asked++ >= stop_at; };
  return train(system, 0, r);
}

std::map<std::string, std::vector<float>> weights(const fs::path& model) {
  const SafetensorsFile file(model);
  std::map<std::string, std::vector<float>> all;
  for (const TensorInfo& info : file.tensors())
    if (info.type == TensorType::kF32 || info.type == TensorType::kF16) all[info.name] = file.read<float>(info.name);
  return all;
}

template <class E>
std::string refusal(const std::function<void()>& work) {
  try {
    work();
  } catch (const E& error) {
    return error.full_text();
  }
  return "accepted";
}

TEST(train_test, a_resumed_training_is_bit_for_bit_the_uninterrupted_one) {
  const Folder folder;
  const System system = load_system("soup").system;
  for (const char* preset : {"fast", "paper"}) {
    TrainOptions options = small(system, 24);
    if (preset[0] == 'p') {
      options = preset_options("paper", system);
      options.steps = 24, options.epochs = 0, options.dataset_size = 64, options.batch = 16, options.lengths = {30, 30}, options.validation = 100, options.validations = 4;
    }
    const fs::path whole = folder.path / (std::string("whole-") + preset), parts = folder.path / (std::string("parts-") + preset);
    EXPECT_TRUE(run(system, options, whole).is_complete);
    EXPECT_FALSE(run(system, options, parts, false, 9).is_complete);
    EXPECT_FALSE(fs::exists(parts));
    EXPECT_FALSE(run(system, options, parts, true, 5).is_complete);
    EXPECT_TRUE(run(system, options, parts, true).is_complete);
    EXPECT_FALSE(fs::exists(checkpoint_path(parts)));
    EXPECT_EQ(weights(whole), weights(parts)) << preset;
    const ModelFile a = open_model(whole), b = open_model(parts);
    ASSERT_EQ(a.info.curve.size(), b.info.curve.size());
    for (size_t i = 0; i < a.info.curve.size(); ++i) {
      EXPECT_EQ(a.info.curve[i].validation_nll, b.info.curve[i].validation_nll);
      EXPECT_EQ(a.info.curve[i].train_nll, b.info.curve[i].train_nll);
      EXPECT_EQ(a.info.curve[i].step, b.info.curve[i].step);
    }
  }
}

TEST(train_test, the_end_sets_the_widths_and_may_be_interrupted) {
  const Folder folder;
  const System system = load_system("soup").system;
  TrainOptions options = small(system, 24);
  options.calibration = 1200;
  const fs::path whole = folder.path / "whole", parts = folder.path / "parts";
  const TrainResult result = run(system, options, whole);
  ASSERT_EQ(result.widths.lengths, (std::vector<int64_t>{40, 49, 60}));
  EXPECT_EQ(result.widths.trajectories, 400);
  EXPECT_EQ(open_model(whole).info.widths.factors, result.widths.factors);
  EXPECT_FALSE(run(system, options, parts, false, 24).is_complete);  // all steps are done, the widths are not
  EXPECT_FALSE(fs::exists(parts));
  EXPECT_TRUE(fs::exists(checkpoint_path(parts)));
  EXPECT_TRUE(run(system, options, parts, true).is_complete);
  EXPECT_EQ(weights(whole), weights(parts));
  EXPECT_EQ(open_model(parts).info.widths.factors, result.widths.factors);
  EXPECT_FALSE(fs::exists(parts.string() + ".uncorrected"));
}

TEST(train_test, how_many_trajectories_set_the_widths) {
  const System system = load_system("soup").system;
  TrainOptions options = preset_options("fast", system);
  EXPECT_EQ(calibration_count(options, 50'000), 0);  // too few to tell
  EXPECT_EQ(calibration_count(options, 500'000), 10'000);
  EXPECT_EQ(calibration_count(options, 50'000'000), 24'000);
  options.dataset_size = 1000;
  EXPECT_EQ(calibration_count(options, 500'000), 0);
  EXPECT_EQ(calibration_count(preset_options("paper", system), 500'000), 0);
  options.calibration = 5000;
  EXPECT_EQ(train_options_from_json(to_json(options)).calibration, 5000);
  options.steps = 1, options.lengths = {1000, 1000};
  EXPECT_NO_THROW(check_options(options));
  options.calibration = 10;
  EXPECT_THROW(check_options(options), UsageError);
}

TEST(train_test, training_learns_in_all_coordinates) {
  const Folder folder;
  const System system = load_system("soup").system;
  for (const std::string coordinates : {"box", "linear", "D"}) {
    TrainOptions options = small(system, 150);
    options.coordinates = coordinates;
    options.batch = 64;
    options.lengths = {200, 200};
    options.validation = 400;
    const fs::path path = folder.path / coordinates;
    const TrainResult result = run(system, options, path);
    // The prior alone has NLL ln(2 * 0.99) = 0.68; 200 samples allow about -0.9 in this time.
    EXPECT_LT(result.progress.best_nll, -0.2) << coordinates;
    EXPECT_EQ(result.progress.skipped, 0);
    const ModelFile model = open_model(path);
    EXPECT_EQ(model.info.network.in_box(1), coordinates != "linear");
    EXPECT_EQ(model.info.network.in_box(0), coordinates == "box");
    EXPECT_NEAR(model.info.validation_nll, result.progress.best_nll, 1e-3);  // that of the weights as they are stored, in half precision
    EXPECT_EQ(model.info.system_text, system.text);
    EXPECT_EQ(model.info.familiarity.inside.size(), 1001u);
    EXPECT_TRUE(fs::exists(path.string() + ".csv"));
    // What is printed is in the parameters' own units: other trajectories give the same. Standard errors 0.06 of the 400, 0.03 of these.
    const Evaluation evaluation = evaluate(Estimator(open_model(path), 2), "soup", {.count = 2000, .threads = 2});
    EXPECT_NEAR(evaluation.report.nll.mean, model.info.validation_nll, 0.25) << coordinates;
  }
}

TEST(train_test, encoders_stand_side_by_side) {
  const Folder folder;
  const System system = load_system("soup").system;
  TrainOptions options = small(system, 8);
  options.encoders = {"statistics", "convolution"};
  run(system, options, folder.path / "both");
  const ModelFile model = open_model(folder.path / "both");
  EXPECT_EQ(model.info.network.encoders, options.encoders);
  EXPECT_EQ(train_options_from_json(to_json(options)).encoders, options.encoders);
  const Evaluation evaluation = evaluate(Estimator(open_model(folder.path / "both"), 2), "soup", {.count = 200, .threads = 2});
  EXPECT_NEAR(evaluation.report.nll.mean, model.info.validation_nll, 0.5);
}

TEST(train_test, coordinates_of_many_parameters_are_found_by_trial) {
  const auto coordinates = [](const char* preset, const char* name) { return preset_options(preset, load_system(name).system).coordinates; };
  EXPECT_EQ(coordinates("fast", "dvdp"), "box");
  EXPECT_EQ(coordinates("fast", "airfoil"), "auto");
  EXPECT_EQ(coordinates("paper", "dvdp"), "linear");
  EXPECT_THROW(coordinates_of("D1,nothing", load_system("dvdp").system), UsageError);
}

TEST(train_test, gradients_reach_every_weight) {
  const System system = load_system("cfhn:x1x2").system;
  for (const char* preset : {"fast", "paper"}) {
    TrainOptions options = preset_options(preset, system);
    options.lengths = {32, 64};
    PennNetwork network(network_for(options, system, 0));
    torch::manual_seed(3);
    const torch::Tensor z = torch::randn({16, 48, 2});
    network.calibrate(z);
    network.forward(z, torch::full({16}, 0.2)).square().mean().backward();
    for (const auto& item : network.named_parameters()) {
      ASSERT_TRUE(item.value().grad().defined()) << preset << " " << item.key();
      EXPECT_GT(item.value().grad().abs().sum().item<double>(), 0) << preset << " " << item.key();
    }
  }
}

TEST(optimiser_test, equals_adam_of_libtorch) {
  torch::manual_seed(1);
  torch::nn::Linear ours(7, 5), theirs(7, 5);
  {
    torch::NoGradGuard no_grad;
    theirs->weight.copy_(ours->weight);
    theirs->bias.copy_(ours->bias);
  }
  Optimiser optimiser(ours->parameters(), {});
  torch::optim::Adam adam(theirs->parameters(), torch::optim::AdamOptions(1e-2));
  for (int i = 0; i < 10; ++i) {
    const torch::Tensor x = torch::randn({9, 7});
    optimiser.zero_grad();
    adam.zero_grad();
    ours->forward(x).pow(4).mean().backward();
    theirs->forward(x).pow(4).mean().backward();
    EXPECT_TRUE(optimiser.step(1e-2));
    adam.step();
    EXPECT_TRUE(torch::allclose(ours->weight, theirs->weight, 1e-5, 1e-6)) << i;
  }
}

TEST(optimiser_test, a_gradient_that_is_not_finite_changes_nothing) {
  torch::nn::Linear layer(2, 1);
  Optimiser optimiser(layer->parameters(), {.clip = 1, .ema = 0.9});
  const torch::Tensor before = layer->weight.detach().clone();
  (layer->forward(torch::ones({1, 2})).sum() * std::nan("")).backward();
  EXPECT_FALSE(optimiser.step(1e-2));
  EXPECT_TRUE(torch::equal(layer->weight, before));
  EXPECT_EQ(optimiser.steps(), 0);
}

TEST(train_test, options_that_make_no_sense_are_refused) {
  const Folder folder;
  const System system = load_system("soup").system;
  const auto refused = [&](auto change) {
    TrainOptions options = small(system, 5);
    change(options);
    const std::string message = refusal<UsageError>([&] { run(system, options, folder.path / "model"); });
    EXPECT_FALSE(fs::exists(folder.path / "model"));
    return message;
  };
  EXPECT_NE(refusal<UsageError>([&] { preset_options("quick", system); }).find("unknown preset 'quick'"), std::string::npos);
  EXPECT_NE(refused([](TrainOptions& o) { o.components = 0; }).find("number of components"), std::string::npos);
  EXPECT_NE(refused([](TrainOptions& o) { o.steps = 0; }).find("budget"), std::string::npos);
  EXPECT_NE(refused([](TrainOptions& o) { o.steps = 0, o.epochs = 3; }).find("fixed data set"), std::string::npos);
  EXPECT_NE(refused([](TrainOptions& o) { o.dataset_size = 20, o.lengths = {40, 40}; }).find("larger than the data set of 20"), std::string::npos);
  EXPECT_NE(refused([](TrainOptions& o) { o.lengths = {60, 40}; }).find("empty"), std::string::npos);
  EXPECT_NE(refused([](TrainOptions& o) { o.batch = 0; }).find("batch"), std::string::npos);
}

TEST(train_test, a_data_set_must_belong_to_the_system) {
  const Folder folder;
  const SystemChoice soup = load_system("soup"), oup = load_system("oup");
  const SimulatorOptions options{.seed = 1, .length = 40};
  write_dataset(Simulator(soup.system, 0, options), options, "", folder.path / "set", {.count = 50});
  TrainOptions train_options = small(oup.system, 5);
  train_options.lengths = {40, 40};
  train_options.dataset_folder = (folder.path / "set").string();
  EXPECT_NE(refusal<DataError>([&] { run(oup.system, train_options, folder.path / "model"); }).find("holds trajectories of soup, not of oup"), std::string::npos);
  TrainOptions good = small(soup.system, 5);
  good.lengths = {40, 40};
  good.dataset_folder = train_options.dataset_folder;
  EXPECT_TRUE(run(soup.system, good, folder.path / "model").is_complete);
}

// Every way to damage a model file: each must be refused with a reason, never crash, never load.
TEST(model_file_test, damaged_files_are_refused) {
  const Folder folder;
  const System system = load_system("soup").system;
  run(system, small(system, 4), folder.path / "model");
  const std::string good = read_text_file((folder.path / "model").string());
  const fs::path bad = folder.path / "bad";
  const auto refused = [&](const std::string& bytes) {
    std::ofstream(bad, std::ios::binary) << bytes;
    return refusal<ModelError>([&] { load_network(open_model(bad)); });
  };
  EXPECT_EQ(refused(good), "accepted");
  for (size_t size = 0; size < good.size(); size += 1 + good.size() / 97) EXPECT_NE(refused(good.substr(0, size)), "accepted") << size;
  for (size_t at = 0; at < good.size(); at += 1 + good.size() / 211) {
    std::string changed = good;
    changed[at] = static_cast<char>(changed[at] ^ 0x41);
    EXPECT_NE(refused(changed), "accepted") << at;
  }
  EXPECT_NE(refused(good + "x"), "accepted");
  EXPECT_NE(refused("").find("bad"), std::string::npos);

  // Well-formed files that are no models, or models of another version.
  const auto with_format = [&](const std::string& format) {
    write_safetensors(bad, {{"format", format}}, {});
    return refusal<ModelError>([&] { load_network(open_model(bad)); });
  };
  EXPECT_NE(with_format("penn model 99").find("model format 99, this program reads 2"), std::string::npos);
  EXPECT_NE(with_format("penn checkpoint 1").find("unfinished training"), std::string::npos);
  EXPECT_NE(with_format("pt").find("not a model of penn"), std::string::npos);
}

}  // namespace
}  // namespace penn
