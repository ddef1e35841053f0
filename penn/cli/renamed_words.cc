#include "penn/cli/renamed_words.h"

#include <fmt/core.h>

namespace penn {

NewWords with_new_words(std::vector<std::string> words) {
  NewWords result;
  const std::string command = words.empty() ? "" : words[0];
  const auto rename = [&](std::string& word, size_t at, const std::string& old_text, const std::string& new_text,
                          const std::string& before = "") {
    word.replace(at, old_text.size(), new_text);
    result.notes.push_back(fmt::format("note: '{0}{1}' is now called '{0}{2}'; the old name goes with version 0.3",
                                       before, old_text, new_text));
  };
  if (command == "calibrate") rename(words[0], 0, "calibrate", "recalibrate", "penn ");
  if (command == "train")
    for (size_t i = 1; i < words.size(); ++i) {
      const std::string option = "--calibration", coordinates = "--coordinates";
      if (words[i] == option || words[i].starts_with(option + "=")) rename(words[i], 0, option, "--recalibration");
      else if (words[i] == coordinates + "=box")
        rename(words[i], coordinates.size() + 1, "box", "probit", coordinates + "=");
      else if (words[i] == "box" && words[i - 1] == coordinates)
        rename(words[i], 0, "box", "probit", coordinates + " ");
    }
  result.words = std::move(words);
  return result;
}

}  // namespace penn
