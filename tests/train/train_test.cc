#include "penn/train/trainer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/files_for_tests.h"
#include "penn/base/error.h"
#include "penn/base/files.h"
#include "penn/base/safetensors.h"
#include "penn/evaluate/evaluation.h"
#include "penn/simulate/write_dataset.h"
#include "penn/system/load_system.h"

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

TrainResult run(const System& system, const TrainOptions& options, const fs::path& model, bool resume = false,
                int64_t stop_at = -1, int threads = 0) {
  TrainRun r;
  r.threads = threads;
  r.options = options;
  r.model = model;
  r.resume = resume;
  int64_t asked = 0;
  if (stop_at >= 0) r.should_stop = [&asked, stop_at] { return asked++ >= stop_at; };
  return train(system, 0, r);
}

// Everything a training has produced, but for the clock's minutes.
void expect_same(const Model& a, const Model& b, const std::string& what) {
  SCOPED_TRACE(what);
  EXPECT_TRUE(std::ranges::equal(a.network.weights(), b.network.weights()));
  if (a.network.statistics()) {
    EXPECT_EQ(a.network.statistics()->scaling(), b.network.statistics()->scaling());
    EXPECT_EQ(a.network.statistics()->centre(), b.network.statistics()->centre());
    EXPECT_EQ(a.network.statistics()->unit(), b.network.statistics()->unit());
  }
  if (a.network.lstm()) {
    EXPECT_EQ(a.network.lstm()->centre(), b.network.lstm()->centre());
    EXPECT_EQ(a.network.lstm()->unit(), b.network.lstm()->unit());
  }
  const ModelInfo &x = a.info, &y = b.info;
  EXPECT_EQ(x.system_text, y.system_text);
  EXPECT_EQ(x.network, y.network);
  EXPECT_EQ(*x.training, *y.training);
  EXPECT_EQ(x.value_low, y.value_low);
  EXPECT_EQ(x.value_high, y.value_high);
  EXPECT_EQ(x.quantised, y.quantised);
  EXPECT_EQ(x.discarded_fraction, y.discarded_fraction);
  EXPECT_EQ(x.validation_nll, y.validation_nll);
  EXPECT_EQ(x.steps, y.steps);
  EXPECT_EQ(x.typicality.mean, y.typicality.mean);
  EXPECT_EQ(x.typicality.directions, y.typicality.directions);
  EXPECT_EQ(x.typicality.spread, y.typicality.spread);
  EXPECT_EQ(x.typicality.inside, y.typicality.inside);
  EXPECT_EQ(x.typicality.outside, y.typicality.outside);
  EXPECT_EQ(x.recalibration.lengths, y.recalibration.lengths);
  EXPECT_EQ(x.recalibration.factors, y.recalibration.factors);
  ASSERT_EQ(x.curve.size(), y.curve.size());
  for (size_t i = 0; i < x.curve.size(); ++i) {
    EXPECT_EQ(x.curve[i].step, y.curve[i].step);
    EXPECT_EQ(x.curve[i].trajectories, y.curve[i].trajectories);
    EXPECT_EQ(x.curve[i].train_nll, y.curve[i].train_nll) << i;
    EXPECT_EQ(x.curve[i].validation_nll, y.curve[i].validation_nll) << i;
    EXPECT_EQ(x.curve[i].learning_rate, y.curve[i].learning_rate);
  }
}

// The bytes of a model file with the clock's minutes set to zero.
std::string bytes_without_clock(Model model, const fs::path& scratch) {
  model.info.minutes = 0;
  for (LossPoint& point : model.info.curve) point.minutes = 0;
  save_model(scratch, model);
  return read_whole(scratch);
}

// All terms of the loss, several lengths in a step, scales recalibrated at the end; and the paper's training, smaller.
TrainOptions small_training(const std::string& preset, const System& system) {
  if (preset == "fast") {
    TrainOptions options = small(system, 60);
    options.recalibration = 1000;
    return options;
  }
  if (preset == "fast, fixed set") {
    TrainOptions options = small(system, 30);
    options.lengths = {30, 30}, options.dataset = "150";
    return options;
  }
  TrainOptions options = preset_options("paper", system);
  options.steps = 12, options.epochs = 0, options.dataset = "64", options.batch = 20, options.lengths = {30, 30},
  options.validation = 100, options.validations = 3;
  options.load_balancing = 0.3, options.auxiliary_loss = 0.5;
  return options;
}

