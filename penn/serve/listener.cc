#include "penn/serve/listener.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "penn/base/error.h"

namespace penn {
namespace {

bool is_loopback_address(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    sockaddr_in in4;
    std::memcpy(&in4, &address, sizeof in4);
    return (ntohl(in4.sin_addr.s_addr) >> 24) == 127;
  }
  sockaddr_in6 in6;
  std::memcpy(&in6, &address, sizeof in6);
  return IN6_IS_ADDR_LOOPBACK(&in6.sin6_addr) ||
         (IN6_IS_ADDR_V4MAPPED(&in6.sin6_addr) && in6.sin6_addr.s6_addr[12] == 127);
}

int port_of(const sockaddr_storage& address) {
  in_port_t port;
  std::memcpy(&port,
              reinterpret_cast<const char*>(&address) +
                  (address.ss_family == AF_INET ? offsetof(sockaddr_in, sin_port) : offsetof(sockaddr_in6, sin6_port)),
              sizeof port);
  return ntohs(port);
}

[[noreturn]] void fail(const std::string& host, int port, int error_number) {
  if (error_number == EADDRINUSE)
    throw Error(fmt::format("port {} of {} is in use", port, host),
                "another `penn serve`? choose another port with --port, or --port 0 for a free one");
  if (error_number == EACCES)
    throw Error(fmt::format("port {} may not be used", port),
                "ports below 1024 belong to the system: choose a larger one with --port");
  if (error_number == EADDRNOTAVAIL)
    throw Error(fmt::format("{} is not an address of this machine", host),
                "leave out --host to serve this machine only");
  throw Error(fmt::format("cannot listen on {}, port {}: {}", host, port, std::strerror(error_number)));
}

}  // namespace

Listener::Listener(const std::string& host, int port) : host_(host) {
  addrinfo wanted = {}, *list = nullptr;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  if (const int error = getaddrinfo(host.c_str(), fmt::format("{}", port).c_str(), &wanted, &list); error != 0)
    throw Error(fmt::format("'{}' is not an address: {}", host, gai_strerror(error)), "for example --host 127.0.0.1");
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(list, freeaddrinfo);
  int error_number = 0;
  for (const addrinfo* a = list; a; a = a->ai_next) {
    descriptor_ = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const int yes = 1;
    if (descriptor_ >= 0 && setsockopt(descriptor_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
        bind(descriptor_, a->ai_addr, a->ai_addrlen) == 0 && listen(descriptor_, 128) == 0)
      break;
    error_number = errno;
    if (descriptor_ >= 0) close(descriptor_);
    descriptor_ = -1;
  }
  if (descriptor_ < 0) fail(host, port, error_number);
  sockaddr_storage bound = {};
  socklen_t size = sizeof bound;
  if (getsockname(descriptor_, reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
    error_number = errno;
    close(descriptor_);
    fail(host, port, error_number);
  }
  port_ = port_of(bound);
  is_loopback_ = is_loopback_address(bound);
}

Listener::~Listener() {
  close(descriptor_);
}

std::string Listener::url() const {
  const bool is_ip6 = host_.find(':') != std::string::npos;
  return fmt::format("http://{}{}{}:{}/", is_ip6 ? "[" : "", host_, is_ip6 ? "]" : "", port_);
}

}  // namespace penn
