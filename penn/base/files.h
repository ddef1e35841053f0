// Reading whole files, and finding what ships with the program.
#pragma once

#include <string>
#include <vector>

namespace penn {

// Throws DataError where the file cannot be read.
std::string read_text_file(const std::string& path);

// The path of a shipped file ("systems/oup.toml"), or "" where there is none. Looked for in $PENN_SHARE, then relative
// to the library: ../share/penn as installed, share/penn in the build folder.
std::string shared_file(const std::string& relative);
// The names, without ending, of the shipped files of a folder, sorted.
std::vector<std::string> shared_names(const std::string& folder, const std::string& ending);

// A word as a shell takes it: in quotes where it needs them.
std::string shell_word(const std::string& word);

std::string version();  // "0.2.0"

}  // namespace penn