TEST(train_test, the_same_bits_come_out_on_any_number_of_threads) {
  const Folder folder;
  const System system = load_system("soup").system;
  for (const char* preset : {"fast", "fast, fixed set", "paper"}) {
    const TrainOptions options = small_training(preset, system);
    EXPECT_GT(options.load_balancing, 0);
    EXPECT_GT(options.auxiliary_loss, 0);
    std::optional<Model> first;
    for (const int threads : {1, 2, 3, 5}) {
      const TrainResult result = run(system, options, folder.path / "model", false, -1, threads);
      ASSERT_TRUE(result.model);
      EXPECT_EQ(result.progress.skipped, 0);
      if (!first) first = result.model;
      expect_same(*first, *result.model, std::string(preset) + ", threads: " + std::to_string(threads));
      EXPECT_EQ(bytes_without_clock(open_model(folder.path / "model"), folder.path / "a"),
                bytes_without_clock(*first, folder.path / "b"));
    }
  }
}

TEST(train_test, trajectories_discarded_before_a_stop_are_counted) {
  const Folder folder;
  const System system = load_system("cfhn:x1").system;
  TrainOptions options = small(system, 12);
  options.batch = 100, options.lengths = {20, 20}, options.coordinates = "linear";
  const TrainResult whole = run(system, options, folder.path / "whole", false, -1, 2);
  EXPECT_FALSE(run(system, options, folder.path / "parts", false, 6, 2).model);
  const TrainResult parts = run(system, options, folder.path / "parts", true, -1, 2);
  ASSERT_TRUE(whole.model && parts.model);
  EXPECT_GT(whole.progress.simulated.discarded, 0);
  EXPECT_EQ(whole.progress.simulated.kept, 1200);
  EXPECT_EQ(whole.progress.simulated.discarded, parts.progress.simulated.discarded);
  EXPECT_EQ(whole.model->info.discarded_fraction, parts.model->info.discarded_fraction);
}

TEST(train_test, a_resumed_training_is_bit_for_bit_the_uninterrupted_one_even_on_other_threads) {
  const Folder folder;
  const System system = load_system("soup").system;
  for (const char* preset : {"fast", "fast, fixed set", "paper"}) {
    const TrainOptions options = small_training(preset, system);
    const fs::path whole = folder.path / (std::string("whole-") + preset),
                   parts = folder.path / (std::string("parts-") + preset);
    EXPECT_TRUE(run(system, options, whole, false, -1, 2).model);
    EXPECT_FALSE(run(system, options, parts, false, 5, 1).model);
    EXPECT_FALSE(fs::exists(parts));
    EXPECT_FALSE(run(system, options, parts, true, 4, 3).model);
    EXPECT_TRUE(run(system, options, parts, true, -1, 5).model);
    EXPECT_FALSE(fs::exists(checkpoint_path(parts)));
    expect_same(open_model(whole), open_model(parts), preset);
    EXPECT_EQ(bytes_without_clock(open_model(whole), folder.path / "a"),
              bytes_without_clock(open_model(parts), folder.path / "b"));
  }
}

TEST(train_test, an_estimator_of_a_live_training_answers_as_the_saved_and_reopened_file) {
  const Folder folder;
  const System system = load_system("soup").system;
  for (const char* preset : {"fast", "paper"}) {
    const TrainResult result = run(system, small_training(preset, system), folder.path / "model");
    ASSERT_TRUE(result.model);
    const Estimator live(*result.model, 2), reopened(open_model(folder.path / "model"), 1);
    const int64_t n = live.info().lengths.high;
    const TrajectoryBatch set = simulate_set(system, 0, {.seed = 9, .length = n}, 20).all;
    const std::vector<Estimate> a = live.estimate(set.z.data(), 20, n, set.sampling.data()),
                                b = reopened.estimate(set.z.data(), 20, n, set.sampling.data());
    for (size_t i = 0; i < 20; ++i) {
      EXPECT_EQ(a[i].typicality, b[i].typicality) << preset;
      EXPECT_EQ(a[i].posterior.mean(), b[i].posterior.mean()) << preset;
      for (const double x : {-0.2, 0.4, 1.1})
        EXPECT_EQ(a[i].posterior.log_density(std::vector<double>{x, 0.5}),
                  b[i].posterior.log_density(std::vector<double>{x, 0.5}))
            << preset;
    }
  }
}

