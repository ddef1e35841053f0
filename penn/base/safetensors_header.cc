// The JSON header, read event by event: anything outside the scheme stops the parser at once, and no tree is built, so
// a hostile header costs no more memory than its own length.
#include "penn/base/safetensors_header.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "penn/base/error.h"
#include "penn/base/safetensors.h"

namespace penn {
namespace {

using nlohmann::json;

// A name as it may be shown in a message.
std::string shown(const std::string& text) {
  std::string out;
  for (const char c : text.substr(0, 60)) out += static_cast<unsigned char>(c) < ' ' || c == 127 ? '?' : c;
  return "'" + out + (text.size() > 60 ? "...'" : "'");
}

class HeaderHandler : public nlohmann::json_sax<json> {
 public:
  HeaderHandler(const std::string& file_name, Metadata& metadata, std::vector<TensorInfo>& tensors)
      : file_name_(file_name), metadata_(metadata), tensors_(tensors) {}

  [[noreturn]] void refuse(const std::string& what) const {
    throw ModelError(file_name_ + ": " + what, "the file is damaged or was written by another program");
  }

  [[noreturn]] void not_json(size_t position) const {
    refuse("the header is not valid JSON in UTF-8 (at byte " + std::to_string(position) + ")");
  }

  bool start_object(size_t) override {
    switch (state_) {
      case State::kStart:
        state_ = State::kTop;
        return true;
      case State::kTopValue:
        if (key_ == "__metadata__") {
          state_ = State::kMetadata;
        } else {
          state_ = State::kTensor;
          tensor_ = TensorInfo{};
          tensor_.name = key_;
          has_type_ = has_shape_ = has_offsets_ = false;
        }
        return true;
      default:
        unexpected("an object");
    }
  }

  bool key(std::string& name) override {
    switch (state_) {
      case State::kTop:
        if (!names_.insert(name).second) refuse("the header has " + shown(name) + " twice");
        key_ = name;
        state_ = State::kTopValue;
        return true;
      case State::kMetadata:
        if (metadata_.contains(name)) refuse("the metadata have " + shown(name) + " twice");
        metadata_key_ = name;
        state_ = State::kMetadataValue;
        return true;
      default:  // kTensor: keys come nowhere else
        if (name == "dtype") {
          claim(has_type_, name);
          state_ = State::kType;
        } else if (name == "shape") {
          claim(has_shape_, name);
          state_ = State::kShape;
        } else if (name == "data_offsets") {
          claim(has_offsets_, name);
          state_ = State::kOffsets;
        } else {
          refuse("tensor " + shown(key_) + " has an unknown entry " + shown(name));
        }
        return true;
    }
  }

  bool end_object() override {
    if (state_ == State::kTensor) {
      if (!has_type_ || !has_shape_ || !has_offsets_) {
        refuse("tensor " + shown(key_) + " has no " + (!has_type_ ? "dtype" : !has_shape_ ? "shape" : "data_offsets"));
      }
      if (offset_count_ != 2) refuse("tensor " + shown(key_) + ": data_offsets must be two numbers");
      tensors_.push_back(std::move(tensor_));
    }
    state_ = state_ == State::kTop ? State::kEnd : State::kTop;
    return true;
  }

  bool start_array(size_t) override {
    if (state_ == State::kShape) {
      state_ = State::kShapeItems;
    } else if (state_ == State::kOffsets) {
      state_ = State::kOffsetItems;
      offset_count_ = 0;
    } else {
      unexpected("a list");
    }
    return true;
  }

  bool end_array() override {
    state_ = State::kTensor;
    return true;
  }

  bool number_unsigned(uint64_t value) override {
    if (state_ == State::kShapeItems) {
      tensor_.shape.push_back(value);
    } else if (state_ == State::kOffsetItems) {
      if (offset_count_ == 2) refuse("tensor " + shown(key_) + ": data_offsets must be two numbers");
      (offset_count_++ == 0 ? tensor_.begin : tensor_.end) = value;
    } else {
      unexpected("a number");
    }
    return true;
  }

