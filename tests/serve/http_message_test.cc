// The head of a request: what is read from good ones, what is said about bad ones, and that no bytes whatsoever break
// the reader.
#include "penn/serve/http_message.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "penn/posterior/draw_stream.h"

namespace penn {
namespace {

TEST(http_message_test, a_request_of_a_browser_is_read) {
  HttpRequest request;
  const auto refusal = parse_head(
      "POST /api/infer?model=oup&file=my%20bead+1.csv&model=other HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nContent-Length: "
      "12\r\nX-Empty:\r\nExpect: 100-Continue\r\n\r\n",
      request);
  ASSERT_FALSE(refusal) << refusal->message;
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.path, "/api/infer");
  EXPECT_EQ(request.parameter("model"), "oup");  // the first counts
  EXPECT_EQ(request.parameter("file"), "my bead 1.csv");
  EXPECT_EQ(request.parameter("none"), "");
  EXPECT_EQ(request.header("host"), "127.0.0.1:8000");
  EXPECT_EQ(request.header("x-empty"), "");
  EXPECT_EQ(request.body_size, 12u);
  EXPECT_TRUE(request.wants_continue);
}

TEST(http_message_test, what_is_wrong_is_named_and_has_a_status) {
  struct Case {
    std::string head;
    int status;
    const char* part;
  };
  const std::string line = "GET / HTTP/1.1\r\n";
  const Case cases[] = {
      {"", 400, "no first line"},
      {"\r\n", 400, "no first line"},
      {"GET /\r\n\r\n", 400, "method, address and version"},
      {"G@T / HTTP/1.1\r\n\r\n", 400, "method is not a word"},
      {"GET / HTTP/2\r\n\r\n", 400, "version"},
      {"GET http://elsewhere/ HTTP/1.1\r\n\r\n", 400, "does not begin with /"},
      {"GET /\x01 HTTP/1.1\r\n\r\n", 400, "encoded"},
      {"GET /?a=%2 HTTP/1.1\r\n\r\n", 400, "hexadecimal"},
      {"GET /?a=%zz HTTP/1.1\r\n\r\n", 400, "hexadecimal"},
      {"GET /" + std::string(3000, 'a') + " HTTP/1.1\r\n\r\n", 414, "longer than 2048"},
      {line + "no colon\r\n\r\n", 400, "name, a colon and a value"},
      {line + "Two Words: x\r\n\r\n", 400, "name, a colon and a value"},
      {line + " folded: x\r\n\r\n", 400, "name, a colon and a value"},
      {line + "A: b" + std::string(1, '\0') + "\r\n\r\n", 400, "control characters"},
      {line + "Host: a\r\nhost: b\r\n\r\n", 400, "two headers host"},
      {line + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", 400, "two headers content-length"},
      {line + "Content-Length: -1\r\n\r\n", 400, "not a whole number"},
      {line + "Content-Length: 12 13\r\n\r\n", 400, "not a whole number"},
      {line + "Content-Length:\r\n\r\n", 400, "not a whole number"},
      {line + "Transfer-Encoding: chunked\r\n\r\n", 411, "Content-Length"},
      {"POST / HTTP/1.1\r\n\r\n", 411, "Content-Length"},
      {"GET / HTTP/1.1\r\nHost: a", 400, "middle of a line"},
  };
  for (const Case& c : cases) {
    HttpRequest request;
    const auto refusal = parse_head(c.head, request);
    ASSERT_TRUE(refusal) << c.head;
    EXPECT_EQ(refusal->status, c.status) << c.head;
    EXPECT_NE(refusal->message.find(c.part), std::string::npos) << refusal->message;
  }
  std::string many = line;
  for (int i = 0; i < 200; ++i) many += "A" + std::to_string(i) + ": b\r\n";
  HttpRequest request;
  EXPECT_EQ(parse_head(many + "\r\n", request)->status, 431);
}

TEST(http_message_test, a_length_beyond_all_numbers_is_too_large_not_zero) {
  HttpRequest request;
  EXPECT_FALSE(parse_head("GET / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n", request));
  EXPECT_EQ(request.body_size, SIZE_MAX);
}

// 20,000 heads with one to eight bytes changed: each is read or refused with 4xx (the sanitizer build watches).
TEST(http_message_test, changed_bytes_are_read_or_refused) {
  const std::string good =
      "POST /api/simulate?model=oup%20x&b HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n";
  DrawStream draws(1);
  const auto below = [&](size_t n) {
    return std::min(n - 1, static_cast<size_t>(draws.uniform() * static_cast<double>(n)));
  };
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string head = good;
    for (size_t changes = 1 + below(8); changes > 0; --changes) {
      const size_t at = below(head.size());
      if (below(3) == 0) head.erase(at, 1 + below(5));
      else head[at] = static_cast<char>(below(256));
      if (head.empty()) break;
    }
    HttpRequest request;
    if (const auto refusal = parse_head(head, request)) {
      ++refused;
      EXPECT_GE(refusal->status, 400);
      EXPECT_LT(refusal->status, 500);
    }
  }
  EXPECT_GT(refused, 5000);
  EXPECT_LT(refused, 20000);
}

TEST(http_message_test, every_answer_forbids_guessing_framing_caching_and_the_network) {
  const std::string text = to_text(error_response(400, "bad \xff byte", "a hint"));
  for (const char* line :
       {"HTTP/1.1 400 Bad Request\r\n", "X-Content-Type-Options: nosniff\r\n", "Cache-Control: no-store\r\n",
        "default-src 'none'", "frame-ancestors 'none'", "Connection: close\r\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line;
  EXPECT_EQ(text.find("Access-Control"), std::string::npos);
  const auto body = nlohmann::json::parse(text.substr(text.find("\r\n\r\n") + 4));
  EXPECT_EQ(body["error"], "bad \xef\xbf\xbd byte");
  EXPECT_EQ(body["hint"], "a hint");
  EXPECT_NE(to_text(error_response(503, "busy")).find("Retry-After"), std::string::npos);
}

}  // namespace
}  // namespace penn
