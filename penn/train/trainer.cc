#include "penn/train/trainer.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cmath>
#include <limits>

#include "penn/base/csv.h"
#include "penn/base/error.h"
#include "penn/base/files.h"
#include "penn/base/parallel.h"
#include "penn/dataset/batch_stream.h"
#include "penn/density/box_coordinates.h"
#include "penn/infer/measure_widths.h"
#include "penn/network/blas.h"
#include "penn/network/mixture_head.h"
#include "penn/network/network_file.h"
#include "penn/network/penn_network.h"
#include "penn/network/tensor_io.h"
#include "penn/train/familiarity.h"
#include "penn/train/learn.h"
#include "penn/train/schedule.h"

namespace penn {

namespace fs = std::filesystem;

fs::path checkpoint_path(const fs::path& model) { return model.string() + ".checkpoint"; }

namespace {

// Seeds of the sets that must not overlap with the training stream: trajectories are keyed by (seed, number).
constexpr uint64_t kValidationSeed = 0x76616c6964617465u, kScalingSeed = 0x63616c6962726174u;
constexpr int64_t kScalingCount = 1024;
constexpr int64_t kLengthsPerStep = 4;
constexpr int64_t kMostSkippedInARow = 10;  // then the weights go back to the last good ones

double seconds_now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

struct TemporaryFile {
  fs::path path;
  ~TemporaryFile() {
    std::error_code ignored;
    fs::remove(path, ignored);
  }
};

class Trainer {
 public:
  Trainer(const System& system, int observation, const TrainRun& run, const TrainReport& report)
      : system_(system), observation_(observation), run_(run), options_(run.options), report_(report), device_(run.device) {
    check_options(options_);
    if (device_.is_cuda() && !torch::cuda::is_available()) throw UsageError("this LibTorch has no usable CUDA device", "use --device cpu");
    const int threads = run_.threads > 0 ? run_.threads : processor_count();
    set_network_threads(threads);
    simulator_options_.seed = options_.seed;
    simulator_options_.threads = threads;
  }

  TrainResult run() {
    make_network();
    make_stream();
    make_validation_set();
    if (run_.resume) restore();
    else measure_input_scaling();
    optimiser_snapshot();
    loop();
    return finish();
  }

 private:
  void make_network() {
    torch::manual_seed(options_.seed);
    network_ = std::make_shared<PennNetwork>(network_for(options_, system_, observation_));
    network_->to(device_);
    // Takes an NLL of the network's coordinates to the parameters' own units; in box coordinates on average over the prior, since the slope varies.
    for (size_t k = 0; k < system_.parameters.size(); ++k) {
      const Range range = system_.parameters[k].range;
      jacobian_ += std::log(range.high - range.low) - (in_box(k) ? kHalfLogTwoPi + 0.5 : std::log(2.0));
    }
    optimiser_ = std::make_unique<Optimiser>(network_->parameters(), optimiser_for(options_));
  }

  void make_stream() {
    if (!options_.dataset_folder.empty()) {
      FixedSet set = read_set(options_.dataset_folder, system_, observation_);
      if (set.all.length != options_.lengths.low)
        throw UsageError(fmt::format("the data set has {} samples per trajectory, not {}", set.all.length, options_.lengths.low), fmt::format("add --length {}", set.all.length));
      stream_ = make_fixed_stream(std::move(set), parameters(), options_.batch, options_.seed);
    } else if (options_.dataset_size > 0) {
      if (options_.batch > options_.dataset_size)
        throw UsageError(fmt::format("a batch of {} is larger than the data set of {} trajectories", options_.batch, options_.dataset_size), "use a smaller --batch");
      SimulatorOptions simulator = simulator_options_;
      simulator.length = options_.lengths.low;
      stream_ = make_fixed_stream(simulate_set(system_, observation_, simulator, options_.dataset_size), parameters(), options_.batch, options_.seed);
    } else {
      // A step that sees one length alone pulls the widths of all others along: with a range, every step has several.
      if (!options_.lengths.is_single())
        for (lengths_per_step_ = kLengthsPerStep; options_.batch % lengths_per_step_ != 0;) lengths_per_step_ /= 2;
      stream_ = make_fresh_stream(system_, observation_, simulator_options_, options_.batch / lengths_per_step_, options_.lengths, lengths_per_step_);
    }
  }

