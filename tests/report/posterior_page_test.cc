#include "penn/report/posterior_page.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "penn/base/error.h"

namespace penn {
namespace {

size_t count(const std::string& text, const std::string& what) {
  size_t found = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

TEST(posterior_page_test, the_data_come_back_out_of_the_page) {
  const nlohmann::json data = {{"kind", "posterior"},
                               {"note", "a </script><script>alert(1)</script> & \"b\" \\ <!-- τ"}};
  const std::string page = posterior_page(data.dump(), "A & <b>");
  const std::string start = "id=\"penn-data\">";
  const size_t from = page.find(start) + start.size();
  EXPECT_EQ(nlohmann::json::parse(page.substr(from, page.find("</script>", from) - from)), data);
}

// Two scripts, each ended once: neither the bundle nor the data contain an end of their own.
TEST(posterior_page_test, nothing_in_the_page_ends_a_script_early) {
  const std::string page = posterior_page("{\"kind\": \"posterior\", \"note\": \"</script>\"}", "</title><script>");
  EXPECT_EQ(count(page, "</script"), 2u);
  EXPECT_EQ(count(page, "<script"), 2u);
  EXPECT_GT(page.size(), 50000u);  // the bundle is in it
}

TEST(posterior_page_test, data_of_no_known_kind_are_refused) {
  for (const char* text : {"", "[1]", "{\"kind\": \"posterior\"", "{}", "{\"kind\": 3}", "{\"kind\": \"else\"}"})
    EXPECT_THROW(posterior_page(text), Error) << text;
  try {
    posterior_page("{\"kind\": \"else\"}");
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "page: \"kind\" must be one of posterior, evaluation, live, reproduction, simulation");
  }
}

}  // namespace
}  // namespace penn
