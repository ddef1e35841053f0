#include "penn/cli/command_simulate.h"

#include <fmt/core.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>

#include "penn/base/atomic_file.h"
#include "penn/base/error.h"
#include "penn/cli/outputs.h"
#include "penn/cli/progress.h"
#include "penn/report/trajectory_page.h"
#include "penn/simulate/write_dataset.h"
#include "penn/system/load_system.h"

namespace penn {
namespace {

struct SimulateOptions {
  std::string system, folder, page;
  int64_t count = 0;
  std::vector<std::string> set;
  std::string kernel;
  bool interpret = false, csv = false, force = false;
  SimulatorOptions simulator;
};

std::pair<std::string, double> parse_setting(const std::string& text) {
  const size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  try {
    if (equals == std::string::npos || name.empty()) throw std::invalid_argument("");
    size_t used = 0;
    const std::string number = text.substr(equals + 1);
    const double value = std::stod(number, &used);
    if (used != number.size()) throw std::invalid_argument("");
    return {name, value};
  } catch (const std::logic_error&) {
    throw UsageError(fmt::format("--set {}: not of the form name=number", text), "for example: --set tau=2.5");
  }
}

int simulate(SimulateOptions& options) {
  for (const std::string& text : options.set) {
    const auto [name, value] = parse_setting(text);
    if (!options.simulator.fixed.emplace(name, value).second)
      throw UsageError(fmt::format("--set gives '{}' twice", name));
  }
  static const std::map<std::string, KernelChoice> kernels = {{"", KernelChoice::kAutomatic},
                                                              {"compiled", KernelChoice::kCompiled},
                                                              {"lanes", KernelChoice::kLanes},
                                                              {"reference", KernelChoice::kInterpreted}};
  options.simulator.kernel = kernels.at(options.interpret ? "reference" : options.kernel);
  if (options.count < 1)
    throw UsageError(fmt::format("the number of trajectories must be at least 1, got {}", options.count),
                     "for example: -n 1000");
  if (options.folder.empty() && options.page.empty())
    throw UsageError("nothing to write", "name a directory with -o DIR, or a page with --page FILE");
  if (const std::string kind = std::filesystem::path(options.folder).extension(); kind == ".csv" || kind == ".npy")
    throw UsageError(fmt::format("-o {}: the name of a {} file, where a directory for the trajectories is meant",
                                 options.folder, kind.substr(1)),
                     kind == ".csv" ? "for example: -o DIR --csv, which writes one CSV file per trajectory into DIR"
                                    : "for example: -o DIR");
  const SystemChoice choice = load_system(options.system);
  if (options.folder.empty())
    check_outputs({options.page}, {choice.system.source_name});  // else a directory may have to be made first
  const std::string observation = choice.system.observations[static_cast<size_t>(choice.observation)].name;
  const Simulator simulator(choice.system, choice.observation, options.simulator);
  if (!simulator.kernel_warning().empty()) fmt::print(stderr, "warning: {}\n", simulator.kernel_warning());

  if (!options.folder.empty()) {
    catch_interrupts();
    const auto start = std::chrono::steady_clock::now();
    DatasetSummary summary;
    {
      ProgressBar bar("simulating", options.count);
      summary = write_dataset(
          simulator, options.simulator, observation, options.folder,
          {.count = options.count, .csv = options.csv, .force = options.force, .progress = [&](int64_t done) {
             bar.update(done);
             return !is_interrupted() || done == options.count;
           }});
    }
    if (!summary.is_complete) {
      fmt::print(stderr, "interrupted: nothing was written\n");
      return 130;
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    fmt::print("{} trajectories of {} samples x {} channel{} in {:.2f} s ({:.0f}/s, {})\n", options.count,
               simulator.length(), simulator.channels(), simulator.channels() == 1 ? "" : "s", seconds,
               static_cast<double>(options.count) / seconds, simulator.kernel_description());
    if (summary.count.discarded > 0)
      fmt::print("{} diverged and were drawn again ({:.2f} % of all draws)\n", summary.count.discarded,
                 100 * summary.count.discarded_fraction());
    warn_of_divergence(summary.count.discarded_fraction());
    fmt::print("written: {}/{}\n", options.folder,
               options.csv ? "trajectory_*.csv, manifest.json" : "theta.npy, z.npy, manifest.json");
  }
  if (!options.page.empty()) {
    const std::string& folder = options.folder;
    check_outputs({options.page}, {choice.system.source_name, folder + "/manifest.json", folder + "/theta.npy",
                                   folder + "/z.npy", folder + "/sampling.npy"});
    write_file_atomically(options.page,
                          trajectory_page(simulator, choice.observation, std::min<int64_t>(options.count, 12)));
    fmt::print("drawn: {}\n", options.page);
  }
  return 0;
}

}  // namespace

void add_command_simulate(Command& app, Run& run) {
  auto options = std::make_shared<SimulateOptions>();
  Command command = app.add_command("simulate", "Simulate trajectories with parameters drawn from the box of a system");
  command
      .add_option("SYSTEM", options->system,
                  "System file or name of a shipped system, with :OBSERVATION where there are several")
      .required();
  command.add_option("-n,--count", options->count, "Number of trajectories").required();
  command.add_option("-o,--output", options->folder, "Directory for theta.npy, z.npy and manifest.json");
  command.add_option("--seed", options->simulator.seed, "Seed of all random numbers").show_default();
  command.add_option("--threads", options->simulator.threads, "Number of threads (default: one per processor)")
      .between(1, 1024);
  command.add_option("--length", options->simulator.length, "Samples per trajectory (default: the system's)")
      .between(2, 1000000000);
  command.add_option("--set", options->set, "Fix parameters: name=value,name=value (may be repeated)")
      .with_commas()
      .one_word();
  command.add_flag("--csv", options->csv, "One CSV file per trajectory instead of NPY files");
  command.add_flag("--force", options->force, "Replace files in a directory that is not empty");
  const Option kernel =
      command
          .add_option("--kernel", options->kernel,
                      "How equations are run: compiled, lanes (the same bits without a compiler) or "
                      "reference (slow, double precision); default: compiled, or lanes where there is no compiler")
          .one_of({"compiled", "lanes", "reference"}, "compiled|lanes|reference");
  command.add_flag("--interpret", options->interpret, "The same as --kernel reference").excludes(kernel);
  command.add_option("--page", options->page, "Draw the first trajectories in a self-contained HTML file");
  command.when_chosen([options, &run] { run = [options] { return simulate(*options); }; });
}

}  // namespace penn
