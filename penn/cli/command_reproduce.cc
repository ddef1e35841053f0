#include "penn/cli/command_reproduce.h"

#include <fmt/core.h>

#include <memory>

#include "paper/reproduce.h"
#include "paper/train_models.h"
#include "penn/cli/progress.h"

namespace penn {
namespace {

struct ReproduceCommand {
  std::vector<std::string> what;
  std::string folder;
  bool list = false;
  ReproduceOptions reproduce;
};

int reproduce_command(ReproduceCommand& options) {
  if (options.list) {
    fmt::print("{}", paper_item_list(options.reproduce.minutes));
    return 0;
  }
  if (options.what.empty())
    throw UsageError("nothing to reproduce", "give fig1 to fig19, tab1 to tab3, or all; see `penn reproduce --list`");
  if (options.folder.empty())
    throw UsageError("where to? -o DIR is missing", "for example: penn reproduce all -o gallery");
  const std::vector<PaperItem> items = find_paper_items(options.what);
  const bool all = items.size() == paper_items().size();
  ReproduceOptions& o = options.reproduce;
  o.folder = options.folder;
  catch_interrupts();
  o.train = [&](const Training& training, double minutes, const std::filesystem::path& model) {
    ProgressBar training_bar(fmt::format("training {}, {:g} minutes", training.name, minutes), 1000);
    return train_model(training, minutes, o.threads, model, [&](double fraction) {
      training_bar.update(static_cast<int64_t>(1000 * fraction));
      return !is_interrupted();
    });
  };
  std::unique_ptr<ProgressBar> bar;
  std::string shown;
  o.progress = [&](const std::string& what, int64_t done, int64_t total) {
    if (what != shown) bar.reset(), bar = std::make_unique<ProgressBar>(shown = what, total);
    bar->update(done);
    return !is_interrupted();
  };
  try {
    reproduce(items, o, all, [&](const PageResult& result) {
      bar.reset();
      shown.clear();
      if (result.problem.empty()) fmt::print("{}: {}/{}\n", result.item.number, options.folder, result.file);
      else fmt::print(stderr, "{} left out: {}\n", result.item.number, result.problem);
      std::fflush(stdout);
      if (is_interrupted()) throw Interrupted();
    });
  } catch (const Interrupted& interrupted) {
    bar.reset();
    fmt::print(stderr, "{}\n", interrupted.full_text());
    return 130;
  }
  fmt::print("{}/index.html\n", options.folder);
  return 0;
}

}  // namespace

void add_command_reproduce(Command& app, Run& run) {
  auto options = std::make_shared<ReproduceCommand>();
  Command command = app.add_command("reproduce", "Figures and tables of the paper, redrawn from our models");
  ReproduceOptions& o = options->reproduce;
  command.add_option("WHAT", options->what, "fig1 to fig19, tab1 to tab3, or all");
  command.add_flag("--list", options->list, "What there is, what each needs, and roughly how long it takes");
  command.add_option("-o,--output", options->folder,
                     "Folder for the pages; models trained for them go to its folder models");
  command.add_option("-n,--count", o.count, "Trajectories of an evaluation").between(100, 10000000).show_default();
  command
      .add_option("--minutes", o.minutes,
                  "Budget of one training; finished ones in the folder are kept, interrupted ones go on")
      .positive()
      .show_default();
  command.add_option("--models", o.models, "Folder of the models (default: the shipped ones)").existing_folder();
  command.add_option("--seed", o.seed, "Seed of the evaluations").show_default();
  command.add_option("--threads", o.threads, "Number of threads (default: one per processor)").between(1, 1024);
  command.when_chosen([options, &run] { run = [options] { return reproduce_command(*options); }; });
}

}  // namespace penn
