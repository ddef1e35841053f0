// One request and one answer of HTTP/1.1 as plain values: what `penn serve` needs of the protocol and nothing more. A
// body has a Content-Length; chunks, ranges, compression, cookies and kept connections do not exist. What is not
// understood is refused with a status and a sentence.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace penn {

struct HttpRequest {
  std::string method,
      path;  // path: as sent, without the query; it is compared with fixed texts and used for nothing else
  std::map<std::string, std::string> query;    // decoded; the first of equal names
  std::map<std::string, std::string> headers;  // names in lower case
  size_t body_size = 0;                        // announced
  bool wants_continue = false;                 // Expect: 100-continue
  std::string body;

  // "" where there is none.
  std::string header(const std::string& name) const;
  std::string parameter(const std::string& name) const;
};

struct HttpResponse {
  int status = 200;
  std::string type = "application/json", body;
  std::string extra = {};  // further header lines, each with its "\r\n"
};

// What is wrong with a request: the status it deserves, a sentence, and what to do.
struct HttpRefusal {
  int status;
  std::string message, hint;
};

// Reads the head: everything up to and with the empty line. A refusal where it cannot be understood.
std::optional<HttpRefusal> parse_head(std::string_view head, HttpRequest& request);

// {"error": message, "hint": hint}; bytes that are not UTF-8 are replaced.
HttpResponse error_response(const HttpRefusal& refusal);
HttpResponse error_response(int status, const std::string& message, const std::string& hint = "");

// The answer as it is sent, with the headers that every answer has: no caching, no guessing of types, no frames, no
// network.
std::string to_text(const HttpResponse& response);

// The content policy of every answer, the page included: inline code only, and no address but the server's own.
extern const char kContentPolicy[];

}  // namespace penn