  // A few lengths across the trained range, each with its share of the trajectories.
  void make_validation_set() {
    const int lengths = options_.lengths.is_single() ? 1 : 5;
    SimulatorOptions simulator = simulator_options_;
    simulator.seed = options_.seed ^ kValidationSeed;
    for (int i = 0; i < lengths; ++i) {
      const double u = lengths == 1 ? 0 : static_cast<double>(i) / (lengths - 1);
      const double ratio = static_cast<double>(options_.lengths.high) / static_cast<double>(options_.lengths.low);
      simulator.length = std::llround(static_cast<double>(options_.lengths.low) * std::pow(ratio, u));
      simulator.seed += 1;
      validation_.push_back(simulate_set(system_, observation_, simulator, std::max<int64_t>(options_.validation / lengths, 20)).all);
    }
    validation_jacobian_ = mean_log_slope(validation_);
  }

  // The same for given trajectories, exactly.
  double mean_log_slope(const std::vector<TrajectoryBatch>& sets) const {
    double sum = 0, count = 0;
    for (const TrajectoryBatch& set : sets) {
      count += static_cast<double>(set.count);
      for (size_t i = 0; i < set.theta.size(); ++i) {
        const size_t k = i % system_.parameters.size();
        const Range range = system_.parameters[k].range;
        sum += in_box(k) ? log_box_slope(box_coordinate(set.theta[i], range.low, range.high), range.low, range.high) : std::log((range.high - range.low) / 2);
      }
    }
    return sum / count;
  }

  // Input scaling is measured on trajectories of the middle of the length range, once, and stored with the model.
  void measure_input_scaling() {
    SimulatorOptions simulator = simulator_options_;
    simulator.seed = options_.seed ^ kScalingSeed;
    simulator.length = std::llround(std::sqrt(static_cast<double>(options_.lengths.low) * static_cast<double>(options_.lengths.high)));
    const TrajectoryBatch batch = simulate_set(system_, observation_, simulator, kScalingCount).all;
    network_->calibrate(z_tensor(batch));
  }

  bool in_box(size_t k) const { return network_->options().in_box(k); }
  int64_t parameters() const { return static_cast<int64_t>(system_.parameters.size()); }

  torch::Tensor z_tensor(const TrajectoryBatch& b) const {
    return torch::from_blob(const_cast<float*>(b.z.data()), {b.count, b.length, b.channels}).to(device_);
  }
  torch::Tensor sampling_tensor(const TrajectoryBatch& b) const { return torch::from_blob(const_cast<float*>(b.sampling.data()), {b.count}).to(device_); }
  torch::Tensor theta_tensor(const TrajectoryBatch& b) const {
    torch::Tensor theta = torch::empty({b.count, parameters()});
    float* to = theta.data_ptr<float>();
    for (size_t i = 0; i < b.theta.size(); ++i) {
      const size_t k = i % system_.parameters.size();
      const Range range = system_.parameters[k].range;
      to[i] = static_cast<float>(in_box(k) ? box_coordinate(b.theta[i], range.low, range.high) : 2 * (b.theta[i] - range.low) / (range.high - range.low) - 1);
    }
    return theta.to(device_);
  }

