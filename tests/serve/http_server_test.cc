// The server against clients that misbehave: raw sockets, small limits, a handler that echoes.
#include "penn/serve/http_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "penn/base/error.h"

namespace penn {
namespace {

using Clock = std::chrono::steady_clock;
double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class Client {
 public:
  explicit Client(int port) : descriptor_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    timeval limit = {10, 0};
    setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    connected_ = connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~Client() { close(descriptor_); }
  Client(const Client&) = delete;
  bool connected() const { return connected_; }
  void send(const std::string& text) const {
    for (size_t sent = 0; sent < text.size();) {
      const ssize_t n = ::send(descriptor_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) return;
      sent += static_cast<size_t>(n);
    }
  }
  std::string receive_all() const {
    std::string text;
    char buffer[4096];
    for (ssize_t n; (n = recv(descriptor_, buffer, sizeof buffer, 0)) > 0;) text.append(buffer, static_cast<size_t>(n));
    return text;
  }
  std::string ask(const std::string& text) const {
    send(text);
    return receive_all();
  }

 private:
  int descriptor_;
  bool connected_ = false;
};

std::string post(const std::string& body) {
  return "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

// Answers with the body; "wait" waits until released, "throw" and "memory" throw.
class Echo {
 public:
  explicit Echo(const ServerLimits& limits)
      : server_({"127.0.0.1", 0}, limits, [this](const HttpRequest& r) { return handle(r); }),
        thread_([this] { server_.run(); }) {}
  ~Echo() {
    release();
    server_.stop();
    thread_.join();
  }
  int port() const { return server_.port(); }
  HttpServer& server() { return server_; }
  void release() {
    const std::lock_guard lock(mutex_);
    released_ = true;
    condition_.notify_all();
  }
  std::atomic<int> working{0};

 private:
  HttpResponse handle(const HttpRequest& request) {
    if (request.body == "throw") throw Error("something broke");
    if (request.body == "memory") throw std::bad_alloc();
    if (request.body == "wait") {
      ++working;
      std::unique_lock lock(mutex_);
      condition_.wait(lock, [this] { return released_; });
    }
    return {200, "text/plain", request.body};
  }
  std::mutex mutex_;
  std::condition_variable condition_;
  bool released_ = false;
  HttpServer server_;
  std::thread thread_;
};

int status_of(const std::string& answer) {
  return answer.size() > 12 ? std::stoi(answer.substr(9, 3)) : 0;
}

TEST(http_server_test, a_body_comes_back_whatever_chunks_it_is_sent_in) {
  Echo echo({});
  const std::string body(300'000, 'x'), whole = post(body);
  EXPECT_TRUE(Client(echo.port()).ask(whole).ends_with(body));
  const Client client(echo.port());
  for (size_t at = 0; at < 80; ++at) client.send(whole.substr(at, 1));
  client.send(whole.substr(80));
  EXPECT_TRUE(client.receive_all().ends_with(body));
  EXPECT_TRUE(
      Client(echo.port()).ask("GET / HTTP/1.0\nHost: x\n\n").starts_with("HTTP/1.1 200 OK"));  // bare line feeds
}

TEST(http_server_test, a_client_that_asks_first_is_told_to_continue) {
  Echo echo({});
  const Client client(echo.port());
  client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const std::string answer = client.ask("abc");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK")) << answer;
}

TEST(http_server_test, noise_is_refused_and_the_server_lives) {
  Echo echo({});
  EXPECT_EQ(status_of(Client(echo.port()).ask("\x16\x03\x01\x02\x01\x01\r\n\r\n")), 400);  // https on an http port
  EXPECT_EQ(status_of(Client(echo.port()).ask("hello\r\n\r\n")), 400);
  EXPECT_EQ(status_of(Client(echo.port()).ask("GET / HTTP/1.1\r\nA: " + std::string(40'000, 'a'))), 431);
  EXPECT_EQ(status_of(Client(echo.port()).ask(std::string(100'000, 'a'))), 431);
  Client(echo.port()).send("POST / HTTP/1.1\r\nContent-Length: 100\r\n\r\nhalf");  // and gone
  EXPECT_EQ(status_of(Client(echo.port()).ask(post("fine"))), 200);
}

TEST(http_server_test, a_body_over_the_limit_is_told_so_while_it_is_still_being_sent) {
  Echo echo({.body_bytes = 1 << 20});
  const std::string answer = Client(echo.port()).ask(post(std::string(8 << 20, 'x')));
  EXPECT_EQ(status_of(answer), 413) << answer.substr(0, 200);
  EXPECT_NE(answer.find("larger than 1 MB"), std::string::npos);
  EXPECT_EQ(status_of(Client(echo.port()).ask("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n")), 413);
  EXPECT_EQ(status_of(Client(echo.port()).ask(post(std::string(1 << 20, 'x')))), 200);
}

TEST(http_server_test, bodies_of_all_clients_together_are_bounded) {
  Echo echo({.body_bytes = 1 << 20, .all_bytes = 1 << 20});
  const Client first(echo.port());
  const std::string large = post(std::string(900'000, 'x'));
  first.send(large.substr(0, large.size() - 1));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const Client second(echo.port());
  second.send(large.substr(0, large.size() - 1));
  EXPECT_EQ(status_of(second.receive_all()), 503);
  first.send("x");
  EXPECT_EQ(status_of(first.receive_all()), 200);
  EXPECT_EQ(status_of(Client(echo.port()).ask(large)), 200);  // the account is balanced again
}

TEST(http_server_test, slow_clients_are_cut_off_and_cost_nobody_a_worker) {
  Echo echo({.workers = 1, .read_seconds = 0.8});
  const auto start = Clock::now();
  std::vector<std::unique_ptr<Client>> slow;
  for (int i = 0; i < 40; ++i) slow.push_back(std::make_unique<Client>(echo.port()));
  for (const auto& client : slow) client->send("POST / HTTP/1.1\r\nContent-Le");
  EXPECT_EQ(status_of(Client(echo.port()).ask(post("quick"))), 200);
  EXPECT_LT(since(start), 0.7);
  for (const auto& client : slow) EXPECT_EQ(status_of(client->receive_all()), 408);
  const double waited = since(start);
  EXPECT_GT(waited, 0.75);
  EXPECT_LT(waited, 3);
  const Client silent(echo.port());
  EXPECT_EQ(silent.receive_all(), "");  // who says nothing hears nothing
}

TEST(http_server_test, a_client_that_never_reads_is_dropped) {
  Echo echo({.workers = 1, .write_seconds = 0.3});
  const std::string body(20 << 20, 'x');
  const Client deaf(echo.port());
  deaf.send(post(body));
  std::this_thread::sleep_for(std::chrono::milliseconds(800));
  EXPECT_LT(deaf.receive_all().size(), body.size());  // cut off in the middle
  EXPECT_EQ(status_of(Client(echo.port()).ask(post("next"))), 200);
}

TEST(http_server_test, beyond_the_queue_and_the_connections_the_answer_is_503) {
  Echo echo({.connections = 6, .waiting = 2, .workers = 1});
  std::vector<std::unique_ptr<Client>> clients;
  const auto add = [&] {
    clients.push_back(std::make_unique<Client>(echo.port()));
    clients.back()->send(post("wait"));
  };
  add();
  while (echo.working == 0) std::this_thread::yield();
  for (int i = 0; i < 3; ++i) add();  // two wait, the third is refused
  const std::string refused = clients.back()->receive_all();
  EXPECT_EQ(status_of(refused), 503);
  EXPECT_NE(refused.find("too many requests wait"), std::string::npos) << refused;
  clients.pop_back();
  std::vector<std::unique_ptr<Client>> idle;
  for (int i = 0; i < 4; ++i) idle.push_back(std::make_unique<Client>(echo.port()));
  const std::string full = Client(echo.port()).receive_all();
  EXPECT_NE(full.find("too many connections"), std::string::npos) << full;
  echo.release();
  for (const auto& client : clients) EXPECT_EQ(status_of(client->receive_all()), 200);
}

TEST(http_server_test, work_that_takes_too_long_is_answered_without_it) {
  Echo echo({.workers = 1, .work_seconds = 0.3});
  const Client client(echo.port());
  client.send(post("wait"));
  EXPECT_EQ(status_of(client.receive_all()), 504);
  echo.release();
  EXPECT_EQ(status_of(Client(echo.port()).ask(post("next"))), 200);
}

TEST(http_server_test, work_that_nobody_waits_for_any_more_is_not_begun) {
  Echo echo({.waiting = 4, .workers = 1});
  const Client first(echo.port());
  first.send(post("wait"));
  while (echo.working == 0) std::this_thread::yield();
  for (int i = 0; i < 20; ++i) {  // five times what the queue holds; each is gone before its turn
    const Client gone(echo.port());
    gone.send(post("wait"));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const Client next(echo.port());
  next.send(post("next"));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  echo.release();
  EXPECT_EQ(status_of(next.receive_all()), 200);
  EXPECT_EQ(echo.working, 1);
}

TEST(http_server_test, what_a_handler_throws_becomes_an_answer) {
  Echo echo({});
  const std::string answer = Client(echo.port()).ask(post("throw"));
  EXPECT_EQ(status_of(answer), 500);
  EXPECT_NE(answer.find("something broke"), std::string::npos);
  EXPECT_EQ(status_of(Client(echo.port()).ask(post("memory"))), 503);
}

TEST(http_server_test, fifty_clients_at_once_are_all_answered) {
  Echo echo({});
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 50; ++i)
    threads.emplace_back([&, i] {
      for (int k = 0; k < 10; ++k) {
        const std::string body = std::to_string(1000 * i + k);
        good += Client(echo.port()).ask(post(body)).ends_with("\r\n\r\n" + body);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 500);
}

TEST(http_server_test, stopping_while_clients_wait_ends_promptly) {
  const auto start = Clock::now();
  {
    Echo echo({});
    const Client silent(echo.port()), half(echo.port());
    half.send("POST / HTTP/1.1\r\n");
    EXPECT_EQ(status_of(Client(echo.port()).ask(post("x"))), 200);
  }
  EXPECT_LT(since(start), 2);
}

TEST(http_server_test, addresses_that_cannot_be_had_say_why) {
  Echo echo({});
  const auto message = [](const ServerAddress& address) -> std::string {
    try {
      HttpServer server(address, {}, [](const HttpRequest&) { return HttpResponse(); });
    } catch (const Error& error) {
      return error.full_text();
    }
    return "no error";
  };
  EXPECT_NE(message({"127.0.0.1", echo.port()}).find("is in use\nhint: "), std::string::npos);
  EXPECT_NE(message({"192.0.2.1", 0}).find("not an address of this machine"), std::string::npos);
  EXPECT_NE(message({"no such host", 0}).find("is not an address"), std::string::npos);
}

TEST(http_server_test, loopback_is_told_from_the_rest) {
  const auto handler = [](const HttpRequest&) { return HttpResponse(); };
  EXPECT_TRUE(HttpServer({"127.0.0.1", 0}, {}, handler).is_loopback());
  EXPECT_TRUE(HttpServer({"127.8.9.10", 0}, {}, handler).is_loopback());
  EXPECT_TRUE(HttpServer({"localhost", 0}, {}, handler).is_loopback());
  EXPECT_FALSE(HttpServer({"0.0.0.0", 0}, {}, handler).is_loopback());
  const HttpServer server({"127.0.0.1", 0}, {}, handler);
  EXPECT_EQ(server.url(), "http://127.0.0.1:" + std::to_string(server.port()) + "/");
}

}  // namespace
}  // namespace penn
