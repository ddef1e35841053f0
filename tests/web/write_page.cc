// JSON on standard input, the page that shows it on standard output: the browser tests open what the program would
// write.
#include <cstdio>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "penn/base/error.h"
#include "penn/report/posterior_page.h"

int main() {
  const std::string json{std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
  try {
    std::cout << penn::posterior_page(json);
  } catch (const penn::Error& error) {
    std::fprintf(stderr, "%s\n", error.full_text().c_str());
    return 1;
  }
  return 0;
}
