// What the service answers, without a socket: with the tiny model of the fuzzer (one parameter a in [0, 1], one
// channel, 12 samples).
#include "penn/serve/live_service.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/files_for_tests.h"
#include "penn/answer/infer.h"
#include "penn/answer/inference.h"
#include "penn/base/error.h"

namespace penn {
namespace {

using nlohmann::json;

const std::string kTiny = std::string(PENN_SOURCE_DIR) + "/fuzz/corpus/model/tiny.safetensors";
const std::string kData = "0.1\n0.25\n-0.3\n0.4\n0.55\n0.61\n-0.7\n0.82\n-0.93\n0.14\n0.2\n0.31\n";

struct Service {
  std::vector<std::string> warnings;
  ModelTable models{{kTiny}, 1, warnings};
  LiveService service;
  explicit Service(bool loopback_only = true, const LiveLimits& limits = {}) : service(models, loopback_only, limits) {}
  HttpResponse ask(const std::string& method, const std::string& target, const std::string& body = "",
                   const std::string& headers = "Host: localhost\r\n") const {
    HttpRequest request;
    const auto refusal = parse_head(method + " " + target + " HTTP/1.1\r\n" + headers +
                                        "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n",
                                    request);
    if (refusal) return error_response(*refusal);
    request.body = body;
    return service(request);
  }
};

TEST(live_service_test, models_are_listed_with_what_a_page_needs) {
  const Service s;
  const json list = json::parse(s.ask("GET", "/api/models").body)["models"];
  const auto tiny = std::find_if(list.begin(), list.end(), [](const json& m) { return m["name"] == "tiny"; });
  ASSERT_NE(tiny, list.end());
  EXPECT_EQ((*tiny)["parameters"], json::parse(R"([{"name": "a", "label": "a", "low": 0, "high": 1}])"));
  EXPECT_EQ((*tiny)["length"], json::parse("[12, 12]"));
  EXPECT_EQ((*tiny)["usual_length"], 12);
  EXPECT_EQ((*tiny)["channels"], json::parse("[\"x\"]"));
}

TEST(live_service_test, the_page_is_the_report_page_in_its_live_kind) {
  const HttpResponse page = Service().ask("GET", "/");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.type, "text/html");
  EXPECT_NE(page.body.find(R"({"kind": "live"})"), std::string::npos);
}

TEST(live_service_test, a_csv_gets_the_posterior_of_the_library) {
  const Service s;
  const HttpResponse response = s.ask("POST", "/api/infer?model=tiny&file=bead.csv", kData);
  ASSERT_EQ(response.status, 200) << response.body;
  const json result = json::parse(response.body)["results"][0];
  const ServedModel& model = *s.models.find("tiny");
  auto observed =
      read_observations(InputFile(std::string_view(kData), "bead.csv"), observation_format(model.estimator));
  const Inference expected = infer(model.estimator, "tiny", observed)[0];
  EXPECT_EQ(result["mean"], json(expected.mean));
  EXPECT_EQ(result["sd"], json(expected.sd));
  EXPECT_EQ(result["name"], "bead.csv");
  EXPECT_EQ(result["trajectory"]["values"][0].size(), 12u);
  EXPECT_FALSE(result.contains("truth"));
}

TEST(live_service_test, a_bad_csv_gets_the_librarys_words_with_line_and_column) {
  const HttpResponse response =
      Service().ask("POST", "/api/infer?model=tiny&file=my%20bead.csv", "0.1\n0.2\nabc\n0.4\n");
  EXPECT_EQ(response.status, 400);
  const json answer = json::parse(response.body);
  EXPECT_EQ(answer["error"].get<std::string>().find("my bead.csv:3:1: 'abc' is not a number"), 0u) << answer;
}

TEST(live_service_test, a_simulated_trajectory_comes_with_its_truth_and_the_same_seed_gives_the_same) {
  const Service s;
  const auto ask = [&](const char* body) { return json::parse(s.ask("POST", "/api/simulate?model=tiny", body).body); };
  const json first = ask(R"({"theta": [0.25], "length": 12, "seed": 7})"),
             again = ask(R"({"theta": [0.25], "length": 12, "seed": 7})"),
             other = ask(R"({"theta": [0.25], "length": 12, "seed": 8})");
  EXPECT_EQ(first["results"][0]["truth"], json::parse("[0.25]"));
  EXPECT_EQ(first["results"][0]["sampling"], 1.0);
  EXPECT_EQ(first, again);
  EXPECT_NE(first["results"][0]["trajectory"], other["results"][0]["trajectory"]);
}

TEST(live_service_test, wrong_requests_are_refused_with_a_sentence) {
  const Service s;
  struct Case {
    const char *method, *target, *body;
    int status;
    const char* part;
  };
  const Case cases[] = {
      {"GET", "/nothing", "", 404, "nothing at this address"},
      {"GET", "/../../etc/passwd", "", 404, "nothing"},
      {"GET", "/%2e%2e/%2e%2e/etc/passwd", "", 404, "nothing"},
      {"GET", "/api/models/../../../etc/passwd", "", 404, "nothing"},
      {"GET", "//", "", 404, "nothing"},
      {"POST", "/api/infer?model=../../etc/passwd", "1\n2\n", 404, "no model"},
      {"POST", "/api/infer?model=/etc/passwd", "1\n2\n", 404, "no model"},
      {"POST", "/api/infer?model=tiny.safetensors", "1\n2\n", 404, "no model"},
      {"POST", "/api/infer?model=tiny%00", "1\n2\n", 404, "no model"},
      {"POST", "/api/infer", "1\n2\n", 400, "'model' is missing"},
      {"POST", "/api/infer?model=tiny", "", 400, "no data"},
      {"POST", "/api/infer?model=tiny", "1\n", 400, "1 sample"},
      {"POST", "/api/infer?model=tiny", "1,2,3\n4,5,6\n", 400, "3 columns"},
      {"POST", "/api/infer?model=tiny&columns=9", "1,2,3\n4,5,6\n", 400, "no column '9'"},
      {"POST", "/api/infer?model=tiny&sampling=fast", "1\n2\n", 400, "not a positive number"},
      {"POST", "/api/infer?model=tiny&sampling=-1", "1\n2\n", 400, "not a positive number"},
      {"POST", "/api/infer?model=tiny", "nan\nnan\n", 400, "finite"},
      {"POST", "/api/infer?model=tiny", "1e300\n1e300\n", 400, "finite number (float32)"},
      {"DELETE", "/api/models", "", 405, "answers GET only"},
      {"POST", "/", "x", 405, "answers GET only"},
      {"HEAD", "/", "", 405, "answers GET only"},
      {"GET", "/api/infer?model=tiny", "", 405, "answers POST only"},
      {"POST", "/api/simulate?model=tiny", "", 400, "not a JSON object"},
      {"POST", "/api/simulate?model=tiny", "{", 400, "not a JSON object"},
      {"POST", "/api/simulate?model=tiny", "[1]", 400, "not a JSON object"},
      {"POST", "/api/simulate?model=tiny", "{}", 400, "theta must be a list of 1"},
      {"POST", "/api/simulate?model=tiny", R"({"theta": [0.5, 0.5], "length": 12, "seed": 1})", 400, "list of 1"},
      {"POST", "/api/simulate?model=tiny", R"({"theta": ["a"], "length": 12, "seed": 1})", 400, "from 0 to 1"},
      {"POST", "/api/simulate?model=tiny", R"({"theta": [null], "length": 12, "seed": 1})", 400, "from 0 to 1"},
      {"POST", "/api/simulate?model=tiny", R"({"theta": [1e308], "length": 12, "seed": 1})", 400, "from 0 to 1"},
      {"POST", "/api/simulate?model=tiny", R"({"theta": [1e999], "length": 12, "seed": 1})", 400, "JSON"},
      {"POST", "/api/simulate?model=tiny", R"({"theta": [NaN], "length": 12, "seed": 1})", 400, "JSON"},
      {"POST", "/api/simulate?model=tiny", R"({"theta": [0.5], "seed": 1})", 400, "length is missing"},
      {"POST", "/api/simulate?model=tiny", R"({"theta": [0.5], "length": 1e18, "seed": 1})", 400, "from 12 to 12"},
      {"POST", "/api/simulate?model=tiny", R"({"theta": [0.5], "length": 12.5, "seed": 1})", 400, "whole number"},
      {"POST", "/api/simulate?model=tiny", R"({"theta": [0.5], "length": 12, "seed": -1})", 400, "seed must be"},
  };
  for (const Case& c : cases) {
    const HttpResponse response = s.ask(c.method, c.target, c.body);
    EXPECT_EQ(response.status, c.status) << c.target << " " << c.body << " " << response.body;
    const json answer = json::parse(response.body);
    EXPECT_NE(answer["error"].get<std::string>().find(c.part), std::string::npos)
        << c.target << " " << c.body << " " << answer;
  }
  EXPECT_EQ(s.ask("POST", "/api/simulate?model=tiny", std::string(100'000, '[')).status, 413);
  EXPECT_EQ(s.ask("POST", "/api/simulate?model=tiny", std::string(60'000, '[')).status, 400);
}

TEST(live_service_test, large_data_are_sent_to_the_command_line) {
  const Service s(true, {.samples = 10});
  const HttpResponse response = s.ask("POST", "/api/infer?model=tiny", kData);
  EXPECT_EQ(response.status, 413);
  EXPECT_NE(response.body.find("12 samples in 1 trajectory"), std::string::npos) << response.body;
}

TEST(live_service_test, other_hosts_and_pages_of_other_sites_get_nothing) {
  const Service s, open(false);
  const auto models = [&](const Service& service, const std::string& headers) {
    return service.ask("GET", "/api/models", "", headers).status;
  };
  for (const char* host : {"localhost", "LocalHost:80", "127.0.0.1:8000", "127.1.2.3", "[::1]", "[::1]:99"})
    EXPECT_EQ(models(s, std::string("Host: ") + host + "\r\n"), 200) << host;
  for (const char* host :
       {"evil.example", "evil.example:8000", "127.0.0.1.evil.example", "127.0.0.1:8000.evil.example",
        "localhost.evil.example", "127.evil", "127.0.0", "127...1", "[::2]", "192.168.0.1", "127.0.0.1@evil"})
    EXPECT_EQ(models(s, std::string("Host: ") + host + "\r\n"), 403) << host;
  EXPECT_EQ(models(s, ""), 400);
  EXPECT_EQ(models(open, "Host: lab.example\r\n"), 200);
  EXPECT_EQ(models(s, "Host: localhost:1\r\nOrigin: http://localhost:1\r\n"), 200);
  for (const char* origin : {"http://evil.example", "null", "http://localhost:2"})
    EXPECT_EQ(models(s, std::string("Host: localhost:1\r\nOrigin: ") + origin + "\r\n"), 403) << origin;
  EXPECT_EQ(models(s, "Host: localhost\r\nSec-Fetch-Site: cross-site\r\n"), 403);
}

TEST(live_service_test, folders_are_searched_broken_files_left_out_and_names_are_unique) {
  const TestDirectory folder;
  std::filesystem::create_directory(folder.path() / "other");
  std::filesystem::copy_file(kTiny, folder.path() / "a.safetensors");
  std::filesystem::copy_file(kTiny, folder.path() / "other" / "a.safetensors");
  std::ofstream(folder.path() / "b.safetensors") << "broken";
  std::ofstream(folder.path() / "notes.txt") << "no model";
  std::vector<std::string> warnings;
  const ModelTable table({folder.path().string()}, 1, warnings);
  EXPECT_NE(table.find("a"), nullptr);
  EXPECT_EQ(table.find("b"), nullptr);
  EXPECT_EQ(table.find("notes"), nullptr);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("b.safetensors"), std::string::npos);
  EXPECT_THROW(ModelTable({(folder.path() / "b.safetensors").string()}, 1, warnings), Error);
  EXPECT_THROW(ModelTable({folder.path().string(), (folder.path() / "other").string()}, 1, warnings), UsageError);
  EXPECT_THROW(ModelTable({"no-such-model"}, 1, warnings), ModelError);
}

}  // namespace
}  // namespace penn
