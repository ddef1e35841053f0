// Call, catch, exit code: 0 done, 1 something was wrong with the input, 2 wrong usage, 3 evaluated and not calibrated,
// 130 interrupted.
#include <fmt/core.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "penn/base/error.h"
#include "penn/base/files.h"
#include "penn/cli/command_bench.h"
#include "penn/cli/command_evaluate.h"
#include "penn/cli/command_infer.h"
#include "penn/cli/command_info.h"
#include "penn/cli/command_recalibrate.h"
#include "penn/cli/command_reproduce.h"
#include "penn/cli/command_serve.h"
#include "penn/cli/command_simulate.h"
#include "penn/cli/command_train.h"

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file over the size limit is an error to report, not a reason to die
  std::signal(SIGPIPE, SIG_IGN);
  penn::CommandLine app("penn: identify the parameters of a stochastic system from one trajectory", penn::version());
  penn::Run run = [&] {
    fmt::print("{}", app.help());
    return 0;
  };
  penn::add_command_simulate(app, run);
  penn::add_command_info(app, run);
  penn::add_command_train(app, run);
  penn::add_command_infer(app, run);
  penn::add_command_evaluate(app, run);
  penn::add_command_recalibrate(app, run);
  penn::add_command_reproduce(app, run);
  penn::add_command_serve(app, run);
  penn::add_command_bench(app, run);
  if (const std::optional<int> code = app.parse(argc, argv)) return *code;
  try {
    const int code = run();
    if (std::fflush(stdout) == 0) return code;
    if (errno != EPIPE)
      fmt::print(stderr, "error: cannot write to standard output: {}\n",
                 std::strerror(errno));  // EPIPE: the reader has seen enough
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
