// A JSON value that a header can hold with <nlohmann/json_fwd.hpp> alone: the whole of nlohmann/json.hpp takes seconds
// to compile in every file that sees it.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>

namespace penn {

class JsonBox {
 public:
  JsonBox();  // null
  JsonBox(nlohmann::ordered_json value);
  JsonBox(const JsonBox& other);
  JsonBox(JsonBox&& other) noexcept;
  ~JsonBox();
  JsonBox& operator=(JsonBox other) noexcept;

  const nlohmann::ordered_json& operator*() const { return *value_; }
  const nlohmann::ordered_json* operator->() const { return value_.get(); }
  nlohmann::ordered_json& operator*() { return *value_; }

 private:
  std::unique_ptr<nlohmann::ordered_json> value_;
};

}  // namespace penn