  // The gradient of a step: its trajectories come in pieces of one length each.
  Learned learn_from_next() {
    std::vector<torch::Tensor> embeddings, thetas;
    pieces_.resize(static_cast<size_t>(lengths_per_step_));  // all stay until the backward pass, which needs them
    for (size_t i = 0; i < pieces_.size(); ++i) {
      const double start = seconds_now();
      stream_->fill(progress_.step * lengths_per_step_ + static_cast<int64_t>(i), pieces_[i]);
      simulating_ += seconds_now() - start;
      embeddings.push_back(network_->embedding(z_tensor(pieces_[i]), sampling_tensor(pieces_[i])));
      thetas.push_back(theta_tensor(pieces_[i]));
    }
    // What keeps the components in use fades, the balance with the rate, so that the end of a training minimises the NLL alone.
    const double balance = options_.balance * learning_rate_at(options_, share_of_budget()) / options_.learning_rate;
    return learn(*network_, torch::cat(embeddings), torch::cat(thetas), balance, lesson_at(options_, share_of_budget()));
  }

  MixtureLoss loss_of(const TrajectoryBatch& batch) {
    const torch::Tensor y = network_->forward(z_tensor(batch), sampling_tensor(batch));
    return mixture_loss(y, theta_tensor(batch), network_->options().mixture);
  }

  double share_of_budget() const {
    if (options_.minutes > 0) return progress_.seconds / (60 * options_.minutes);
    return static_cast<double>(progress_.step) / static_cast<double>(total_steps());
  }
  int64_t total_steps() const { return options_.steps > 0 ? options_.steps : options_.epochs * stream_->steps_per_epoch(); }

  void step() {
    const double start = seconds_now();
    network_->train();
    const Learned learned = learn_from_next();
    progress_.bad_rows += learned.bad;
    const bool done = learned.good > 0 && std::isfinite(learned.loss) && optimiser_->step(learning_rate_at(options_, share_of_budget()));
    if (done) {
      progress_.skipped_in_a_row = 0;
      progress_.train_nll += (learned.loss + jacobian_) * static_cast<double>(learned.good);
      progress_.train_count += static_cast<double>(learned.good);
    } else {
      ++progress_.skipped;
      if (++progress_.skipped_in_a_row >= kMostSkippedInARow) roll_back();
    }
    ++progress_.step;
    ++steps_here_;
    progress_.seconds += seconds_now() - start;
    seconds_here_ += seconds_now() - start;
  }

  void optimiser_snapshot() {
    good_weights_ = flat_weights();
    good_state_ = optimiser_->state();
  }
  void roll_back() {
    set_flat_weights(good_weights_);
    optimiser_->set_state(good_state_);
    progress_.skipped_in_a_row = 0;
    if (++progress_.rollbacks > 20) throw Error("training does not get beyond losses that are not finite", "use a smaller learning rate, or narrower parameter ranges");
  }

  std::vector<float> flat_weights() const {
    std::vector<float> flat;
    for (const torch::Tensor& p : network_->parameters()) {
      const torch::Tensor host = p.detach().to(torch::kCPU).contiguous();
      flat.insert(flat.end(), host.data_ptr<float>(), host.data_ptr<float>() + host.numel());
    }
    return flat;
  }
  void set_flat_weights(const std::vector<float>& flat) {
    torch::NoGradGuard no_grad;
    const float* from = flat.data();
    for (torch::Tensor& p : network_->parameters()) {
      p.copy_(torch::from_blob(const_cast<float*>(from), p.sizes()));
      from += p.numel();
    }
  }

  // NLL of the averaged weights on the held set; the best weights are kept.
  void validate() {
    optimiser_->swap_average();
    const double nll = validation_nll();
    if (std::isfinite(nll) && (best_.empty() || nll < progress_.best_nll)) {
      progress_.best_nll = nll;
      best_ = flat_weights();
    }
    optimiser_->swap_average();
    ++progress_.validations;
    const double train_nll = progress_.train_count > 0 ? progress_.train_nll / progress_.train_count : std::nan("");
    progress_.curve.push_back({progress_.seconds / 60, static_cast<double>(progress_.step), static_cast<double>(progress_.step * options_.batch), train_nll, nll,
                               learning_rate_at(options_, share_of_budget())});
    show(true);
    progress_.train_nll = progress_.train_count = 0;
    if (std::isfinite(nll)) optimiser_snapshot();
  }

