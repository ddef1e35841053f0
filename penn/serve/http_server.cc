// The loop that reads and writes, and the workers. A connection goes reading -> working -> writing -> draining and is
// then closed; an early refusal skips the work. Draining (reading what nobody wants, for a moment) lets a client that
// is still sending see its answer.
#include "penn/serve/http_server.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "penn/base/error.h"
#include "penn/serve/listener.h"

namespace penn {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kDrainSeconds = 2;
constexpr int kRefusedAtOnce = 64;  // connections beyond the limit that are being told so
constexpr int kReadsPerTurn = 16;   // of 64 KiB: a fast sender does not keep the others waiting
constexpr size_t kReadBytes = 1 << 16;
constexpr double kAcceptPause = 0.2;  // when the system has no more file descriptors

Clock::time_point in_seconds(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

enum class Phase { kReading, kWorking, kWriting, kDraining };

struct Connection {
  int descriptor;
  Phase state;
  Clock::time_point deadline;
  std::string in = {}, out = {};
  size_t head_size = 0, sent = 0;  // head_size 0: not complete yet
  bool continued = false;          // "100 Continue" was sent
  HttpRequest request = {};
};

struct Job {
  uint64_t connection;
  HttpRequest request;
};

struct Answer {
  uint64_t connection;
  std::string text;
  size_t bytes;  // of the request
};

// End of the head in `text`, or 0: after the first empty line.
size_t end_of_head(const std::string& text, size_t from) {
  for (size_t i = text.find('\n', from > 3 ? from - 3 : 0); i != std::string::npos; i = text.find('\n', i + 1)) {
    if (i == 0) return 1;
    if (text[i - 1] == '\n' || (text[i - 1] == '\r' && (i == 1 || text[i - 2] == '\n'))) return i + 1;
  }
  return 0;
}

}  // namespace

class HttpServer::Body {
 public:
  Body(const ServerAddress& address, const ServerLimits& given, Handler given_handler)
      : listener(address.host, address.port),
        limits(given),
        handler(std::move(given_handler)),
        wake(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    if (wake < 0) throw Error("the system gives no event descriptor", "too many open files?");
  }
  ~Body() { close(wake); }

  void run() {
    std::vector<std::thread> workers;
    try {
      for (int i = 0; i < limits.workers; ++i) workers.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      if (workers.empty()) throw Error("the system gives no thread");
    }
    while (!stopping) turn();
    {
      const std::lock_guard lock(mutex);
      closing = true;
    }
    ready.notify_all();
    for (std::thread& worker : workers) worker.join();
    for (auto& [id, c] : connections) close(c.descriptor);
    connections.clear();
  }

  void stop() {
    stopping = true;
    wake_up();
  }

  Listener listener;

 private:
  void wake_up() {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(wake, &one, sizeof one);  // full: it is awake anyway
  }

  // ---- workers
  void work() {
    for (;;) {
      Job job;
      {
        std::unique_lock lock(mutex);
        ready.wait(lock, [this] { return closing || !jobs.empty(); });
        if (closing) return;
        job = std::move(jobs.front());
        jobs.pop_front();
      }
      HttpResponse response;
      try {
        response = handler(job.request);
      } catch (const std::bad_alloc&) {
        response = error_response(503, "not enough memory", "send less data at a time");
      } catch (const std::exception& error) {
        response = error_response(500, error.what());
      }
      const std::lock_guard lock(mutex);
      answers.push_back({job.connection, to_text(response), job.request.body.size()});
      wake_up();
    }
  }

  // ---- the loop
  void turn() {
    std::vector<pollfd> waits = {{wake, POLLIN, 0}};
    std::vector<uint64_t> ids = {0};
    const Clock::time_point now = Clock::now();
    Clock::time_point nearest = now + std::chrono::seconds(60);
    const bool may_accept = static_cast<int>(connections.size()) < limits.connections + kRefusedAtOnce;
    if (may_accept && now >= accept_again) waits.push_back({listener.descriptor(), POLLIN, 0}), ids.push_back(0);
    else if (may_accept) nearest = std::min(nearest, accept_again);
    for (const auto& [id, c] : connections) {
      const short events = c.state == Phase::kWorking ? POLLRDHUP : c.state == Phase::kWriting ? POLLOUT : POLLIN;
      const bool continues = c.state == Phase::kReading && !c.out.empty();
      waits.push_back({c.descriptor, static_cast<short>(events | (continues ? POLLOUT : 0)), 0});
      ids.push_back(id);
      nearest = std::min(nearest, c.deadline);
    }
    const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(nearest - now).count() + 1;
    if (poll(waits.data(), waits.size(), static_cast<int>(std::max<int64_t>(0, wait))) < 0) return;  // a signal
    if (waits[0].revents) take_answers();
    for (size_t i = 1; i < waits.size(); ++i) {
      if (!waits[i].revents) continue;
      if (ids[i] == 0) accept_all();
      else serve(ids[i], waits[i].revents);
    }
    expire();
  }

