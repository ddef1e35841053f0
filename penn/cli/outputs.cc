#include "penn/cli/outputs.h"

#include <fmt/core.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "penn/base/atomic_file.h"
#include "penn/base/error.h"

namespace penn {

namespace fs = std::filesystem;

namespace {
// Also of a file that is not there yet.
fs::path place_of(const std::string& file) {
  std::error_code ignored;
  return fs::weakly_canonical(fs::absolute(file, ignored), ignored);
}
}  // namespace

void check_outputs(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs) {
  std::error_code ignored;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string& output = outputs[i];
    if (output.empty() || output == "-") continue;
    for (const std::string& input : inputs)
      if (fs::equivalent(output, input, ignored))
        throw UsageError(fmt::format("'{}' would be replaced by the result", output), "choose another name");
    if (fs::exists(output, ignored) && !fs::is_regular_file(output, ignored) && !fs::is_directory(output, ignored))
      continue;
    for (size_t j = 0; j < i; ++j)
      if (outputs[j] != "-" && !outputs[j].empty() && place_of(outputs[j]) == place_of(output))
        throw UsageError(fmt::format("'{}' is named for two results, and only the second would be left", output),
                         "choose another name for one");
    const AtomicFile probe(output);  // never committed: leaves nothing behind
  }
}

std::string dump_json(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace penn
