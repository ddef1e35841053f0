// Files that a command will write at its end, looked at before its work begins: an hour's evaluation should not be lost
// to a misspelt directory.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace penn {

// "" and "-" are no files. Error where a file cannot be written; UsageError where two outputs have one name, or where
// one would replace an input: results may replace older results, but never what they were made from. Devices and pipes
// are not tried: opening them has effects.
void check_outputs(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs);

// Indented, with a newline at the end. Names of files may be any bytes: what is not UTF-8 is replaced by U+FFFD.
std::string dump_json(const nlohmann::ordered_json& json);

}  // namespace penn
