#include "penn/cli/info_target.h"

#include <filesystem>

#include "penn/base/files.h"
#include "penn/model/model_file.h"

namespace penn {

InfoTarget find_info_target(const std::string& what) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(what, ignored)) {
    // A damaged model is still meant as one: then the message is about models.
    const bool is_named_so = what.ends_with(".safetensors") || what.ends_with(".checkpoint");
    return {is_named_so || has_tensors(what) ? what : "", ""};
  }
  const std::string model = shipped_model(what);
  const std::string system = what.substr(0, what.rfind(':'));
  const bool is_system = what.find('/') == std::string::npos && (!shared_file("systems/" + what + ".toml").empty() ||
                                                                 !shared_file("systems/" + system + ".toml").empty());
  if (is_system) return {"", model};
  return {what.ends_with(".safetensors") ? what : model, ""};
}

}  // namespace penn
