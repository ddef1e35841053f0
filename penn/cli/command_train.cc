#include "penn/cli/command_train.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "penn/base/error.h"
#include "penn/cli/outputs.h"
#include "penn/cli/progress.h"
#include "penn/system/load_system.h"
#include "penn/train/pilot.h"
#include "penn/train/trainer.h"

namespace penn {
namespace {

namespace fs = std::filesystem;

struct TrainCommand {
  std::string system, model, length;
  TrainOptions values;  // of the options that are given
  double checkpoint_seconds = 60;
  int threads = 0;
  bool resume = false, quiet = false, force = false;
  Command command{nullptr};  // to know what was given
};

std::string flag(const char* name) {
  std::string text = std::string("--") + name;
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

IntRange parse_length(const std::string& text) {
  try {
    const size_t colon = text.find(':');
    size_t used = 0;
    const int64_t low = std::stoll(text.substr(0, colon), &used);
    if (used != std::min(colon, text.size())) throw std::invalid_argument("");
    if (colon == std::string::npos) return {low, low};
    const std::string rest = text.substr(colon + 1);
    const int64_t high = std::stoll(rest, &used);
    if (used != rest.size()) throw std::invalid_argument("");
    return {low, high};
  } catch (const std::logic_error&) {
    throw UsageError(fmt::format("--length {}: not a number or a range low:high", text),
                     "for example: --length 200:5000");
  }
}

// What the command line asks for, starting from the preset or, with --resume, from the checkpoint.
void apply(const TrainCommand& o, TrainOptions& train) {
  const auto given = [&](const char* name) { return o.command.is_given(name); };
  if (given("--minutes") || given("--steps") || given("--epochs")) train.minutes = 0, train.steps = 0, train.epochs = 0;
  for_each_option([&]<class T>(const TrainOption<T>& option) {
    if (!option.help || !given(flag(option.name).c_str())) return;
    if constexpr (std::is_same_v<T, IntRange>) train.*option.member = parse_length(o.length);
    else train.*option.member = o.values.*option.member;
  });
}

TrainOptions options_from_preset(const TrainCommand& o, const System& system) {
  TrainOptions train = preset_options(o.values.preset, system);
  apply(o, train);
  if (train.minutes <= 0 && train.steps <= 0 && train.epochs <= 0) {
    if (train.preset == "paper")
      throw UsageError(fmt::format("the system file of {} does not say how the paper trained it", system.name),
                       "give --dataset, --batch and --epochs, or a section [paper]");
    train.minutes = 10;
  }
  // The paper's data set belongs to the paper's epochs; with another budget fresh trajectories are better, unless asked
  // for.
  if (train.preset == "paper" && train.epochs == 0 && !o.command.is_given("--dataset")) train.dataset.clear();
  if (train.batch == 0) train.batch = 256;
  check_options(train);
  return train;
}

TrainOptions options_from_checkpoint(const TrainCommand& o, const System& system, int observation) {
  const fs::path file = checkpoint_path(o.model);
  std::error_code ignored;
  if (!fs::exists(file, ignored))
    throw ModelError(fmt::format("there is no unfinished training '{}'", file.string()),
                     fs::exists(o.model, ignored) ? "the model is finished" : "start without --resume");
  const Checkpoint checkpoint = read_checkpoint(file);
  if (checkpoint.system_text != system.text ||
      checkpoint.observation != system.observations[static_cast<size_t>(observation)].name)
    throw ModelError(
        fmt::format("'{}' belongs to another system, another observation or another version of the system file",
                    file.string()),
        "resume with the same system");
  TrainOptions wanted = checkpoint.options;
  apply(o, wanted);
  const std::vector<std::string> differing = differing_options(wanted, checkpoint.options);
  if (!differing.empty()) {
    std::string list;
    for (const std::string& name : differing) list += (list.empty() ? "" : ", ") + name;
    throw ModelError(fmt::format("the unfinished training has other options: {}", list),
                     "leave them out, or start again with --force instead of --resume");
  }
  return checkpoint.options;
}

std::string clock(double seconds) {
  const int64_t s = std::llround(seconds);
  return s >= 3600 ? fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60)
                   : fmt::format("{}:{:02}", s / 60, s % 60);
}

// One line that is rewritten on a terminal; in a pipe a line for every validation.
class Display {
 public:
  explicit Display(bool quiet) : quiet_(quiet), is_terminal_(isatty(STDERR_FILENO) != 0) {}
  ~Display() {
    if (shown_) fmt::print(stderr, "\r\033[K");
  }
  void operator()(const TrainStatus& s) {
    if (quiet_) return;
    const Progress& p = *s.progress;
    if (s.is_validation) {
      wipe();
      fmt::print(stderr,
                 "{:>8}  step {:<8} {:>7.0f} trajectories/s ({:.0f} % simulating)  train NLL {:8.4f}  validation NLL "
                 "{:8.4f}{}\n",
                 clock(p.seconds), p.step, s.trajectories_per_second, 100 * s.simulating_fraction, s.train_nll,
                 p.curve.back().validation_nll, p.curve.back().validation_nll <= p.best_nll ? "  best" : "");
      return;
    }
    if (s.recalibrated >= 0) {
      if (!said_)
        fmt::print(stderr, "{}recalibrating the scales of the posteriors on fresh trajectories\n",
                   is_terminal_ ? "\r\033[K" : "");
      said_ = true;
      if (!is_terminal_) return;
      shown_ = true;
      fmt::print(stderr, "\r{:3.0f} %\033[K", 100 * s.recalibrated);
      std::fflush(stderr);
      return;
    }
    const double now = p.seconds;
    if (!is_terminal_ || now - last_ < 0.5) return;
    last_ = now;
    shown_ = true;
    fmt::print(stderr, "\r{:3.0f} %  {} left  step {}  {:.0f} trajectories/s  train NLL {:.4f}\033[K", 100 * s.fraction,
               clock(s.seconds_left), p.step, s.trajectories_per_second, s.train_nll);
    std::fflush(stderr);
  }