  double validation_nll() {
    torch::NoGradGuard no_grad;
    network_->eval();
    double sum = 0, count = 0;
    TrajectoryBatch part;
    for (const TrajectoryBatch& set : validation_) {
      constexpr int64_t kPiece = 500;
      for (int64_t first = 0; first < set.count; first += kPiece) {
        slice(set, first, std::min(kPiece, set.count - first), part);
        const MixtureLoss loss = loss_of(part);
        sum += loss.loss.item<double>() * static_cast<double>(loss.good);
        count += static_cast<double>(loss.good);
      }
    }
    return sum / count + validation_jacobian_;
  }

  void slice(const TrajectoryBatch& set, int64_t first, int64_t count, TrajectoryBatch& part) const {
    const int64_t row = set.length * set.channels, M = parameters();
    part.count = count, part.length = set.length, part.channels = set.channels;
    part.theta.assign(set.theta.begin() + first * M, set.theta.begin() + (first + count) * M);
    part.z.assign(set.z.begin() + first * row, set.z.begin() + (first + count) * row);
    part.sampling.assign(set.sampling.begin() + first, set.sampling.begin() + first + count);
  }

  void loop() {
    double saved = seconds_now();
    while (share_of_budget() < 1) {
      if (run_.should_stop()) return;
      step();
      // Validations are spread evenly over the budget; the last one falls on its end.
      if (share_of_budget() * options_.validations >= progress_.validations + 1) {
        validate();
        save();
        saved = seconds_now();
      } else if (seconds_now() - saved > run_.checkpoint_seconds) {
        save();
        saved = seconds_now();
      } else {
        show(false);
      }
    }
    if (progress_.curve.empty() || progress_.curve.back().step != static_cast<double>(progress_.step)) validate();
    is_complete_ = true;
  }

  void show(bool is_validation, double calibrated = -1) {
    if (!report_) return;
    TrainStatus status;
    status.progress = &progress_;
    status.share = std::min(1.0, share_of_budget());
    status.seconds_left = status.share > 0 ? progress_.seconds / status.share - progress_.seconds : 0;
    status.trajectories_per_second = seconds_here_ > 0 ? static_cast<double>(steps_here_ * options_.batch) / seconds_here_ : 0;
    status.simulating_share = seconds_here_ > 0 ? simulating_ / seconds_here_ : 0;
    status.train_nll = progress_.train_count > 0 ? progress_.train_nll / progress_.train_count : std::nan("");
    status.is_validation = is_validation;
    status.calibrated = calibrated;
    report_(status);
  }

  Checkpoint checkpoint() const {
    return {system_.text, system_.observations[static_cast<size_t>(observation_)].name, options_, progress_};
  }

  void save() {
    note_discarded();
    save_checkpoint(checkpoint_path(run_.model), checkpoint(), *network_, *optimiser_, best_);
  }
  void note_discarded() {
    if (stream_->count().kept > 0) progress_.discarded_share = stream_->count().discarded_share();
  }

  void restore() {
    progress_ = read_checkpoint(checkpoint_path(run_.model)).progress;
    restore_checkpoint(checkpoint_path(run_.model), *network_, *optimiser_, best_);
  }

  TrainResult finish() {
    save();  // also at the end: setting the widths takes its time and may be interrupted
    TrainResult result;
    if (is_complete_) {
      write_model(result);
      if (is_complete_) {
        write_curve();
        std::error_code ignored;
        fs::remove(checkpoint_path(run_.model), ignored);
      }
    }
    result.is_complete = is_complete_;
    result.progress = progress_;
    result.simulating_share = seconds_here_ > 0 ? simulating_ / seconds_here_ : 0;
    rusage usage = {};
    getrusage(RUSAGE_SELF, &usage);
    result.peak_memory = static_cast<int64_t>(usage.ru_maxrss) * 1024;
    return result;
  }