  void take_answers() {
    uint64_t count;
    [[maybe_unused]] const ssize_t got = read(wake, &count, sizeof count);
    std::deque<Answer> done;
    {
      const std::lock_guard lock(mutex);
      done.swap(answers);
    }
    for (Answer& answer : done) {
      held -= answer.bytes;
      const auto found = connections.find(answer.connection);
      if (found != connections.end() && found->second.state == Phase::kWorking)
        reply(found->second, std::move(answer.text));
    }
  }

  void accept_all() {
    while (static_cast<int>(connections.size()) < limits.connections + kRefusedAtOnce) {
      const int descriptor = accept4(listener.descriptor(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (descriptor < 0) {
        if (errno == EINTR || errno == ECONNABORTED) continue;
        if (errno != EAGAIN && errno != EWOULDBLOCK) accept_again = in_seconds(kAcceptPause);
        return;
      }
      const bool is_full = static_cast<int>(connections.size()) >= limits.connections;
      Connection& c =
          connections.emplace(++last_id, Connection{descriptor, Phase::kReading, in_seconds(limits.read_seconds)})
              .first->second;
      if (is_full) refuse(c, {503, "too many connections", "try again in a moment"});
    }
  }

  void serve(uint64_t id, short events) {
    const auto found = connections.find(id);
    if (found == connections.end()) return;
    Connection& c = found->second;
    bool alive = !(events & (POLLERR | POLLNVAL)) && !(events & POLLRDHUP && c.state == Phase::kWorking) &&
                 !(events & POLLHUP && c.state != Phase::kReading && c.state != Phase::kDraining);
    if (alive && !c.out.empty() && (events & POLLOUT)) alive = send_some(c);
    if (alive && (events & (POLLIN | POLLHUP)) && (c.state == Phase::kReading || c.state == Phase::kDraining))
      alive = receive(id, c);
    if (!alive) drop(found);
  }

  // False where the connection is to be closed.
  bool send_some(Connection& c) {
    while (c.sent < c.out.size()) {
      const ssize_t sent = send(c.descriptor, c.out.data() + c.sent, c.out.size() - c.sent, MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
      c.sent += static_cast<size_t>(sent);
    }
    c.out.clear();
    c.sent = 0;
    if (c.state == Phase::kWriting) {
      shutdown(c.descriptor, SHUT_WR);
      c.state = Phase::kDraining;
      c.deadline = in_seconds(kDrainSeconds);
    }
    return true;
  }

  bool receive(uint64_t id, Connection& c) {
    char buffer[kReadBytes];
    for (int turns = 0; turns < kReadsPerTurn; ++turns) {
      const ssize_t got = recv(c.descriptor, buffer, sizeof buffer, 0);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
      if (got == 0) return false;  // a client that closes before its request is complete wants no answer
      if (c.state == Phase::kDraining) continue;
      const size_t before = c.in.size();
      c.in.append(buffer, static_cast<size_t>(got));
      held += static_cast<size_t>(got);
      advance(id, c, before);
      if (c.state != Phase::kReading) return true;
    }
    return true;
  }

  // Looks at what has arrived: the head, then the body, then the queue.
  void advance(uint64_t id, Connection& c, size_t before) {
    if (c.head_size == 0) {
      c.head_size = end_of_head(c.in, before);
      if (std::max(c.head_size, c.head_size == 0 ? c.in.size() : 0) > limits.head_bytes)
        return refuse(c, {431, fmt::format("the head of the request is longer than {} bytes", limits.head_bytes), ""});
      if (c.head_size == 0) return;
      if (const auto refusal = parse_head(std::string_view(c.in).substr(0, c.head_size), c.request))
        return refuse(c, *refusal);
      if (c.request.body_size > limits.body_bytes)
        return refuse(c, {413, fmt::format("the data are larger than {} MB", limits.body_bytes >> 20),
                          "use `penn infer` for large files, or thin the data"});
      c.in.reserve(
          c.head_size + c.request.body_size +
          kReadBytes);  // growing by doubling would hold twice of what is counted; pages not yet written cost nothing
    }
    if (c.in.size() < c.head_size + c.request.body_size) {
      if (held > limits.all_bytes)
        return refuse(c, {503, "too much data at once from all clients together", "try again in a moment"});
      if (c.request.wants_continue && !c.continued) c.out = "HTTP/1.1 100 Continue\r\n\r\n", c.continued = true;
      return;
    }
    held -= c.in.size();
    c.in.resize(c.head_size + c.request.body_size);
    c.in.erase(0, c.head_size);
    c.request.body = std::move(c.in);
    std::string().swap(c.in);  // an assignment would keep its memory
    {
      const std::lock_guard lock(mutex);
      if (static_cast<int>(jobs.size()) < limits.waiting) {
        held += c.request.body.size();
        jobs.push_back({id, std::move(c.request)});
        c.state = Phase::kWorking;
        c.deadline = in_seconds(limits.work_seconds);
        c.out.clear();
        ready.notify_one();
        return;
      }
    }
    refuse(c, {503, "busy: too many requests wait", "try again in a moment"});
  }

  void refuse(Connection& c, const HttpRefusal& refusal) {
    held -= c.in.size();
    std::string().swap(c.in);  // an assignment would keep its memory
    std::string().swap(c.request.body);
    reply(c, to_text(error_response(refusal)));
  }

  void reply(Connection& c, std::string text) {
    c.out = std::move(text);
    c.sent = 0;
    c.state = Phase::kWriting;
    c.deadline = in_seconds(limits.write_seconds);
  }

  void expire() {
    const Clock::time_point now = Clock::now();
    for (auto c = connections.begin(); c != connections.end();) {
      const auto next = std::next(c);
      if (now >= c->second.deadline) {
        if (c->second.state == Phase::kReading && !c->second.in.empty())
          refuse(c->second,
                 {408, fmt::format("the request did not arrive within {:g} seconds", limits.read_seconds), ""});
        else if (c->second.state == Phase::kWorking) {
          forget_job(c->first);
          reply(c->second,
                to_text(error_response(504, fmt::format("no answer within {:g} seconds", limits.work_seconds),
                                       "use `penn infer` for large files")));
        } else drop(c);
      }
      c = next;
    }
  }

  // Nobody waits for its answer any more: where no worker has begun, none should.
  void forget_job(uint64_t connection) {
    const std::lock_guard lock(mutex);
    const auto found =
        std::find_if(jobs.begin(), jobs.end(), [&](const Job& job) { return job.connection == connection; });
    if (found == jobs.end()) return;
    held -= found->request.body.size();
    jobs.erase(found);
  }

  void drop(std::map<uint64_t, Connection>::iterator c) {
    if (c->second.state == Phase::kWorking) forget_job(c->first);
    held -= c->second.in.size();
    close(c->second.descriptor);
    connections.erase(c);
  }

  const ServerLimits limits;
  const Handler handler;
  const int wake;
  std::atomic<bool> stopping{false};
  static_assert(std::atomic<bool>::is_always_lock_free);  // set from a signal handler

  // Of the loop alone:
  std::map<uint64_t, Connection> connections;
  uint64_t last_id = 0;
  size_t held = 0;  // bytes of requests being received, waiting or worked on
  Clock::time_point accept_again = {};

  // Shared with the workers:
  std::mutex mutex;
  std::condition_variable ready;
  std::deque<Job> jobs;
  std::deque<Answer> answers;
  bool closing = false;
};

HttpServer::HttpServer(const ServerAddress& address, const ServerLimits& limits, Handler handler)
    : body_(std::make_unique<Body>(address, limits, std::move(handler))) {}
HttpServer::~HttpServer() = default;
int HttpServer::port() const {
  return body_->listener.port();
}
bool HttpServer::is_loopback() const {
  return body_->listener.is_loopback();
}
std::string HttpServer::url() const {
  return body_->listener.url();
}
void HttpServer::run() {
  body_->run();
}
void HttpServer::stop() {
  body_->stop();
}

}  // namespace penn