 private:
  void wipe() {
    if (shown_) fmt::print(stderr, "\r\033[K");
    shown_ = false;
  }
  bool quiet_, is_terminal_, shown_ = false, said_ = false;
  double last_ = 0;
};

// Decides on the coordinates; the training that follows has the rest of the budget. False: interrupted.
bool choose_coordinates(const TrainCommand& o, const SystemChoice& choice, TrainRun& run) {
  TrainOptions& options = run.options;
  if (options.epochs > 0) {  // a fixed set is small: all of it is for the training
    options.coordinates = "linear";
    return true;
  }
  check_options(options);
  if (!o.quiet)
    fmt::print(
        stderr,
        "a short training first, to see which parameters are hardly identified (--coordinates decides without it)\n");
  Pilot pilot;
  {
    Display display(o.quiet);
    pilot =
        try_coordinates(choice.system, choice.observation, run, [&](const TrainStatus& status) { display(status); });
  }
  if (!pilot.is_complete) return false;
  options = options_after(pilot, options, choice.system);
  if (!o.quiet) {
    fmt::print(stderr, "width of the posterior, the box being 1:");
    for (size_t k = 0; k < pilot.relative_sd.size(); ++k)
      fmt::print(stderr, " {} {:.2f}", choice.system.parameters[k].name, pilot.relative_sd[k]);
    fmt::print(stderr, "\nthe training begins, with --coordinates {}\n", options.coordinates);
  }
  return true;
}

int train_command(const TrainCommand& o) {
  const SystemChoice choice = load_system(o.system);
  TrainRun run;
  run.model = o.model;
  run.resume = o.resume;
  run.threads = o.threads;
  run.checkpoint_seconds = o.checkpoint_seconds;
  run.should_stop = is_interrupted;
  std::error_code ignored;
  if (o.resume) {
    run.options = options_from_checkpoint(o, choice.system, choice.observation);
  } else {
    if (!o.force && fs::exists(o.model, ignored))
      throw ModelError(fmt::format("'{}' exists", o.model), "choose another name, or replace it with --force");
    if (!o.force && fs::exists(checkpoint_path(o.model), ignored))
      throw ModelError(fmt::format("'{}' is an unfinished training", checkpoint_path(o.model).string()),
                       "go on with --resume, or start again with --force");
    run.options = options_from_preset(o, choice.system);
  }
  check_outputs({o.model}, {o.system});
  catch_interrupts();
  if (run.options.coordinates == "auto" && !choose_coordinates(o, choice, run)) {
    fmt::print("stopped before the training began; nothing is kept\n");
    return 130;
  }
  TrainResult result;
  {
    Display display(o.quiet);
    result = train(choice.system, choice.observation, run, [&](const TrainStatus& status) { display(status); });
  }
  const Progress& p = result.progress;
  const double memory = static_cast<double>(result.peak_memory) / (1 << 20);
  if (!result.model) {
    fmt::print("stopped at step {}; go on with: penn train {} -o {} --resume\n", p.step, o.system, o.model);
    return 130;
  }
  fmt::print(
      "{}: validation NLL {:.4f} after {} steps, {} trajectories, {:.1f} minutes ({:.0f} % of it simulating); peak "
      "memory {:.0f} MB\n",
      o.model, p.best_nll, p.step, p.step * run.options.batch, p.seconds / 60, 100 * result.simulating_fraction,
      memory);
  const Recalibration& recalibration = result.model->info.recalibration;
  if (!recalibration.is_empty()) {
    const auto [least, most] = std::minmax_element(recalibration.factors.begin(), recalibration.factors.end());
    fmt::print(
        "scales of the posteriors times {:.3f} to {:.3f}, measured on {} fresh trajectories of each of {} lengths\n",
        *least, *most, recalibration.trajectories, recalibration.lengths.size());
  }
  if (!result.recalibration_problem.empty())
    fmt::print(stderr, "warning: the scales of the posteriors could not be recalibrated: {}\n",
               result.recalibration_problem);
  warn_of_wrong_scales(recalibration);
  warn_of_divergence(p.simulated.discarded_fraction());
  if (p.skipped + p.bad_rows > 0)
    fmt::print(
        "{} steps and {} trajectories were skipped because their loss was not finite; {} times the weights were set "
        "back\n",
        p.skipped, p.bad_rows, p.rollbacks);
  return 0;
}

}  // namespace

void add_command_train(Command& app, Run& run) {
  auto o = std::make_shared<TrainCommand>();
  Command command =
      app.add_command("train", "Train a model: simulate, and learn to tell the parameters from a trajectory");
  o->command = command;
  command
      .add_option("SYSTEM", o->system,
                  "System file or name of a shipped system, with :OBSERVATION where there are several")
      .required();
  command.add_option("-o,--output", o->model, "Model file to write").required();
  for_each_option([&]<class T>(const TrainOption<T>& option) {
    if (!option.help) return;
    if constexpr (std::is_same_v<T, IntRange>) command.add_option(flag(option.name), o->length, option.help);
    else if constexpr (!std::is_same_v<T, bool>) {
      Option added = command.add_option(flag(option.name), o->values.*option.member, option.help);
      if (std::is_same_v<T, std::vector<std::string>>) added.with_commas();
      if (!option.words.empty()) added.one_of(option.words);
      if (std::is_same_v<T, double> || option.low == 0)
        added.positive();  // 0 is for what is not given; other ranges are check_options'
    }
  });
  command.add_option("--threads", o->threads, "Number of threads (default: one per processor)").between(1, 1024);
  command.add_option("--checkpoint-seconds", o->checkpoint_seconds, "Time between two checkpoints, at the most")
      .show_default();
  command.add_flag("--resume", o->resume, "Go on with an interrupted training");
  command.add_flag("--force", o->force, "Replace an existing model or unfinished training");
  command.add_flag("--quiet", o->quiet, "No progress lines");
  command.when_chosen([o, &run] { run = [o] { return train_command(*o); }; });
}

}  // namespace penn