TEST(train_test, the_end_recalibrates_and_may_be_interrupted) {
  const Folder folder;
  const System system = load_system("soup").system;
  TrainOptions options = small(system, 24);
  options.recalibration = 1200;
  const fs::path whole = folder.path / "whole", parts = folder.path / "parts";
  const TrainResult result = run(system, options, whole);
  ASSERT_TRUE(result.model);
  EXPECT_EQ(result.recalibration_problem, "");
  const Recalibration& recalibration = result.model->info.recalibration;
  ASSERT_EQ(recalibration.lengths, (std::vector<int64_t>{40, 49, 60}));
  EXPECT_EQ(recalibration.trajectories, 400);
  EXPECT_EQ(open_model(whole).info.recalibration.factors, recalibration.factors);
  EXPECT_FALSE(run(system, options, parts, false, 24).model);  // all steps are done, recalibration is not
  EXPECT_FALSE(fs::exists(parts));
  EXPECT_TRUE(fs::exists(checkpoint_path(parts)));
  EXPECT_TRUE(run(system, options, parts, true).model);
  expect_same(open_model(whole), open_model(parts), "recalibration");
}

TEST(train_test, without_a_path_nothing_is_written) {
  const System system = load_system("soup").system;
  const TrainResult result = run(system, small(system, 4), "");
  ASSERT_TRUE(result.model);
  EXPECT_FALSE(fs::exists(".checkpoint"));
  EXPECT_FALSE(fs::exists(".csv"));
}

// Renamed since version 0.1, whose checkpoints are read for one version more.
TEST(train_test, option_names_of_version_0_1_are_read) {
  TrainOptions options;
  options.recalibration = 5000, options.load_balancing = 0.2, options.auxiliary_loss = 0.7;
  options.auxiliary_fraction = 0.4;
  const nlohmann::json now = to_json(options);
  nlohmann::json old = now;
  for (const auto& [old_key, new_key] : {std::pair{"calibration", "recalibration"},           // version 0.1
                                         std::pair{"balance", "load_balancing"},              // version 0.1
                                         std::pair{"lesson", "auxiliary_loss"},               // version 0.1
                                         std::pair{"lesson_share", "auxiliary_fraction"}}) {  // version 0.1
    old[old_key] = now.at(new_key);
    old.erase(new_key);
  }
  old["coordinates"] = "box";  // version 0.1
  EXPECT_EQ(nlohmann::json(to_json(train_options_from_json(old))), now);
}

