// What `penn serve` answers: the page, the list of models, the posterior of a CSV that was sent, the posterior of a
// trajectory simulated for the asked parameters. The protocol is written down in web/src/live_page.js. No path of a
// request reaches the file system (the first simulation of a model keeps its compiled equations in the cache); safe to
// call from several threads.
#pragma once

#include <string>

#include "penn/serve/http_message.h"
#include "penn/serve/model_table.h"

namespace penn {

struct LiveLimits {
  int64_t samples = 500'000;         // of a CSV, all trajectories together
  int64_t trajectories = 50;         // in one file
  int64_t simulated = 100'000;       // samples of a simulated trajectory, besides the trained range
  size_t question_bytes = 64 << 10;  // body of api/simulate
};

class LiveService {
 public:
  // loopback_only: requests must name this machine by a loopback name, so that a page from elsewhere, whose name was
  // made to point here, gets nothing.
  LiveService(const ModelTable& models, bool loopback_only, const LiveLimits& limits = {});

  HttpResponse operator()(const HttpRequest& request) const;

 private:
  HttpResponse answer(const HttpRequest& request) const;
  std::string model_list() const;
  std::string infer_data(const ServedModel& model, const HttpRequest& request) const;
  std::string infer_simulated(const ServedModel& model, const HttpRequest& request) const;

  const ModelTable& models_;
  bool loopback_only_;
  LiveLimits limits_;
  std::string page_;
};

// "localhost", "127.0.0.1:8000", "[::1]"; nothing that a name server answers for.
bool is_loopback_name(const std::string& host);

}  // namespace penn
