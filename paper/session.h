// What the pages of one run share: models are opened once, and evaluated once for all pages that need it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "paper/test_trajectories.h"
#include "paper/trainings.h"
#include "penn/answer/inference.h"
#include "penn/base/error.h"
#include "penn/evaluate/evaluation.h"

namespace penn {

struct ReproduceOptions {
  std::filesystem::path folder = {};  // of the pages; models trained for them lie in its folder "models"
  std::string models = {};            // folder of the shipped models; "": where they are shipped
  int64_t count = 20000;              // trajectories of an evaluation
  double minutes = 10;                // of one training
  uint64_t seed = 1;                  // of evaluations; the trajectories that are shown have seeds of their own
  int threads = 0;                    // 0: one per processor
  Train train = {};                   // empty: what is not trained yet is missing
  std::function<bool(const std::string& what, int64_t done, int64_t total)> progress = {};  // false stops
};

// A page cannot be made because a model is not there; the hint says which command makes it.
class MissingModel : public ModelError {
 public:
  using ModelError::ModelError;
};

class Interrupted : public Error {
 public:
  Interrupted() : Error("interrupted", "the same command goes on where it stopped") {}
};

// One test trajectory seen by one model.
struct Answer {
  TestTrajectory test;
  ObservedTrajectory observed;
  Inference inference;
  int64_t wanted = 0;  // samples the paper shows; observed.n is another where the model does not know that length
};

class Session {
 public:
  explicit Session(ReproduceOptions options) : options_(std::move(options)) {}

  const ReproduceOptions& options() const { return options_; }
  // A shipped model, or one of trainings(), which is trained now where it is not finished. MissingModel, Interrupted.
  const Estimator& estimator(const std::string& name);
  bool has_model(const std::string& name) const;  // shipped and here
  const Evaluation& evaluation(const std::string& name);
  Answer answer(const std::string& name, const TestTrajectory& test);

 private:
  std::filesystem::path shipped_path(const std::string& name) const;  // "" where there is none
  std::filesystem::path trained_path(const std::string& name);

  ReproduceOptions options_;
  std::map<std::string, std::unique_ptr<Estimator>> estimators_;
  std::map<std::string, std::unique_ptr<Evaluation>> evaluations_;
};

}  // namespace penn