TEST(train_test, how_many_trajectories_recalibrate) {
  const System system = load_system("soup").system;
  TrainOptions options = preset_options("fast", system);
  EXPECT_EQ(recalibration_count(options, 50'000), 0);  // too few to tell
  EXPECT_EQ(recalibration_count(options, 500'000), 10'000);
  EXPECT_EQ(recalibration_count(options, 50'000'000), 24'000);
  options.dataset = "1000";
  EXPECT_EQ(recalibration_count(options, 500'000), 0);
  EXPECT_EQ(recalibration_count(preset_options("paper", system), 500'000), 0);
  options.recalibration = 5000;
  EXPECT_EQ(train_options_from_json(to_json(options)).recalibration, 5000);
  options.steps = 1, options.lengths = {1000, 1000};
  EXPECT_NO_THROW(check_options(options));
  options.recalibration = 10;
  EXPECT_THROW(check_options(options), UsageError);
}

TEST(train_test, training_learns_in_all_coordinates) {
  const Folder folder;
  const System system = load_system("soup").system;
  for (const std::string coordinates : {"probit", "linear", "D"}) {
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
    const Model model = open_model(path);
    EXPECT_EQ(model.info.network.is_probit(1), coordinates != "linear");
    EXPECT_EQ(model.info.network.is_probit(0), coordinates == "probit");
    EXPECT_NEAR(model.info.validation_nll, result.progress.best_nll,
                1e-3);  // that of the weights as they are stored, in half precision
    EXPECT_EQ(model.info.system_text, system.text);
    EXPECT_EQ(model.info.typicality.inside.size(), 1001u);
    EXPECT_TRUE(fs::exists(path.string() + ".csv"));
    // What is printed is in the parameters' own units: other trajectories give the same. Standard errors 0.06 of the
    // 400, 0.03 of these.
    const Evaluation evaluation = evaluate(Estimator(open_model(path), 2), "soup", {.count = 2000, .threads = 2});
    EXPECT_NEAR(evaluation.report.nll.mean, model.info.validation_nll, 0.25) << coordinates;
  }
}

TEST(train_test, encoders_stand_side_by_side) {
  const Folder folder;
  const System system = load_system("soup").system;
  TrainOptions options = small(system, 8);
  options.encoders = {"statistics", "lstm"};
  run(system, options, folder.path / "both");
  const Model model = open_model(folder.path / "both");
  EXPECT_EQ(model.info.network.encoders, options.encoders);
  EXPECT_EQ(train_options_from_json(to_json(options)).encoders, options.encoders);
  const Evaluation evaluation =
      evaluate(Estimator(open_model(folder.path / "both"), 2), "soup", {.count = 200, .threads = 2});
  EXPECT_NEAR(evaluation.report.nll.mean, model.info.validation_nll, 0.5);
}

TEST(train_test, coordinates_of_many_parameters_are_found_by_a_pilot_run) {
  const auto coordinates = [](const char* preset, const char* name) {
    return preset_options(preset, load_system(name).system).coordinates;
  };
  EXPECT_EQ(coordinates("fast", "dvdp"), "probit");
  EXPECT_EQ(coordinates("fast", "airfoil"), "auto");
  EXPECT_EQ(coordinates("paper", "dvdp"), "linear");
  EXPECT_THROW(coordinates_of("D1,nothing", load_system("dvdp").system), UsageError);
}

TEST(train_test, options_that_make_no_sense_are_refused) {
  const Folder folder;
  const System system = load_system("soup").system;
  const auto refused = [&](auto change) {
    TrainOptions options = small(system, 5);
    change(options);
    const std::string message = error_text<UsageError>([&] { run(system, options, folder.path / "model"); });
    EXPECT_FALSE(fs::exists(folder.path / "model"));
    return message;
  };
  EXPECT_NE(error_text<UsageError>([&] { preset_options("quick", system); }).find("unknown preset 'quick'"),
            std::string::npos);
  EXPECT_NE(refused([](TrainOptions& o) { o.components = 0; }).find("--components must lie in 1 to 1000, got 0"),
            std::string::npos);
  EXPECT_NE(refused([](TrainOptions& o) { o.steps = 0; }).find("budget"), std::string::npos);
  EXPECT_NE(refused([](TrainOptions& o) { o.steps = 0, o.epochs = 3; }).find("fixed data set"), std::string::npos);
  EXPECT_NE(refused([](TrainOptions& o) {
              o.dataset = "20", o.lengths = {40, 40};
            }).find("larger than the data set of 20"),
            std::string::npos);
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
  train_options.dataset = (folder.path / "set").string();
  EXPECT_NE(error_text<DataError>([&] {
              run(oup.system, train_options, folder.path / "model");
            }).find("holds trajectories of soup, not of oup"),
            std::string::npos);
  TrainOptions good = small(soup.system, 5);
  good.lengths = {40, 40};
  good.dataset = train_options.dataset;
  EXPECT_TRUE(run(soup.system, good, folder.path / "model").model);
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
    return error_text_or_accepted<ModelError>([&] { open_model(bad); });
  };
  EXPECT_EQ(refused(good), "accepted");
  for (size_t size = 0; size < good.size(); size += 1 + good.size() / 97)
    EXPECT_NE(refused(good.substr(0, size)), "accepted") << size;
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
    return error_text<ModelError>([&] { open_model(bad); });
  };
  EXPECT_NE(with_format("penn model 99").find("model format 99, this program reads 3"), std::string::npos);
  EXPECT_NE(with_format("penn checkpoint 1").find("unfinished training"), std::string::npos);
  EXPECT_NE(with_format("pt").find("not a model of penn"), std::string::npos);
}

}  // namespace
}  // namespace penn
