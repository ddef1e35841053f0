#include "penn/report/packed_table.h"

#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

namespace penn {
namespace {

std::string base64(const unsigned char* bytes, size_t size) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((size + 2) / 3 * 4);
  for (size_t i = 0; i < size; i += 3) {
    const unsigned a = bytes[i], b = i + 1 < size ? bytes[i + 1] : 0, c = i + 2 < size ? bytes[i + 2] : 0;
    text += digits[a >> 2];
    text += digits[(a & 3) << 4 | b >> 4];
    text += i + 1 < size ? digits[(b & 15) << 2 | c >> 6] : '=';
    text += i + 2 < size ? digits[c & 63] : '=';
  }
  return text;
}

}  // namespace

nlohmann::ordered_json packed_table(const std::vector<float>& values, size_t rows, size_t columns) {
  std::vector<unsigned char> bytes(4 * values.size());
  std::memcpy(bytes.data(), values.data(), bytes.size());  // little-endian, as on every machine penn is built for
  return {{"shape", {rows, columns}}, {"float32", base64(bytes.data(), bytes.size())}};
}

}  // namespace penn
