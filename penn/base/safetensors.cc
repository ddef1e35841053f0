// Writing, opening, reading values, and the checksum over all of it.
#include "penn/base/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstdio>   // snprintf
#include <cstring>  // memcpy
#include <initializer_list>
#include <stdexcept>

#include "penn/base/atomic_file.h"
#include "penn/base/error.h"
#include "penn/base/half.h"
#include "penn/base/safetensors_header.h"

namespace penn {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are copied as they are, little-endian");

constexpr char kChecksumKey[] = "checksum";
constexpr size_t kReadBytes = size_t{1} << 16;

// h <- f((h xor word) * odd), f(h) = h xor (h >> 32): a bijection of h and of the word, so that one changed word
// anywhere always changes the sum. Against accidents, not against forgers.
class Checksum {
 public:
  void add_word(uint64_t word) {
    state_ = (state_ ^ word) * 0x9E3779B97F4A7C15u;
    state_ ^= state_ >> 32;
  }
  void add(const void* data, size_t size) {
    const char* bytes = static_cast<const char*>(data);
    for (; size > 0; bytes += std::min<size_t>(8, size), size -= std::min<size_t>(8, size)) {
      uint64_t word = 0;
      std::memcpy(&word, bytes, std::min<size_t>(8, size));
      add_word(word);
    }
  }
  void add_text(std::string_view text) {
    add_word(text.size());  // so that texts cannot run into each other
    add(text.data(), text.size());
  }
  void add_metadata(const Metadata& metadata) {
    for (const auto& [key, value] : metadata) {
      if (key == kChecksumKey) continue;
      add_text(key);
      add_text(value);
    }
  }
  void add_description(const std::string& name, TensorType type, const Shape& shape) {
    add_text(name);
    add_text(name_of(type));
    add_word(shape.size());
    for (const size_t extent : shape) add_word(extent);
  }
  std::string text() const {
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(state_));
    return std::string("penn1:") + digits;
  }

 private:
  uint64_t state_ = 0x243F6A8885A308D3u;
};

void append(std::string& text, std::initializer_list<std::string_view> chunks) {
  for (const std::string_view chunk : chunks) text += chunk;
}

uint64_t bytes_of(const TensorView& tensor) {
  const auto count = count_values(tensor.shape, item_size(tensor.type));
  if (!count) throw std::logic_error("write_safetensors: impossible shape " + to_text(tensor.shape));
  return *count * item_size(tensor.type);
}

}  // namespace

size_t item_size(TensorType type) {
  switch (type) {
    case TensorType::kU8:
      return 1;
    case TensorType::kF16:
      return 2;
    case TensorType::kF32:
      return 4;
    default:
      return 8;
  }
}

std::string_view name_of(TensorType type) {
  switch (type) {
    case TensorType::kF16:
      return "F16";
    case TensorType::kF32:
      return "F32";
    case TensorType::kF64:
      return "F64";
    case TensorType::kI64:
      return "I64";
    default:
      return "U8";
  }
}

// ---- writing
// --------------------------------------------------------------------------------------------------------------

void write_safetensors(const std::filesystem::path& path, const Metadata& metadata, std::vector<TensorView> tensors) {
  std::stable_sort(tensors.begin(), tensors.end(),
                   [](const TensorView& a, const TensorView& b) { return item_size(a.type) > item_size(b.type); });
  // The checksum takes tensors by name, so that it survives another program's order in the file.
  std::map<std::string, const TensorView*> by_name;
  for (const TensorView& tensor : tensors) {
    if (tensor.name == "__metadata__" || !by_name.emplace(tensor.name, &tensor).second) {
      throw std::logic_error("write_safetensors: tensor name '" + tensor.name + "' is taken");
    }
    if (tensor.data == nullptr && bytes_of(tensor) > 0) throw std::logic_error("write_safetensors: no data");
  }
  Checksum checksum;
  checksum.add_metadata(metadata);
  for (const auto& [name, tensor] : by_name) {
    checksum.add_description(name, tensor->type, tensor->shape);
    checksum.add(tensor->data, bytes_of(*tensor));
  }

  std::string header = "{\"__metadata__\":{";
  try {
    append(header, {json_string(kChecksumKey), ":", json_string(checksum.text())});
    for (const auto& [key, value] : metadata) {
      if (key != kChecksumKey) append(header, {",", json_string(key), ":", json_string(value)});
    }
    header += "}";
    uint64_t begin = 0;
    for (const TensorView& tensor : tensors) {
      const uint64_t end = begin + bytes_of(tensor);
      append(header, {",", json_string(tensor.name), ":{\"dtype\":\"", name_of(tensor.type), "\",\"shape\":["});
      for (size_t i = 0; i < tensor.shape.size(); ++i)
        append(header, {i == 0 ? "" : ",", std::to_string(tensor.shape[i])});
      append(header, {"],\"data_offsets\":[", std::to_string(begin), ",", std::to_string(end), "]}"});
      begin = end;
    }
  } catch (const std::invalid_argument&) {
    throw Error("cannot write '" + path.string() + "': a text in it is not UTF-8", "save the system file as UTF-8");
  }
  header += "}";
  header.append((8 - header.size() % 8) % 8, ' ');
  if (header.size() > kSafetensorsMaxHeader) {
    throw Error("cannot write '" + path.string() + "': its header would exceed 100 MB, the limit of the format");
  }

  AtomicFile file(path);
  const uint64_t length = header.size();
  file.write(&length, sizeof length);
  file.write(header);
  for (const TensorView& tensor : tensors) file.write(tensor.data, bytes_of(tensor));
  file.commit();
}

