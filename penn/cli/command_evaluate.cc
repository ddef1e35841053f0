#include "penn/cli/command_evaluate.h"

#include <fmt/core.h>

#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "penn/base/atomic_file.h"
#include "penn/cli/outputs.h"
#include "penn/cli/progress.h"
#include "penn/evaluate/evaluation.h"
#include "penn/report/result_page.h"

namespace penn {
namespace {

constexpr int kNotCalibrated = 3;

struct EvaluateOptions {
  std::string model, json_file, report_file;
  EvaluationOptions evaluation;
  bool count_given = false;
};

int evaluate_model(EvaluateOptions& options) {
  options.evaluation.keep = options.evaluation.keep || !options.report_file.empty();
  check_outputs({options.json_file, options.report_file}, {find_model(options.model).string()});
  const Estimator estimator(open_model(find_model(options.model)), options.evaluation.threads);
  catch_interrupts();
  Evaluation result;
  {
    const bool all_of_directory = !options.evaluation.data.empty() && !options.count_given;
    if (all_of_directory) options.evaluation.count = std::numeric_limits<int64_t>::max();
    ProgressBar bar("evaluating", all_of_directory ? 0 : options.evaluation.count);
    options.evaluation.progress = [&](int64_t done) {
      bar.update(done);
      return !is_interrupted();
    };
    result = evaluate(estimator, options.model, options.evaluation);
  }
  if (!result.kernel_warning.empty()) fmt::print(stderr, "warning: {}\n", result.kernel_warning);
  const IntRange lengths = estimator.info().lengths;
  if (result.length < lengths.low || result.length > lengths.high)
    fmt::print(stderr, "warning: {} samples; the model was trained on {} to {}\n", result.length, lengths.low,
               lengths.high);
  const std::string json =
      options.json_file.empty() ? "" : dump_json(evaluation_to_json(result, options.model, options.evaluation));
  if (options.json_file == "-") fmt::print("{}", json);
  else fmt::print("{}", evaluation_text(result, options.model));
  if (!json.empty() && options.json_file != "-") write_file_atomically(options.json_file, json);
  if (!options.report_file.empty())
    write_file_atomically(options.report_file, evaluation_page(estimator, result, options.model, options.evaluation));
  return !result.is_complete ? 130 : result.report.failed ? kNotCalibrated : 0;
}

}  // namespace

void add_command_evaluate(Command& app, Run& run) {
  auto options = std::make_shared<EvaluateOptions>();
  Command command =
      app.add_command("evaluate", "Accuracy and calibration of a model; exit code 3 when it is not calibrated");
  command.add_option("MODEL", options->model, "Model file or name of a shipped model").required();
  EvaluationOptions& o = options->evaluation;
  Option count = command.add_option("-n,--count", o.count, "Number of trajectories; with --data by default all")
                     .between(1, 1000000000)
                     .show_default();
  command.add_option("--data", o.data, "Directory of `penn simulate` to use instead of fresh trajectories");
  command.add_option("--length", o.length, "Samples per trajectory (default: the system's)").between(2, 1000000000);
  command.add_option("--seed", o.seed, "Seed of the trajectories").show_default();
  command.add_option("--threads", o.threads, "Number of threads (default: one per processor)").between(1, 1024);
  o.gap_count = 100;  // an exact posterior costs a second or so
  command
      .add_option("--exact", o.gap_count,
                  "Trajectories to compare with the exact posterior, where the equations give it; 0: none")
      .between(0, 1000000000)
      .show_default();
  command.add_option("--json", options->json_file, "Write everything as JSON to a file, or to standard output with -");
  command.add_option("--report", options->report_file, "Write a page to look at (HTML, opens from disk)");
  command.add_flag("--keep", o.keep, "Put truth, mean and SD of every trajectory into the JSON");
  command.when_chosen([options, count, &run] {
    options->count_given = count.is_given();
    run = [options] { return evaluate_model(*options); };
  });
}

}  // namespace penn
