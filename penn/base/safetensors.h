// Model and checkpoint files in the safetensors layout: 8 bytes header length (little-endian), a JSON header padded
// with blanks to a multiple of 8, raw tensors without holes. {"__metadata__": {text: text}, name: {"dtype", "shape",
// "data_offsets"}}. We add one metadata entry, "checksum", so that a damaged weight is noticed; other programs see it
// as one more text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "penn/base/input_file.h"
#include "penn/base/shape.h"

namespace penn {

enum class TensorType { kF16, kF32, kF64, kI64, kU8 };
size_t item_size(TensorType type);          // bytes
std::string_view name_of(TensorType type);  // "F32", ...

template <class T>
constexpr TensorType tensor_type() {
  if constexpr (std::is_same_v<T, float>) {
    return TensorType::kF32;
  } else if constexpr (std::is_same_v<T, double>) {
    return TensorType::kF64;
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return TensorType::kI64;
  } else {
    static_assert(std::is_same_v<T, uint8_t>, "float, double, int64_t or uint8_t");
    return TensorType::kU8;
  }
}

using Metadata = std::map<std::string, std::string>;

// A tensor to be written; data points to its values in C order, and may be null when there are none.
struct TensorView {
  std::string name;
  TensorType type = TensorType::kF32;
  Shape shape;
  const void* data = nullptr;
};

// Atomically (see atomic_file.h). The metadata key "checksum" is ours. Tensors of wider types come first, so that each
// is aligned; otherwise the given order stays. Error when the disk is full, a text is not UTF-8, or the header grows
// beyond the format's limit.
void write_safetensors(const std::filesystem::path& path, const Metadata& metadata, std::vector<TensorView> tensors);

struct TensorInfo {
  std::string name;
  TensorType type = TensorType::kF32;
  Shape shape;
  uint64_t begin = 0;  // bytes from the start of the data
  uint64_t end = 0;
};

// Opening checks everything; whatever does not fit is a ModelError with the reason. Values are read on demand.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path);
  explicit SafetensorsFile(InputFile file);

  const std::string& name() const { return file_.name(); }
  const Metadata& metadata() const { return metadata_; }               // without the checksum
  const std::vector<TensorInfo>& tensors() const { return tensors_; }  // in the order of the file
  const TensorInfo* find(std::string_view name) const;                 // null when there is none
  // The text of a metadata entry; ModelError when it is missing.
  const std::string& text(const std::string& key) const;

  // The values of a tensor in C order; ModelError when it is missing or of another type. Half precision is read as
  // float.
  template <class T>
  std::vector<T> read(std::string_view name) const {
    const TensorInfo& info = require(name, tensor_type<T>());
    if constexpr (std::is_same_v<T, float>)
      if (info.type == TensorType::kF16) return read_half(info);
    std::vector<T> values((info.end - info.begin) / sizeof(T));
    read_bytes(info, values.data());
    return values;
  }
  // The same, and ModelError when the shape is another.
  template <class T>
  std::vector<T> read(std::string_view name, const Shape& shape) const {
    require_shape(require(name, tensor_type<T>()), shape);
    return read<T>(name);
  }
  // info.end - info.begin bytes to memory of that size.
  void read_bytes(const TensorInfo& info, void* to) const;

 private:
  const TensorInfo& require(std::string_view name, TensorType type) const;
  std::vector<float> read_half(const TensorInfo& info) const;
  void require_shape(const TensorInfo& info, const Shape& shape) const;
  void check_checksum(const std::string& stored) const;

  InputFile file_;
  Metadata metadata_;
  std::vector<TensorInfo> tensors_;
  uint64_t data_offset_ = 0;
};

}  // namespace penn
