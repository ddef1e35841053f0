#include "penn/cli/command_bench_accuracy.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "penn/base/atomic_file.h"
#include "penn/base/error.h"
#include "penn/base/files.h"
#include "penn/base/parallel.h"
#include "penn/cli/outputs.h"
#include "penn/cli/progress.h"
#include "penn/evaluate/evaluation.h"
#include "penn/likelihood/exact_likelihood.h"
#include "penn/system/load_system.h"
#include "penn/train/trainer.h"

namespace penn {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

constexpr const char* kFolder = "systems/accuracy";

struct AccuracyOptions {
  std::vector<std::string> systems;  // empty: all that ship
  double minutes = 10;
  int64_t steps = 0;  // instead of minutes
  uint64_t seed = 1;
  int threads = 0;
  int64_t count = 4000, exact = 200;
  double exact_seconds = 300;
  std::string models, json_file;
};

// Systems of the benchmark by name; any other system whose likelihood is known as `penn train` takes it.
SystemChoice find(const std::string& name) {
  const std::string shipped = shared_file(fmt::format("{}/{}.toml", kFolder, name));
  const SystemChoice choice = load_system(shipped.empty() ? name : shipped);
  std::string why_not;
  if (!ExactLikelihood::recognise(choice.system, choice.observation, &why_not))
    throw SystemError(fmt::format("{}: its exact posterior cannot be computed: {}", name, why_not),
                      "`penn train` and `penn evaluate` measure calibration without it");
  return choice;
}

std::vector<int64_t> lengths_of(const System& system) {
  const IntRange n = system.simulation.length;
  if (n.is_single()) return {n.low};
  return {n.low, std::llround(std::sqrt(static_cast<double>(n.low) * static_cast<double>(n.high))), n.high};
}

// Trained, or taken from the folder of models where an earlier run left it. None: interrupted.
std::optional<Model> trained_model(const AccuracyOptions& o, const std::string& name, const SystemChoice& choice) {
  TrainRun run;
  run.options = preset_options("fast", choice.system);
  run.options.seed = o.seed;
  run.options.steps = o.steps;
  if (o.steps == 0) run.options.minutes = o.minutes;
  run.threads = o.threads;
  run.should_stop = is_interrupted;
  if (!o.models.empty()) {
    run.model = fs::path(o.models) / (name + ".safetensors");
    if (fs::exists(run.model)) {
      Model model = open_model(run.model);
      if (model.system.text != choice.system.text)
        throw ModelError(fmt::format("'{}' was trained on another version of {}", run.model.string(), name),
                         "give another folder with --models");
      return model;
    }
    run.resume = fs::exists(checkpoint_path(run.model));
  }
  ProgressBar bar(fmt::format("training {}", name), 1000);
  return train(choice.system, choice.observation, run,
               [&](const TrainStatus& status) { bar.update(std::llround(1000 * status.fraction)); })
      .model;
}

struct Extremes {
  double low = 1e300, high = -1e300;
  void add(double value) { low = std::min(low, value), high = std::max(high, value); }
};

json row_of(const std::string& name, const Evaluation& e) {
  Extremes z, coverage;
  for (const ParameterCalibration& p : e.report.parameters) z.add(p.z.sd), coverage.add(p.coverage[2]);
  const ExactGap& g = *e.gap;
  return {{"system", name},
          {"length", e.length},
          {"nll", e.report.nll.mean},
          {"gap", g.mean},
          {"gap_error", g.error},
          {"gap_upper_decile", g.upper_decile},
          {"gap_count", g.count},
          {"gap_refused", g.refused},
          {"family", g.family},
          {"z_sd", {z.low, z.high}},
          {"coverage_90", {coverage.low, coverage.high}},
          {"joint_coverage_90", e.report.joint.coverage[2]},
          {"calibrated", !e.report.failed}};
}

void print_row(const json& row) {
  fmt::print("{:<16} {:>6} {:>8.3f} +- {:.3f} {:>8.2f}   {:>4.2f} .. {:>4.2f}   {:>4.1f} .. {:>4.1f} %   {}{}\n",
             row["system"].get<std::string>(), row["length"].get<int64_t>(), row["gap"].get<double>(),
             row["gap_error"].get<double>(), row["gap_upper_decile"].get<double>(), row["z_sd"][0].get<double>(),
             row["z_sd"][1].get<double>(), 100 * row["coverage_90"][0].get<double>(),
             100 * row["coverage_90"][1].get<double>(), row["calibrated"].get<bool>() ? "yes" : "no",
             row["gap_refused"].get<int64_t>() == 0
                 ? ""
                 : fmt::format("   ({} of {} not compared)", row["gap_refused"].get<int64_t>(),
                               row["gap_refused"].get<int64_t>() + row["gap_count"].get<int64_t>()));
  std::fflush(stdout);
}

int bench_accuracy(AccuracyOptions o) {
  check_outputs({o.json_file}, {});
  if (o.systems.empty()) o.systems = shared_names(kFolder, ".toml");
  if (o.systems.empty()) throw DataError("the systems of this benchmark are not beside the program", "set PENN_SHARE");
  std::vector<SystemChoice> choices;
  for (const std::string& name : o.systems) choices.push_back(find(name));  // mistakes before hours of work
  if (!o.models.empty()) fs::create_directories(o.models);
  if (o.threads < 1) o.threads = processor_count();
  catch_interrupts();
  const bool quiet = o.json_file == "-";
  if (!quiet)
    fmt::print("{:<16} {:>6} {:>17} {:>8}   {:>12}   {:>14}   {}\n", "system", "n", "gap (nats)", "decile", "SD of z",
               "90 % holds", "calibrated");
  json rows = json::array();
  Extremes gaps;
  for (size_t i = 0; i < choices.size(); ++i) {
    std::optional<Model> model = trained_model(o, o.systems[i], choices[i]);
    if (!model) return 130;
    const Estimator estimator(std::move(*model), o.threads);
    for (const int64_t length : lengths_of(choices[i].system)) {
      EvaluationOptions options{.count = o.count, .length = length, .threads = o.threads, .gap_count = o.exact};
      options.gap_seconds = o.exact_seconds;
      options.progress = [](int64_t) { return !is_interrupted(); };
      const Evaluation evaluation = evaluate(estimator, o.systems[i], options);
      if (!evaluation.is_complete) return 130;
      rows.push_back(row_of(o.systems[i], evaluation));
      gaps.add(evaluation.gap->mean);
      if (!quiet) print_row(rows.back());
    }
  }
  const json result = {{"penn", version()},    {"bench", "accuracy"}, {"minutes", o.minutes}, {"steps", o.steps},
                       {"threads", o.threads}, {"seed", o.seed},      {"rows", rows},         {"worst_gap", gaps.high}};
  if (quiet) fmt::print("{}\n", result.dump(2));
  else
    fmt::print(
        "gap: nats behind the exact posterior, on {} trajectories; decile: a tenth of them is further behind than "
        "this;\nSD of z and coverage: lowest and highest of the parameters, on {} trajectories\n",
        o.exact, o.count);
  if (!o.json_file.empty() && !quiet) write_file_atomically(o.json_file, result.dump(2) + "\n");
  return 0;
}

}  // namespace

