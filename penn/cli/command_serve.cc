#include "penn/cli/command_serve.h"

#include <fmt/core.h>

#include <csignal>
#include <cstdio>
#include <memory>

#include "penn/base/error.h"
#include "penn/base/parallel.h"
#include "penn/serve/http_server.h"
#include "penn/serve/live_service.h"

namespace penn {
namespace {

struct ServeOptions {
  ServerAddress address{.host = "127.0.0.1", .port = 8765};
  std::vector<std::string> models;
  int threads = 0;
};

HttpServer* server_to_stop = nullptr;
void stop_server(int) {
  server_to_stop->stop();
}

// The second signal ends the program at once, whatever it is doing.
void on_signals(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int number : {SIGINT, SIGTERM}) sigaction(number, &action, nullptr);
}

int serve(const ServeOptions& options) {
  std::vector<std::string> warnings;
  const ModelTable models(options.models, 1, warnings);
  for (const std::string& warning : warnings) fmt::print(stderr, "warning: {}\n", warning);
  if (models.models().empty())
    throw UsageError("there is no model to serve",
                     "train one with `penn train SYSTEM -o MODEL.safetensors` and give it with --models");

  std::unique_ptr<LiveService> service;  // needs to know whether the address is a loopback one
  ServerLimits limits;
  limits.workers = options.threads > 0 ? options.threads : processor_count();
  HttpServer server(options.address, limits, [&service](const HttpRequest& request) { return (*service)(request); });
  service = std::make_unique<LiveService>(models, server.is_loopback());
  server_to_stop = &server;
  on_signals(stop_server);
  if (!server.is_loopback())
    fmt::print(stderr, "warning: everyone who can reach {} can use this, without password or encryption\n",
               options.address.host);
  fmt::print("Open {} in a browser. Models: {}. Stop with Ctrl-C.\n", server.url(), models.models().size());
  std::fflush(stdout);
  server.run();
  on_signals(SIG_DFL);
  server_to_stop = nullptr;
  return 0;
}

}  // namespace

void add_command_serve(Command& app, Run& run) {
  auto options = std::make_shared<ServeOptions>();
  Command command =
      app.add_command("serve", "The same in a browser: drop a CSV or draw a trajectory, see the posterior");
  command.add_option("--port", options->address.port, "Port; 0 for a free one").between(0, 65535).show_default();
  command
      .add_option("--host", options->address.host,
                  "Address to listen on; any but a loopback one opens it to the network")
      .show_default();
  command.add_option("--models", options->models, "Model files, or folders of them, besides the shipped ones");
  command.add_option("--threads", options->threads, "Requests worked on at once (default: one per processor)")
      .between(1, 1024);
  command.when_chosen([options, &run] { run = [options] { return serve(*options); }; });
}

}  // namespace penn
