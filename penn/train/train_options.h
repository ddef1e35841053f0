// Every setting of a training in one plain struct, as it is stored with the model, and the list that says each once:
// its name, where it is kept, what it may be and what it means. The command line, the model file and the checks walk
// the list.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "penn/network/network_options.h"
#include "penn/system/system.h"

namespace penn {

struct TrainOptions {
  std::string preset = "fast";
  double minutes = 0;  // the budget: exactly one of three is positive
  int64_t steps = 0, epochs = 0;
  int64_t batch = 384;
  std::vector<std::string> encoders;  // side by side; empty: the preset's
  int64_t components = 10;
  std::string covariance = "full";
  std::string coordinates = "probit";
  std::string
      dataset;       // "": fresh trajectories for every batch; else a fixed set: a number of trajectories, or a folder
  IntRange lengths;  // samples per trajectory
  int64_t validation = 2000;
  int64_t recalibration = -1;  // -1: by the budget (recalibration_count)
  std::string optimiser = "soap";
  double learning_rate = 2e-3;
  uint64_t seed = 1;
  bool constant_rate = false;       // else warm-up and cosine decay to 0 at the end of the budget
  double warm_up = 0.02;            // fraction of the budget
  double load_balancing = 0.3;      // load-balancing loss (docs/method.md, (6)); fades with the rate
  double auxiliary_loss = 0.5;      // per-component auxiliary loss (docs/method.md, (5))
  double auxiliary_fraction = 0.5;  // of the budget, over which it fades
  double weight_decay = 0;
  double clip = 1;           // of the gradient's norm; 0: none
  double ema = 0.999;        // of the weights that are validated and kept; 0: none
  int64_t validations = 40;  // during the budget

  int64_t dataset_size() const;  // 0: fresh trajectories, or a folder
  std::string dataset_folder() const;
};

// help: for the command line, with dashes instead of underscores; none: not offered there. words: what a text may be.
template <class T>
struct TrainOption {
  const char* name;
  T TrainOptions::*member;
  double low, high;
  std::vector<std::string> words;
  const char* help = nullptr;
};

// Calls f(option) for each of them, in the order of the model file and of --help.
template <class F>
void for_each_option(F&& f) {
  using O = TrainOptions;
  constexpr double kMost = 1e15, kNoLimit = std::numeric_limits<double>::infinity();
  const auto number = [&]<class T>(const char* name, T O::*member, double low, double high,
                                   const char* help = nullptr) {
    f(TrainOption<T>{name, member, low, high, {}, help});
  };
  const auto text = [&]<class T>(const char* name, T O::*member, std::vector<std::string> words,
                                 const char* help = nullptr) {
    f(TrainOption<T>{name, member, -kNoLimit, kNoLimit, std::move(words), help});
  };
  text("preset", &O::preset, {"fast", "paper"}, "fast (default), or paper: the network and training of the paper");
  number("minutes", &O::minutes, 0, 1e6, "Budget in minutes (default: 10)");
  number("steps", &O::steps, 0, kMost, "Budget in steps");
  number("epochs", &O::epochs, 0, kMost, "Budget in epochs of a fixed data set");
  number("batch", &O::batch, 2, 1e6, "Trajectories per step");
  text("encoders", &O::encoders, {"statistics", "lstm"},
       "What summarises a trajectory, one or both, with commas: statistics (default of fast), lstm (default of paper)");
  number("components", &O::components, 1, 1000, "Components of the mixture");
  text("covariance", &O::covariance, {"full", "diagonal"}, "full (default) or diagonal");
  text(
      "coordinates", &O::coordinates, {},
      "probit: the posterior keeps to the ranges of the parameters (default of fast, up to 8 parameters); linear: a "
      "Gaussian mixture of the parameters themselves; a,b,c: probit for these, those hardly identified, and linear for "
      "the others; auto (default of fast with more): by a short training");
  text(
      "dataset", &O::dataset, {},
      "Train on a fixed set: a number of trajectories, or a directory of `penn simulate` (default: always fresh ones)");
  text("length", &O::lengths, {}, "Samples per trajectory: n, or low:high for a model that serves all lengths between");
  number("validation", &O::validation, 100, 1e7, "Trajectories of the validation set");
  number("recalibration", &O::recalibration, -1, 1e6,
         "Fresh trajectories on which the scales of the posteriors are recalibrated at the end, over all lengths "
         "(default: a "
         "fiftieth of those trained with, at most 24,000, or none where that is below 2,000, with --preset paper and "
         "with --dataset); 0: none");
  text("optimiser", &O::optimiser, {"soap", "adam"}, "soap (default: Adam in the gradients' own basis) or adam");
  number("learning_rate", &O::learning_rate, 1e-12, 1, "Peak learning rate");
  number("seed", &O::seed, -1, kNoLimit, "Seed of all random numbers");
  number("constant_rate", &O::constant_rate, 0, 1);
  number("warm_up", &O::warm_up, 0, 1);
  number("load_balancing", &O::load_balancing, 0, kMost);
  number("auxiliary_loss", &O::auxiliary_loss, 0, kMost);
  number("auxiliary_fraction", &O::auxiliary_fraction, 1e-9, 1);
  number("weight_decay", &O::weight_decay, 0, 1);
  number("clip", &O::clip, 0, kMost);
  number("ema", &O::ema, 0, 1);
  number("validations", &O::validations, 1, 1e6);
}

nlohmann::ordered_json to_json(const TrainOptions& options);
TrainOptions train_options_from_json(const nlohmann::json& json);  // ModelError for what does not fit

// The names of the entries that differ, for "--resume with other options".
std::vector<std::string> differing_options(const TrainOptions& a, const TrainOptions& b);

// The defaults of a preset for a system; UsageError for an unknown preset. `paper` takes data-set size, batch and
// epochs from the [paper] section of the system file where it has one.
TrainOptions preset_options(const std::string& preset, const System& system);
std::vector<std::string> coordinates_of(const std::string& text,
                                        const System& system);  // (M); UsageError for a name that is no parameter
NetworkOptions network_for(const TrainOptions& options, const System& system, int observation);

// For a training that has seen so many trajectories: a fiftieth of them, at most 24,000, over all lengths; or none
// where they are too few to measure a scale (2,000), or where the training was given a fixed set: it must not see
// more.
int64_t recalibration_count(const TrainOptions& options, int64_t trajectories);

// Throws UsageError where the values make no sense together.
void check_options(const TrainOptions& options);

}  // namespace penn
