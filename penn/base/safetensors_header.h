// The JSON header of a safetensors file, read event by event; what a file promises is checked before anything is read.
#pragma once

#include "penn/base/safetensors.h"

namespace penn {

constexpr uint64_t kSafetensorsMaxHeader = 100'000'000;  // bytes; the format's limit

// Parses the JSON header and checks every tensor against data_size. Tensors come back in the order of their offsets.
void parse_safetensors_header(std::string_view json, const std::string& file_name, uint64_t data_size,
                              Metadata& metadata, std::vector<TensorInfo>& tensors);
// The text in quotes, as JSON writes it; std::invalid_argument where it is not UTF-8.
std::string json_string(const std::string& text);

}  // namespace penn
