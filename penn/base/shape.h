// The extents of an array, slowest index first, and how many values that makes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace penn {

using Shape = std::vector<size_t>;

// "(3, 4)", "(7,)", "()": as Python prints it.
inline std::string to_text(const Shape& shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

// The number of values, or nothing when their bytes cannot be counted in 63 bits. Extents of 0 are left out of that
// check's product, so that the strides of an empty array can be formed too.
inline std::optional<size_t> count_values(const Shape& shape, size_t item_size) {
  size_t bytes = item_size;
  bool empty = false;
  for (const size_t extent : shape) {
    empty = empty || extent == 0;
    if (extent != 0 && __builtin_mul_overflow(bytes, extent, &bytes)) return std::nullopt;
    if (bytes > static_cast<size_t>(std::numeric_limits<int64_t>::max())) return std::nullopt;
  }
  return empty ? 0 : bytes / item_size;
}

}  // namespace penn