// ---- reading
// --------------------------------------------------------------------------------------------------------------

namespace {

// Files of this layout are models: what the reader of bytes says about them is a ModelError.
template <class Action>
auto as_model_error(Action action) {
  try {
    return action();
  } catch (const DataError& error) {
    throw ModelError(error.what(), error.hint());
  }
}

}  // namespace

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path)
    : SafetensorsFile(as_model_error([&] { return InputFile(path); })) {}

SafetensorsFile::SafetensorsFile(InputFile file) : file_(std::move(file)) {
  const auto refuse = [&](const std::string& what, const std::string& hint) {
    throw ModelError(name() + ": " + what, hint);
  };
  const std::string not_a_model = "a model is a .safetensors file, as `penn train` writes it";
  if (!file_.has_size()) refuse("not a regular file", "copy it to a file first");
  if (file_.size() == 0) refuse("the file is empty", "");
  if (file_.size() < 10) refuse("too short for a safetensors file", not_a_model);
  uint64_t length = 0;
  as_model_error([&] { file_.read_at(0, &length, sizeof length); });
  char first = 0;
  as_model_error([&] { file_.read_at(8, &first, 1); });
  if (first != '{') refuse("not a safetensors file (no JSON header after the first 8 bytes)", not_a_model);
  if (length > kSafetensorsMaxHeader) {
    refuse("a header of " + std::to_string(length) + " bytes; the format allows 100 MB", "the file is damaged");
  }
  if (length > file_.size() - 8) refuse("the file ends inside its header", "the file was cut; copy or train it again");
  std::string header(length, '\0');
  as_model_error([&] { file_.read_at(8, header.data(), length); });
  data_offset_ = 8 + length;
  parse_safetensors_header(header, name(), file_.size() - data_offset_, metadata_, tensors_);

  if (const auto stored = metadata_.find(kChecksumKey); stored != metadata_.end()) {
    check_checksum(stored->second);
    metadata_.erase(stored);
  }
}

void SafetensorsFile::check_checksum(const std::string& stored) const {
  if (!stored.starts_with("penn1:")) return;  // some other program's
  std::map<std::string, const TensorInfo*> by_name;
  for (const TensorInfo& tensor : tensors_) by_name.emplace(tensor.name, &tensor);
  Checksum checksum;
  checksum.add_metadata(metadata_);
  std::string chunk(kReadBytes, '\0');
  for (const auto& [name, tensor] : by_name) {
    checksum.add_description(name, tensor->type, tensor->shape);
    for (uint64_t at = tensor->begin; at < tensor->end; at += kReadBytes) {
      const size_t size = static_cast<size_t>(std::min<uint64_t>(kReadBytes, tensor->end - at));
      as_model_error([&] { file_.read_at(data_offset_ + at, chunk.data(), size); });
      checksum.add(chunk.data(), size);
    }
  }
  if (checksum.text() != stored) {
    throw ModelError(name() + ": the content does not match its checksum",
                     "the file is damaged; copy or train it again");
  }
}

const TensorInfo* SafetensorsFile::find(std::string_view name) const {
  const auto found =
      std::find_if(tensors_.begin(), tensors_.end(), [&](const TensorInfo& t) { return t.name == name; });
  return found == tensors_.end() ? nullptr : &*found;
}

const std::string& SafetensorsFile::text(const std::string& key) const {
  const auto found = metadata_.find(key);
  if (found == metadata_.end())
    throw ModelError(name() + ": no entry '" + key + "' in the metadata", "not a model of this program");
  return found->second;
}

const TensorInfo& SafetensorsFile::require(std::string_view name, TensorType type) const {
  const TensorInfo* info = find(name);
  const std::string which = this->name() + ": tensor '" + std::string(name) + "' ";
  if (info == nullptr) throw ModelError(which + "is missing", "not a model of this program and version");
  if (info->type != type && !(info->type == TensorType::kF16 && type == TensorType::kF32)) {
    throw ModelError(which + "has the type " + std::string(name_of(info->type)) + ", needed is " +
                     std::string(name_of(type)));
  }
  return *info;
}

void SafetensorsFile::require_shape(const TensorInfo& info, const Shape& shape) const {
  if (info.shape == shape) return;
  throw ModelError(name() + ": tensor '" + info.name + "' has the shape " + to_text(info.shape) + ", needed is " +
                   to_text(shape));
}

std::vector<float> SafetensorsFile::read_half(const TensorInfo& info) const {
  std::vector<uint16_t> bits((info.end - info.begin) / 2);
  read_bytes(info, bits.data());
  std::vector<float> values;
  for (const uint16_t half : bits) values.push_back(widen(half));
  return values;
}

void SafetensorsFile::read_bytes(const TensorInfo& info, void* to) const {
  as_model_error([&] { file_.read_at(data_offset_ + info.begin, to, info.end - info.begin); });
}

}  // namespace penn
