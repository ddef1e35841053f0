#include "penn/serve/http_message.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

namespace penn {
namespace {

constexpr size_t kMostTarget = 2048, kMostHeaders = 100;

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

int hex(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

// "a%20b" -> "a b"; false where a % is followed by anything but two hexadecimal digits.
bool percent_decode(std::string_view text, std::string& out) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    if (i + 2 >= text.size() || hex(text[i + 1]) < 0 || hex(text[i + 2]) < 0) return false;
    out += static_cast<char>(16 * hex(text[i + 1]) + hex(text[i + 2]));
    i += 2;
  }
  return true;
}

bool parse_query(std::string_view text, std::map<std::string, std::string>& query) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('&'), text.size());
    const std::string_view part = text.substr(0, end);
    const size_t equals = std::min(part.find('='), part.size());
    std::string name, value;
    if (!percent_decode(part.substr(0, equals), name) ||
        !percent_decode(part.substr(std::min(equals + 1, part.size())), value))
      return false;
    if (!name.empty()) query.emplace(std::move(name), std::move(value));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return true;
}

HttpRefusal malformed(const std::string& what) {
  return {400, "this is not HTTP/1.1: " + what, "open the address in a browser"};
}

std::optional<HttpRefusal> parse_request_line(std::string_view line, HttpRequest& request) {
  const size_t first = line.find(' '), second = first == std::string_view::npos ? first : line.find(' ', first + 1);
  if (second == std::string_view::npos) return malformed("the first line has no method, address and version");
  const std::string_view method = line.substr(0, first), target = line.substr(first + 1, second - first - 1),
                         version = line.substr(second + 1);
  if (!is_token(method) || method.size() > 20) return malformed("the method is not a word");
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return malformed("the version is neither HTTP/1.1 nor HTTP/1.0");
  if (target.size() > kMostTarget)
    return HttpRefusal{414, fmt::format("the address is longer than {} characters", kMostTarget), ""};
  if (target.empty() || target[0] != '/' ||
      std::any_of(target.begin(), target.end(), [](char c) { return c <= ' ' || c >= 127; }))
    return malformed("the address does not begin with / or has characters that must be encoded");
  const size_t question = std::min(target.find('?'), target.size());
  request.method = method;
  request.path = target.substr(0, question);
  if (!parse_query(target.substr(std::min(question + 1, target.size())), request.query))
    return malformed("a % in the address is not followed by two hexadecimal digits");
  return {};
}

std::optional<HttpRefusal> parse_header_line(std::string_view line, HttpRequest& request) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon)))
    return malformed("a header line is not a name, a colon and a value");
  const std::string name = lower(line.substr(0, colon));
  std::string_view value = line.substr(colon + 1);
  while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
  while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.remove_suffix(1);
  if (std::any_of(value.begin(), value.end(), [](unsigned char c) { return c < ' ' && c != '\t'; }))
    return malformed("a header has control characters");
  const bool is_new = request.headers.emplace(name, value).second;
  // Two servers that choose different ones of two lengths or hosts can be played off against each other.
  if (!is_new && (name == "content-length" || name == "host")) return malformed("two headers " + name);
  if (request.headers.size() > kMostHeaders)
    return HttpRefusal{431, fmt::format("more than {} headers", kMostHeaders), ""};
  return {};
}

const char* reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 411:
      return "Length Required";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 422:
      return "Unprocessable Content";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    default:
      return "Answer";
  }
}

}  // namespace

const char kContentPolicy[] =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; connect-src "
    "'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

std::string HttpRequest::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

std::string HttpRequest::parameter(const std::string& name) const {
  const auto found = query.find(name);
  return found == query.end() ? "" : found->second;
}

std::optional<HttpRefusal> parse_head(std::string_view head, HttpRequest& request) {
  bool is_first = true;
  while (!head.empty()) {
    const size_t end = head.find('\n');
    if (end == std::string_view::npos) return malformed("the head ends in the middle of a line");
    std::string_view line = head.substr(0, end);
    head.remove_prefix(end + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty()) break;
    if (auto refusal = is_first ? parse_request_line(line, request) : parse_header_line(line, request)) return refusal;
    is_first = false;
  }
  if (is_first) return malformed("there is no first line");
  if (request.headers.count("transfer-encoding"))
    return HttpRefusal{411, "a body must come with its Content-Length", "Transfer-Encoding is not supported"};
  if (const std::string length = request.header("content-length"); request.headers.count("content-length")) {
    const auto [end, error] = std::from_chars(length.data(), length.data() + length.size(), request.body_size);
    if (error == std::errc::result_out_of_range) request.body_size = SIZE_MAX;  // too large, whatever the limit
    else if (error != std::errc() || end != length.data() + length.size())
      return malformed("Content-Length is not a whole number");
  } else if (request.method == "POST" || request.method == "PUT" || request.method == "PATCH") {
    return HttpRefusal{411, "a body must come with its Content-Length", ""};
  }
  request.wants_continue = lower(request.header("expect")) == "100-continue";
  return {};
}

HttpResponse error_response(int status, const std::string& message, const std::string& hint) {
  nlohmann::ordered_json answer = {{"error", message}};
  if (!hint.empty()) answer["hint"] = hint;
  HttpResponse response;
  response.status = status;
  response.body = answer.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  if (status == 503) response.extra = "Retry-After: 1\r\n";
  return response;
}

HttpResponse error_response(const HttpRefusal& refusal) {
  return error_response(refusal.status, refusal.message, refusal.hint);
}

std::string to_text(const HttpResponse& response) {
  return fmt::format(
             "HTTP/1.1 {} {}\r\nContent-Type: {}; charset=utf-8\r\nContent-Length: {}\r\nConnection: "
             "close\r\nCache-Control: no-store\r\n"
             "X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nReferrer-Policy: "
             "no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n"
             "Content-Security-Policy: {}\r\n{}\r\n",
             response.status, reason(response.status), response.type, response.body.size(), kContentPolicy,
             response.extra) +
         response.body;
}

}  // namespace penn
