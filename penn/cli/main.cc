// Call, catch, exit code: 0 done, 1 something was wrong with the input, 2 wrong usage, 3 evaluated and not calibrated, 130 interrupted.
#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "penn/base/error.h"
#include "penn/base/files.h"
#include "penn/cli/commands.h"

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file over the size limit is an error to report, not a reason to die
  std::signal(SIGPIPE, SIG_IGN);
  CLI::App app("penn: identify the parameters of a stochastic system from one trajectory");
  app.set_version_flag("--version", penn::version());
  app.require_subcommand(0, 1);
  app.failure_message([](const CLI::App* which, const CLI::Error& error) {
    std::string command = "penn";
    for (auto chosen = which->get_subcommands(); !chosen.empty(); chosen = chosen[0]->get_subcommands()) command += " " + chosen[0]->get_name();
    return fmt::format("error: {}\nhint: see '{} --help'\n", error.what(), command);
  });
  penn::Run run = [&] {
    fmt::print("{}", app.help());
    return 0;
  };
  penn::add_command_simulate(app, run);
  penn::add_command_info(app, run);
  penn::add_command_train(app, run);
  penn::add_command_infer(app, run);
  penn::add_command_evaluate(app, run);
  penn::add_command_calibrate(app, run);
  penn::add_command_reproduce(app, run);
  penn::add_command_serve(app, run);
  penn::add_command_bench(app, run);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    const int code = run();
    if (std::fflush(stdout) == 0) return code;
    if (errno != EPIPE) fmt::print(stderr, "error: cannot write to standard output: {}\n", std::strerror(errno));  // EPIPE: the reader has seen enough
    return 1;
  } catch (const penn::UsageError& error) {
    fmt::print(stderr, "error: {}\n", error.full_text());
    return 2;
  } catch (const penn::Error& error) {
    fmt::print(stderr, "error: {}\n", error.full_text());
    return 1;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "error: not enough memory\nhint: use fewer or shorter trajectories at a time\n");
    return 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 1;
  }
}
