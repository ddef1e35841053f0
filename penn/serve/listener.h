// A listening socket: the only place where an address becomes a file descriptor.
#pragma once

#include <string>

namespace penn {

class Listener {
 public:
  // host: a number or a name; port 0: a free one. Error where it cannot be had, with what to do.
  Listener(const std::string& host, int port);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  int descriptor() const { return descriptor_; }
  int port() const { return port_; }
  bool is_loopback() const { return is_loopback_; }
  std::string url() const;

 private:
  std::string host_;
  int descriptor_ = -1, port_ = 0;
  bool is_loopback_ = false;
};

}  // namespace penn
