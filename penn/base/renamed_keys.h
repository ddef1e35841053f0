// Keys of JSON objects that had other names in files of version 0.1. They are read for one version more.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

namespace penn {

using RenamedKey = std::pair<std::string_view, std::string_view>;  // old, new

// The object with old keys under their new names; a key that is there under its new name is left alone.
template <class Json, size_t count>
Json with_new_keys(Json object, const RenamedKey (&renamed)[count]) {
  if (!object.is_object()) return object;
  for (const auto& [old_key, new_key] : renamed) {
    const auto found = object.find(std::string(old_key));
    if (found == object.end()) continue;
    if (!object.contains(std::string(new_key))) object[std::string(new_key)] = *found;
    object.erase(std::string(old_key));
  }
  return object;
}

}  // namespace penn
