#include "penn/train/trainer.h"

#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "penn/base/csv.h"
#include "penn/base/csv_writer.h"
#include "penn/base/error.h"
#include "penn/base/files.h"
#include "penn/base/parallel.h"
#include "penn/evaluate/recalibrate.h"
#include "penn/model/measure_typicality.h"
#include "penn/network/mixture_output.h"
#include "penn/network/network_file.h"
#include "penn/train/gradients.h"
#include "penn/train/network_coordinates.h"
#include "penn/train/schedule.h"
#include "penn/train/training_data.h"

namespace penn {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostSkippedInARow = 10;  // then the weights go back to the last good ones
constexpr int64_t kMostRollbacks = 20;
constexpr double kValidationSaves = 5;  // seconds since the last checkpoint after which a validation writes one

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class Trainer {
 public:
  Trainer(const System& system, int observation, const TrainRun& run, const TrainReport& report)
      : system_(system),
        observation_(observation),
        run_(run),
        options_(run.options),
        report_(report),
        threads_(run.threads > 0 ? run.threads : processor_count()),
        data_(system, observation, checked(options_), threads_),
        network_(network_for(options_, system, observation)),
        coordinates_(system, network_.options()),
        optimiser_(network_.blocks(), network_.weights(), optimiser_for(options_)) {
    if (run_.resume) {
      progress_ = read_checkpoint(checkpoint_path(run_.model)).progress;
      simulated_before_ = progress_.simulated;
      restore_checkpoint(checkpoint_path(run_.model), network_, optimiser_, best_);
    } else {
      network_.set_random_weights(options_.seed);
      const TrajectoryBatch batch = data_.for_scaling();
      network_.fit_input_scaling(batch.z.data(), batch.count, batch.length, threads_);
      optimiser_ = Optimiser(network_.blocks(), network_.weights(),
                             optimiser_for(options_));  // its average starts from these weights
    }
    data_.keep_features(network_);
    keep_as_good();
  }

  TrainResult run() {
    TrainResult result;
    if (loop()) {
      save();  // also here: recalibration takes its time and may be interrupted
      result.model = finished_model(result.recalibration_problem);
    }
    if (result.model && !run_.model.empty()) {
      save_model(run_.model, *result.model);
      write_curve();
      std::error_code ignored;
      fs::remove(checkpoint_path(run_.model), ignored);
    }
    result.progress = progress_;
    result.simulating_fraction = simulating_fraction();
    rusage usage = {};
    getrusage(RUSAGE_SELF, &usage);
    result.peak_memory = static_cast<int64_t>(usage.ru_maxrss) * 1024;
    return result;
  }

 private:
  static const TrainOptions& checked(const TrainOptions& options) {
    check_options(options);
    return options;
  }

  // False: stopped.
  bool loop() {
    double saved = seconds_now();
    while (fraction_of_budget() < 1) {
      if (run_.should_stop()) {
        save();
        return false;
      }
      step();
      // Validations are spread evenly over the budget; the last one falls on its end.
      const bool is_due = fraction_of_budget() * options_.validations >= progress_.validations + 1;
      if (is_due) validate();
      else show();
      if (seconds_now() - saved >
          std::min(is_due ? kValidationSaves : run_.checkpoint_seconds, run_.checkpoint_seconds)) {
        save();
        saved = seconds_now();
      }
    }
    if (progress_.curve.empty() || progress_.curve.back().step != static_cast<double>(progress_.step)) validate();
    return true;
  }

  void step() {
    const double start = seconds_now(), fraction = fraction_of_budget();
    data_.fill(progress_.step, chunks_);
    simulating_ += seconds_now() - start;
    // What keeps the components in use fades, the balance with the rate, so that the end of a training minimises the
    // NLL alone.
    const double rate = learning_rate_at(options_, fraction);
    const LossTerms terms{.load_balancing = options_.load_balancing * rate / options_.learning_rate,
                          .auxiliary = auxiliary_loss_at(options_, fraction)};
    const BatchLoss loss = gradients_.compute(network_, chunks_, coordinates_.of(chunks_), terms, threads_);
    progress_.bad_rows += loss.bad;
    if (loss.good > 0 && std::isfinite(loss.nll) &&
        optimiser_.step(network_.weights(), gradients_.gradient(), rate, threads_)) {
      progress_.skipped_in_a_row = 0;
      progress_.train_nll += (loss.nll + coordinates_.expected_log_slope()) * static_cast<double>(loss.good);
      progress_.train_count += static_cast<double>(loss.good);
    } else {
      ++progress_.skipped;
      if (++progress_.skipped_in_a_row >= kMostSkippedInARow) roll_back();
    }
    ++progress_.step;
    ++steps_here_;
    progress_.seconds += seconds_now() - start;
    seconds_here_ += seconds_now() - start;
  }

  // NLL of the averaged weights on the validation set; the best weights are kept.
  void validate() {
    Network averaged = network_;
    std::ranges::copy(optimiser_.averaged(network_.weights()), averaged.weights().begin());
    const double nll = validation_nll(averaged);
    if (std::isfinite(nll) && (best_.empty() || nll < progress_.best_nll)) {
      progress_.best_nll = nll;
      best_.assign(averaged.weights().begin(), averaged.weights().end());
    }
    ++progress_.validations;
    progress_.curve.push_back({progress_.seconds / 60, static_cast<double>(progress_.step),
                               static_cast<double>(progress_.step * options_.batch), train_nll(), nll,
                               learning_rate_at(options_, fraction_of_budget())});
    show(true);
    progress_.train_nll = progress_.train_count = 0;
    if (std::isfinite(nll)) keep_as_good();
  }

  double validation_nll(const Network& network) const {
    const MixtureShape& shape = network.options().mixture;
    double sum = 0, count = 0;
    for (const TrajectoryBatch& set : data_.validation()) {
      const std::vector<float> theta = coordinates_.of({&set, 1});
      std::vector<float> embedding(static_cast<size_t>(set.count * network.embedding_size())),
          raw(static_cast<size_t>(set.count * shape.size()));
      network.embed(set.z.data(), set.count, set.length, set.sampling.data(), embedding.data(), threads_);
      network.decode(embedding.data(), set.count, raw.data(), threads_);
      std::vector<double> log_q(static_cast<size_t>(set.count));
      std::vector<uint8_t> bad(log_q.size());
      mixture_rows(shape, 0, set.count, raw.data(), theta.data(), 0, log_q.data(), bad.data(), nullptr, nullptr);
      for (size_t i = 0; i < log_q.size(); ++i) {
        sum -= log_q[i];
        count += 1 - bad[i];
      }
    }
    return sum / count + coordinates_.log_slope(data_.validation());
  }

  void keep_as_good() {
    good_weights_.assign(network_.weights().begin(), network_.weights().end());
    good_state_ = optimiser_.state();
  }
  void roll_back() {
    std::ranges::copy(good_weights_, network_.weights().begin());
    optimiser_.set_state(good_state_);
    progress_.skipped_in_a_row = 0;
    if (++progress_.rollbacks > kMostRollbacks)
      throw Error("training does not get beyond losses that are not finite",
                  "use a smaller learning rate, or narrower parameter ranges");
  }

  // None: stopped during recalibration.
  std::optional<Model> finished_model(std::string& recalibration_problem) {
    if (best_.empty())
      throw Error("training gave no usable network: every validation was not finite",
                  "use a smaller learning rate, or narrower parameter ranges");
    Model model{run_.model.string(), {}, system_, observation_, network_};
    std::ranges::copy(best_, model.network.weights().begin());
    round_as_stored(model.network);  // what follows is said of the network as it will be read back
    ModelInfo& info = model.info;
    info.version = version();
    info.system_text = system_.text;
    info.observation = system_.observations[static_cast<size_t>(observation_)].name;
    info.network = network_.options();
    info.training = to_json(options_);
    info.lengths = options_.lengths;
    info.sampling = system_.simulation.sampling;
    info.discarded_fraction = progress_.simulated.discarded_fraction();
    info.validation_nll = validation_nll(model.network);
    info.steps = progress_.step;
    info.trajectories = progress_.step * options_.batch;
    info.curve = progress_.curve;
    if (options_.minutes > 0) info.minutes = progress_.seconds / 60;
    else
      for (LossPoint& p : info.curve)
        p.minutes = 0;  // the same options, the same file: the clock is in MODEL.csv alone
    measure_values(data_.validation(), info.value_low, info.value_high);
    info.quantised = find_quantised_channels(data_.validation());
    info.typicality = measure_typicality(model.network, data_.fresh(), data_.validation(), threads_);
    const int64_t count = recalibration_count(options_, info.trajectories);
    if (count == 0) return model;
    RecalibrationOptions options{.count = count, .threads = threads_};
    options.progress = [&](int64_t done, int64_t all) {
      show(false, static_cast<double>(done) / static_cast<double>(all));
      return !run_.should_stop();
    };
    try {
      const std::optional<Recalibration> measured = recalibrate(model, options);
      if (!measured) return {};
      info.recalibration = *measured;
    } catch (const std::exception& error) {
      recalibration_problem = error.what();  // hours of training must not be lost to a failure here
    }
    return model;
  }

  double fraction_of_budget() const {
    if (options_.minutes > 0) return progress_.seconds / (60 * options_.minutes);
    const int64_t steps = options_.steps > 0 ? options_.steps : options_.epochs * data_.steps_per_epoch();
    return static_cast<double>(progress_.step) / static_cast<double>(steps);
  }
  double train_nll() const {
    return progress_.train_count > 0 ? progress_.train_nll / progress_.train_count : std::nan("");
  }
  double simulating_fraction() const { return seconds_here_ > 0 ? simulating_ / seconds_here_ : 0; }

  void show(bool is_validation = false, double recalibrated = -1) const {
    if (!report_) return;
    TrainStatus status{.progress = &progress_, .fraction = std::min(1.0, fraction_of_budget())};
    status.seconds_left = status.fraction > 0 ? progress_.seconds / status.fraction - progress_.seconds : 0;
    status.trajectories_per_second =
        seconds_here_ > 0 ? static_cast<double>(steps_here_ * options_.batch) / seconds_here_ : 0;
    status.simulating_fraction = simulating_fraction();
    status.train_nll = train_nll();
    status.is_validation = is_validation;
    status.recalibrated = recalibrated;
    report_(status);
  }

  void save() {
    const SimulationCount here = data_.count();  // of this process; a fixed set is the same in each
    progress_.simulated = data_.steps_per_epoch() > 0 ? here
                                                      : SimulationCount{simulated_before_.kept + here.kept,
                                                                        simulated_before_.discarded + here.discarded};
    if (run_.model.empty()) return;
    save_checkpoint(checkpoint_path(run_.model),
                    {system_.text, system_.observations[static_cast<size_t>(observation_)].name, options_, progress_},
                    network_, optimiser_, best_);
  }

  void write_curve() const {
    CsvWriter writer(run_.model.string() + ".csv",
                     {fmt::format("penn {} train, loss curve; NLL in the parameters' own units", version())},
                     {"minutes", "step", "trajectories", "train_nll", "validation_nll", "learning_rate"});
    for (const LossPoint& p : progress_.curve) {
      const double row[] = {p.minutes, p.step, p.trajectories, p.train_nll, p.validation_nll, p.learning_rate};
      writer.row(std::span<const double>(row));
    }
    writer.finish();
  }

  const System& system_;
  int observation_;
  const TrainRun& run_;
  const TrainOptions& options_;
  const TrainReport& report_;
  int threads_;
  TrainingData data_;
  Network network_;
  NetworkCoordinates coordinates_;
  Optimiser optimiser_;
  Gradients gradients_;
  std::vector<TrajectoryBatch> chunks_;  // of the step
  Progress progress_;
  SimulationCount simulated_before_;  // by processes that this one goes on from
  std::vector<float> best_, good_weights_;
  Optimiser::State good_state_;
  double simulating_ = 0, seconds_here_ = 0;  // of this process
  int64_t steps_here_ = 0;
};

}  // namespace

TrainResult train(const System& system, int observation, const TrainRun& run, const TrainReport& report) {
  return Trainer(system, observation, run, report).run();
}

}  // namespace penn
