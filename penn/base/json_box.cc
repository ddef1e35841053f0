#include "penn/base/json_box.h"

#include <nlohmann/json.hpp>

namespace penn {

JsonBox::JsonBox() : value_(std::make_unique<nlohmann::ordered_json>()) {}
JsonBox::JsonBox(nlohmann::ordered_json value) : value_(std::make_unique<nlohmann::ordered_json>(std::move(value))) {}
JsonBox::JsonBox(const JsonBox& other) : value_(std::make_unique<nlohmann::ordered_json>(*other.value_)) {}
JsonBox::JsonBox(JsonBox&& other) noexcept = default;
JsonBox::~JsonBox() = default;

JsonBox& JsonBox::operator=(JsonBox other) noexcept {
  value_.swap(other.value_);
  return *this;
}

}  // namespace penn
