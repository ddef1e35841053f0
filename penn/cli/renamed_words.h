// Commands, options and values of version 0.1 that have other names now. They work for one version more, with a note.
#pragma once

#include <string>
#include <vector>

namespace penn {

// The words of the command line (without the program) under their new names, and a note for each that was renamed.
struct NewWords {
  std::vector<std::string> words, notes;
};
NewWords with_new_words(std::vector<std::string> words);

}  // namespace penn