  bool string(std::string& value) override {
    if (state_ == State::kMetadataValue) {
      metadata_.emplace(metadata_key_, value);
      state_ = State::kMetadata;
    } else if (state_ == State::kType) {
      tensor_.type = type_of(value);
      state_ = State::kTensor;
    } else {
      unexpected("a text");
    }
    return true;
  }

  bool null() override { unexpected("null"); }
  bool boolean(bool) override { unexpected("a truth value"); }
  bool number_integer(int64_t) override { unexpected("a negative number"); }
  bool number_float(double, const std::string&) override { unexpected("a number that is not a 64-bit integer"); }
  bool binary(json::binary_t&) override { unexpected("binary data"); }
  bool parse_error(size_t position, const std::string&, const json::exception&) override { not_json(position); }

 private:
  enum class State {
    kStart,
    kTop,
    kTopValue,
    kMetadata,
    kMetadataValue,
    kTensor,
    kType,
    kShape,
    kShapeItems,
    kOffsets,
    kOffsetItems,
    kEnd
  };

  [[noreturn]] void unexpected(const std::string& found) const {
    const bool top = state_ == State::kStart || state_ == State::kTop;
    refuse("the header has " + found + " where none belongs" + (top ? "" : " (under " + shown(key_) + ")"));
  }
  void claim(bool& seen, const std::string& name) const {
    if (seen) refuse("tensor " + shown(key_) + " has " + shown(name) + " twice");
    seen = true;
  }
  TensorType type_of(const std::string& text) const {
    for (const TensorType type :
         {TensorType::kF16, TensorType::kF32, TensorType::kF64, TensorType::kI64, TensorType::kU8}) {
      if (text == name_of(type)) return type;
    }
    refuse("tensor " + shown(key_) + " has the type " + shown(text) + ", known are F16, F32, F64, I64 and U8");
  }

  const std::string& file_name_;
  Metadata& metadata_;
  std::vector<TensorInfo>& tensors_;
  State state_ = State::kStart;
  std::set<std::string> names_;
  std::string key_;  // of the top level
  std::string metadata_key_;
  TensorInfo tensor_;
  bool has_type_ = false, has_shape_ = false, has_offsets_ = false;
  int offset_count_ = 0;
};

}  // namespace

void parse_safetensors_header(std::string_view text, const std::string& file_name, uint64_t data_size,
                              Metadata& metadata, std::vector<TensorInfo>& tensors) {
  HeaderHandler handler(file_name, metadata, tensors);
  // The JSON parser takes a zero byte for the end and would not look at what follows.
  if (const size_t zero = text.find('\0'); zero != std::string_view::npos) handler.not_json(zero + 1);
  json::sax_parse(text.begin(), text.end(), &handler);
  for (const TensorInfo& tensor : tensors) {
    const std::string which = "tensor " + shown(tensor.name) + " of shape " + to_text(tensor.shape);
    const std::optional<size_t> count = count_values(tensor.shape, item_size(tensor.type));
    if (!count) handler.refuse(which + " is larger than any memory");
    if (tensor.begin > tensor.end || tensor.end > data_size) {
      handler.refuse(which + " lies outside the file: bytes " + std::to_string(tensor.begin) + " to " +
                     std::to_string(tensor.end) + " of " + std::to_string(data_size));
    }
    if (tensor.end - tensor.begin != *count * item_size(tensor.type)) {
      handler.refuse(which + " needs " + std::to_string(*count * item_size(tensor.type)) + " bytes, its offsets span " +
                     std::to_string(tensor.end - tensor.begin));
    }
  }
  std::stable_sort(tensors.begin(), tensors.end(), [](const TensorInfo& a, const TensorInfo& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  uint64_t covered = 0;
  for (const TensorInfo& tensor : tensors) {
    if (tensor.begin != covered) {
      handler.refuse((tensor.begin < covered ? "two tensors overlap" : "a hole between tensors") + std::string(" at ") +
                     shown(tensor.name));
    }
    covered = tensor.end;
  }
  if (covered != data_size) {
    handler.refuse("the tensors cover " + std::to_string(covered) + " bytes, the file has " +
                   std::to_string(data_size));
  }
}

std::string json_string(const std::string& text) {
  try {
    return json(text).dump();
  } catch (const json::exception& error) {
    throw std::invalid_argument(error.what());
  }
}

}  // namespace penn
