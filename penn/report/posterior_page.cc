#include "penn/report/posterior_page.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "penn/base/error.h"

extern const char penn_page_script[];  // web/dist/penn.js, see CMakeLists.txt

namespace penn {
namespace {

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') out += "&lt;";
    else if (c == '&') out += "&amp;";
    else out += c;
  }
  return out;
}

// "<" occurs only inside JSON strings, where \u003c means the same; so no text of the data can end the script element.
std::string script_safe(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    if (c == '<') out += "\\u003c";
    else out += c;
  }
  return out;
}

constexpr const char* kKinds[] = {"posterior", "evaluation", "live", "reproduction", "simulation"};

void check(std::string_view text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object())
    throw Error("page: the data are not a JSON object", "expected {\"kind\": \"posterior\", \"results\": [...]}");
  const auto kind = json.find("kind");
  if (kind == json.end() || std::find(std::begin(kKinds), std::end(kKinds), *kind) == std::end(kKinds))
    throw Error(fmt::format("page: \"kind\" must be one of {}", fmt::join(kKinds, ", ")),
                "see web/README.md for the fields of each");
}

}  // namespace

// The policy lets the page talk to nobody but the server it came from (`penn serve`); from disk there is none.
std::string posterior_page(std::string_view json, std::string_view title) {
  check(json);
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width\">"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; "
      "style-src 'unsafe-inline'; "
      "img-src data: blob:; connect-src 'self'\"><link rel=\"icon\" "
      "href=\"data:,\"><title>{}</title></head><body>\n<div id=\"penn\"></div>\n"
      "<script type=\"application/json\" id=\"penn-data\">{}</script>\n<script>{}</script>\n</body></html>\n",
      escape(title), script_safe(json), static_cast<const char*>(penn_page_script));
}

}  // namespace penn