void add_bench_accuracy(Command& bench, Run& run) {
  auto o = std::make_shared<AccuracyOptions>();
  Command command = bench.add_command(
      "accuracy", "Nats between trained and exact posteriors, on small systems whose exact posterior is known");
  command.add_option("--systems", o->systems, "Some of them, with commas, or system files (default: all that ship)")
      .with_commas();
  command.add_option("--minutes", o->minutes, "Training of each").positive().show_default();
  command.add_option("--steps", o->steps, "Training of each, in steps instead of minutes").positive();
  command.add_option("--seed", o->seed, "Seed of the trainings").show_default();
  command.add_option("-n,--count", o->count, "Trajectories for calibration").between(100, 1000000000).show_default();
  command.add_option("--exact", o->exact, "Trajectories compared with the exact posterior")
      .between(10, 1000000)
      .show_default();
  command.add_option("--exact-seconds", o->exact_seconds, "Time for that, for each system and length, at the most")
      .positive()
      .show_default();
  command.add_option("--models", o->models, "Folder for the models: kept, resumed and used again (default: not kept)");
  command.add_option("--threads", o->threads, "Number of threads (default: one per processor)").between(1, 1024);
  command.add_option("--json", o->json_file, "Write the result as JSON to a file, or to standard output with -");
  command.when_chosen([o, &run] { run = [o] { return bench_accuracy(*o); }; });
}

}  // namespace penn
