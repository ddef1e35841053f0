#include "paper/session.h"

#include <fmt/core.h>

#include <algorithm>

#include "penn/answer/infer.h"
#include "penn/base/files.h"

namespace penn {
namespace fs = std::filesystem;
namespace {

bool is_training(const std::string& name) {
  return std::any_of(trainings().begin(), trainings().end(), [&](const Training& t) { return t.name == name; });
}

// "cfhn-x1" -> "cfhn:x1", "soup-paper" -> "soup --preset paper": how `penn train` is asked for a shipped model.
std::string train_words(const std::string& name) {
  const size_t dash = name.find('-');
  if (dash == std::string::npos) return name;
  const std::string system = name.substr(0, dash), rest = name.substr(dash + 1);
  return rest == "paper" ? system + " --preset paper" : system + ":" + rest;
}

}  // namespace

fs::path Session::shipped_path(const std::string& name) const {
  std::error_code ignored;
  if (!options_.models.empty()) {
    const fs::path file = fs::path(options_.models) / (name + ".safetensors");
    return fs::is_regular_file(file, ignored) ? file : fs::path();
  }
  return shipped_model(name);
}

bool Session::has_model(const std::string& name) const {
  return !shipped_path(name).empty();
}

fs::path Session::trained_path(const std::string& name) {
  const Training& training = find_training(name);
  const fs::path file = options_.folder / "models" / (name + ".safetensors");
  std::error_code ignored;
  if (fs::is_regular_file(file, ignored)) return file;
  if (!options_.train)
    throw MissingModel(fmt::format("'{}' is not trained yet, and nothing was given that trains", file.string()),
                       fmt::format("make it with: {}", training_command(training, options_.minutes, file)));
  fs::create_directories(file.parent_path(), ignored);
  if (!options_.train(training, options_.minutes, file)) throw Interrupted();
  return file;
}

const Estimator& Session::estimator(const std::string& name) {
  std::unique_ptr<Estimator>& kept = estimators_[name];
  if (kept) return *kept;
  if (is_training(name)) {
    const fs::path file = trained_path(name);
    Model model = open_model(file);
    check_training(model, find_training(name));
    kept = std::make_unique<Estimator>(std::move(model), options_.threads);
    return *kept;
  }
  const fs::path file = shipped_path(name);
  if (file.empty()) {
    const std::string folder = options_.models.empty() ? "models" : options_.models;
    throw MissingModel(fmt::format("there is no model '{}' in {}", name,
                                   options_.models.empty() ? "the shipped models" : "'" + options_.models + "'"),
                       fmt::format("make it with: penn train {} --minutes 60 -o {}", train_words(name),
                                   shell_word(fmt::format("{}/{}.safetensors", folder, name))));
  }
  kept = std::make_unique<Estimator>(open_model(file), options_.threads);
  return *kept;
}

const Evaluation& Session::evaluation(const std::string& name) {
  std::unique_ptr<Evaluation>& kept = evaluations_[name];
  if (kept) return *kept;
  const Estimator& model = estimator(name);
  EvaluationOptions options{.count = options_.count, .seed = options_.seed, .threads = options_.threads, .keep = true};
  options.progress = [&](int64_t done) {
    return !options_.progress || options_.progress("evaluating " + name, done, options_.count);
  };
  Evaluation result = evaluate(model, name, options);
  if (!result.is_complete) throw Interrupted();
  kept = std::make_unique<Evaluation>(std::move(result));
  return *kept;
}

Answer Session::answer(const std::string& name, const TestTrajectory& test) {
  const Estimator& model = estimator(name);
  ObservedTrajectory observed = simulate_test(model.system(), model.observation(), test, model.info().lengths);
  const std::vector<Inference> answers = infer(model, name, {observed});
  const int64_t wanted = test.length > 0 ? test.length : model.system().simulation.length.high;
  return {test, observed, answers[0], wanted};
}

}  // namespace penn
