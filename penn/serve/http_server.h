// A small HTTP server for one machine. One thread does all reading and writing (poll), so that a client that sends a
// byte a minute costs nothing but its place; a few workers do the work. Everything is bounded: connections, bytes,
// time, requests that wait. Beyond a bound a client is told 503, 413 or 408. Every answer closes its connection.
//   HttpServer server({"127.0.0.1", 0}, {}, handler);
//   server.run();  // until stop(), from any thread or a signal handler
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "penn/serve/http_message.h"

namespace penn {

struct ServerAddress {
  std::string host = "127.0.0.1";
  int port = 0;  // 0: a free one
};

struct ServerLimits {
  size_t head_bytes = 16 << 10;
  size_t body_bytes = 32 << 20;
  size_t all_bytes = 256 << 20;  // of all requests that are being received or wait
  int connections = 128;         // beyond them a client is told 503
  int waiting = 64;              // requests, besides those being worked on
  int workers = 2;
  double read_seconds = 20;   // for a request to arrive, from its connection
  double work_seconds = 120;  // waiting and work; the work itself is bounded by what a request may ask for
  double write_seconds = 20;
};

class HttpServer {
 public:
  using Handler = std::function<HttpResponse(const HttpRequest&)>;

  // Binds and listens. Error where the address cannot be had. The handler is called from several threads; what it
  // throws becomes a 500.
  HttpServer(const ServerAddress& address, const ServerLimits& limits, Handler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const;
  bool is_loopback() const;  // only this machine can reach it
  std::string url() const;   // "http://127.0.0.1:8000/"

  void run();   // returns after stop(), when the requests being worked on are done
  void stop();  // may be called from a signal handler

 private:
  class Body;
  std::unique_ptr<Body> body_;
};

}  // namespace penn
