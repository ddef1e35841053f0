// write_models MODELS PAGES: untrained models for `penn reproduce all --models MODELS -o PAGES`, for the tests of the
// program and of its pages.
#include <cstdio>

#include "paper/untrained_models.h"
#include "penn/base/error.h"

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: write_models MODELS PAGES\n"), 2;
  try {
    penn::write_untrained_models(argv[1], argv[2]);
  } catch (const penn::Error& error) {
    std::fprintf(stderr, "%s\n", error.full_text().c_str());
    return 1;
  }
  return 0;
}
