// A table of numbers as pages carry it, {"shape": [rows, columns], "float32": base64 of little-endian floats}: a
// quarter of the size of digits.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace penn {

nlohmann::ordered_json packed_table(const std::vector<float>& values, size_t rows, size_t columns);

}  // namespace penn
