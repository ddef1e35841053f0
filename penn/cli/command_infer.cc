#include "penn/cli/command_infer.h"

#include <fmt/core.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "penn/answer/draws.h"
#include "penn/answer/infer.h"
#include "penn/answer/inference.h"
#include "penn/answer/inference_text.h"
#include "penn/base/atomic_file.h"
#include "penn/base/error.h"
#include "penn/cli/outputs.h"
#include "penn/report/result_page.h"

namespace penn {
namespace {

struct InferOptions {
  std::string model, json_file, draws_file, report_file;
  std::vector<std::string> data, truth;
  ObservationOptions observation;
  bool combine = false;
  int64_t samples = 4000, predictive = 0;
  bool samples_given = false;
  uint64_t seed = 1;
  int threads = 0;
};

// "name=value" for every parameter -> (M); empty where none was given.
std::vector<double> read_truth(const std::vector<std::string>& given, const System& system) {
  if (given.empty()) return {};
  std::vector<double> truth(system.parameters.size(), std::nan(""));
  for (const std::string& text : given) {
    const size_t equals = text.find('=');
    const int index = equals == std::string::npos ? -1 : system.parameter_index(text.substr(0, equals));
    char* end = nullptr;
    const double value = equals == std::string::npos ? 0 : std::strtod(text.c_str() + equals + 1, &end);
    if (index < 0 || end == text.c_str() + equals + 1 || *end != '\0' || !std::isfinite(value))
      throw UsageError(
          fmt::format("--truth {}: not a parameter and its value", text),
          fmt::format("for example: --truth {}={:g}", system.parameters[0].name, system.parameters[0].range.high));
    truth[static_cast<size_t>(index)] = value;
  }
  for (size_t k = 0; k < truth.size(); ++k)
    if (std::isnan(truth[k]))
      throw UsageError(fmt::format("--truth does not say the value of {}", system.parameters[k].name),
                       "give all parameters, separated by commas");
  return truth;
}

int infer_files(const InferOptions& options) {
  if (options.samples_given && options.draws_file.empty())
    throw UsageError("--samples needs a file for the draws", "add --draws FILE");
  std::vector<std::string> inputs = options.data;
  inputs.push_back(find_model(options.model).string());
  check_outputs({options.json_file, options.draws_file, options.report_file}, inputs);
  const Estimator estimator(open_model(find_model(options.model)), options.threads);
  const ObservationFormat format = observation_format(estimator);
  std::vector<ObservedTrajectory> observed;
  for (const std::string& file : options.data)
    for (ObservedTrajectory& trajectory : read_observations(file, format, options.observation))
      observed.push_back(std::move(trajectory));
  const std::vector<double> truth = read_truth(options.truth, estimator.system());
  std::vector<Inference> answers = infer(estimator, options.model, observed);
  if (options.combine) answers = {combine_inferences(answers)};
  if (!options.draws_file.empty() && answers.size() > 1)
    throw UsageError(fmt::format("--draws writes the posterior of one trajectory, and there are {}", answers.size()),
                     "call it for one at a time, or add --combine");

  if (options.predictive > 0 && options.combine && observed.size() > 1)
    throw UsageError("--predictive compares one trajectory with its own posterior", "leave out --combine");
  if (options.predictive > 0)
    for (size_t i = 0; i < answers.size(); ++i) try {
        answers[i].predictive = check_predictive(
            estimator.system(), estimator.observation(), answers[i].posterior, as_seen(estimator.info(), observed[i]).z,
            observed[i].sampling, {.draws = options.predictive, .seed = options.seed, .threads = options.threads});
        for (const std::string& warning : answers[i].predictive->warnings) answers[i].warnings.push_back(warning);
      } catch (const UsageError&) {
        throw;
      } catch (const Error& error) {  // a posterior outside the box, or where the system diverges: the answer stays,
                                      // with its doubt
        answers[i].warnings.push_back(fmt::format("the predictive check could not be made: {}", error.what()));
      }

  std::string json;
  if (!options.json_file.empty()) {
    nlohmann::ordered_json list;
    for (const Inference& answer : answers) list.push_back(inference_to_json(answer));
    json = dump_json(answers.size() == 1 ? list[0] : list);
  }
  if (options.json_file == "-") fmt::print("{}", json);
  else
    for (size_t i = 0; i < answers.size(); ++i) fmt::print("{}{}", i == 0 ? "" : "\n", inference_table(answers[i]));
  if (!options.json_file.empty() && options.json_file != "-") write_file_atomically(options.json_file, json);
  if (!options.draws_file.empty()) write_draws(options.draws_file, answers[0], options.samples, options.seed);
  if (!options.report_file.empty())
    write_file_atomically(options.report_file,
                          inference_page(estimator.system(), estimator.observation(), answers, observed, truth));
  return 0;
}

}  // namespace

void add_command_infer(Command& app, Run& run) {
  auto options = std::make_shared<InferOptions>();
  Command command = app.add_command("infer", "Identify the parameters behind observed trajectories");
  command.add_option("MODEL", options->model, "Model file or name of a shipped model").required();
  command.add_option("DATA", options->data, "CSV or NPY files: one trajectory each, or (B, n, d) for many").required();
  command
      .add_option("--columns", options->observation.columns,
                  "Columns of a CSV file by name or number, in the order of the channels; the time first where wanted")
      .with_commas()
      .one_word();
  command
      .add_option("--sampling", options->observation.sampling, "Time between samples where the file has no time column")
      .positive();
  command.add_flag("--combine", options->combine, "All trajectories have the same parameters: one posterior from all");
  command.add_option(
      "--json", options->json_file,
      "Write JSON to a file, or to standard output with -: one object, or a list for several trajectories");
  Option samples = command.add_option("--samples", options->samples, "Number of posterior draws for --draws")
                       .between(1, 100000000)
                       .show_default();
  command.add_option("--draws", options->draws_file,
                     "Write posterior draws as CSV (lp__ and the parameters, as CmdStan does)");
  command
      .add_option("--predictive", options->predictive,
                  "Simulate from this many posterior draws and compare with the observation")
      .between(10, 1000000);
  command.add_option("--report", options->report_file, "Write a page to look at (HTML, opens from disk)");
  command
      .add_option("--truth", options->truth,
                  "The true values where they are known, for the page: name=value,name=value")
      .with_commas()
      .one_word();
  command.add_option("--seed", options->seed, "Seed of draws and simulations").show_default();
  command.add_option("--threads", options->threads, "Number of threads (default: one per processor)").between(1, 1024);
  command.when_chosen([options, samples, &run] {
    options->samples_given = samples.is_given();
    run = [options] { return infer_files(*options); };
  });
}

}  // namespace penn