  void write_model(TrainResult& result) {
    if (best_.empty()) throw Error("training gave no usable network: every validation was not finite", "use a smaller learning rate, or narrower parameter ranges");
    set_flat_weights(best_);
    network_->to(torch::kCPU);
    device_ = torch::kCPU;
    network_->eval();
    round_as_compact(*network_);  // what follows is said of the network as it will be read back
    ModelInfo info;
    info.version = version();
    info.system_text = system_.text;
    info.observation = system_.observations[static_cast<size_t>(observation_)].name;
    info.network = network_->options();
    info.training = to_json(options_);
    info.lengths = options_.lengths;
    info.sampling = system_.simulation.sampling;
    info.discarded_share = progress_.discarded_share;
    info.validation_nll = validation_nll();
    info.steps = progress_.step;
    info.trajectories = progress_.step * options_.batch;
    info.minutes = progress_.seconds / 60;
    info.curve = progress_.curve;
    measure_values(validation_, info.value_low, info.value_high);
    info.on_lattice = find_lattices(validation_);
    info.familiarity = measure_familiarity(*network_, fresh_for_familiarity(), validation_);
    const int64_t count = calibration_count(options_, info.trajectories);
    if (count == 0) return save_model(run_.model, info, *network_);
    const TemporaryFile uncorrected{run_.model.string() + ".uncorrected"};
    save_model(uncorrected.path, info, *network_);
    set_widths(uncorrected.path, count, result);
  }

  // The widths are measured on the model as inference will run it. Hours of training must not be lost to a failure here.
  void set_widths(const fs::path& uncorrected, int64_t count, TrainResult& result) {
    WidthOptions options;
    options.threads = simulator_options_.threads;
    options.count = count;
    options.progress = [&](int64_t done, int64_t all) {
      show(false, static_cast<double>(done) / static_cast<double>(all));
      return !run_.should_stop();
    };
    const ModelFile model = open_model(uncorrected);
    try {
      const std::optional<WidthCorrection> measured = measure_widths(model, options);
      is_complete_ = measured.has_value();
      if (!is_complete_) return;
      result.widths = *measured;
    } catch (const std::exception& error) {
      result.widths_problem = error.what();
      fs::rename(uncorrected, run_.model);
      return;
    }
    save_with_widths(run_.model, model, result.widths);
  }

  // Trajectories that neither training nor validation has seen, over the whole length range.
  std::vector<TrajectoryBatch> fresh_for_familiarity() {
    std::vector<TrajectoryBatch> sets;
    SimulatorOptions simulator = simulator_options_;
    simulator.seed = (options_.seed ^ kValidationSeed) + 1000;
    for (const TrajectoryBatch& like : validation_) {
      simulator.length = like.length;
      simulator.seed += 1;
      sets.push_back(simulate_set(system_, observation_, simulator, std::max<int64_t>(4096 / static_cast<int64_t>(validation_.size()), 256)).all);
    }
    return sets;
  }

  void write_curve() const {
    CsvWriter writer(run_.model.string() + ".csv", {fmt::format("penn {} train, loss curve; NLL in the parameters' own units", version())},
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
  torch::Device device_;
  SimulatorOptions simulator_options_;
  double jacobian_ = 0, validation_jacobian_ = 0;
  std::shared_ptr<PennNetwork> network_;
  std::unique_ptr<Optimiser> optimiser_;
  std::unique_ptr<BatchStream> stream_;
  std::vector<TrajectoryBatch> validation_;
  int64_t lengths_per_step_ = 1;
  std::vector<TrajectoryBatch> pieces_;  // of the step, each with its own length
  Progress progress_;
  std::vector<float> best_, good_weights_;
  Optimiser::State good_state_;
  bool is_complete_ = false;
  double simulating_ = 0, seconds_here_ = 0;  // of this process
  int64_t steps_here_ = 0;
};

}  // namespace

TrainResult train(const System& system, int observation, const TrainRun& run, const TrainReport& report) {
  return Trainer(system, observation, run, report).run();
}

}  // namespace penn
