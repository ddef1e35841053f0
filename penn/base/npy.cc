// The head is parsed by a small reader of Python literals: one dict of strings, booleans and a tuple of integers.
#include "penn/base/npy.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>  // memcpy
#include <limits>
#include <optional>
#include <stdexcept>

#include "penn/base/error.h"

namespace penn {
namespace {

static_assert(std::endian::native == std::endian::little, "NPY values are copied as they are, little-endian");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMaxHeaderBytes = size_t{1} << 20;  // NumPy itself stops at 10,000 characters unless told otherwise
constexpr size_t kMaxDimensions = 32;
constexpr size_t kPieceBytes = size_t{1} << 16;

// No overflow: the product of the dimensions that are not 0 fits in 63 bits, so that strides can be formed too.
std::optional<size_t> checked_count(const Shape& shape, size_t item_size) {
  size_t product = item_size;
  bool empty = false;
  for (const size_t extent : shape) {
    empty = empty || extent == 0;
    if (extent != 0 && __builtin_mul_overflow(product, extent, &product)) return std::nullopt;
    if (product > static_cast<size_t>(std::numeric_limits<int64_t>::max())) return std::nullopt;
  }
  return empty ? 0 : product / item_size;
}

[[noreturn]] void fail(const std::string& name, const std::string& what, const std::string& hint = "") {
  throw DataError(name + ": " + what, hint);
}

// {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } and nothing else.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  NpyHeader parse() {
    NpyHeader header;
    bool has_descr = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = parse_string();
      expect(':');
      if (key == "descr") {
        claim(has_descr, key);
        parse_descr(header);
      } else if (key == "fortran_order") {
        claim(has_order, key);
        header.fortran_order = parse_boolean();
      } else if (key == "shape") {
        claim(has_shape, key);
        header.shape = parse_shape();
      } else {
        malformed("unknown key");
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_blanks();
    if (at_ != text_.size()) malformed("text after the closing brace");
    if (!has_descr) malformed("no 'descr'");
    if (!has_order) malformed("no 'fortran_order'");
    if (!has_shape) malformed("no 'shape'");
    return header;
  }

 private:
  [[noreturn]] void malformed(const std::string& what) const {
    fail(name_, "malformed NPY header: " + what + " (at character " + std::to_string(at_) + ")",
         "write the file anew with numpy.save");
  }
  void claim(bool& seen, std::string_view key) const {
    if (seen) malformed("'" + std::string(key) + "' occurs twice");
    seen = true;
  }
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }
  bool accept(char wanted) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) malformed(std::string("expected '") + wanted + "'");
  }
  std::string_view parse_string() {
    skip_blanks();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') malformed("expected a string");
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) malformed("a string without an end");
    const std::string_view value = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return value;
  }
  bool parse_boolean() {
    skip_blanks();
    for (const auto& [word, value] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}}) {
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return value;
      }
    }
    malformed("expected True or False");
  }
  Shape parse_shape() {
    Shape shape;
    expect('(');
    while (!accept(')')) {
      skip_blanks();
      size_t extent = 0;
      const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), extent);
      if (error != std::errc()) malformed("expected a dimension, a whole number of at most 64 bits");
      at_ = static_cast<size_t>(end - text_.data());
      accept('L');  // Python 2 wrote its long integers so
      shape.push_back(extent);
      if (shape.size() > kMaxDimensions) malformed("more than " + std::to_string(kMaxDimensions) + " dimensions");
      if (!accept(',')) {
        if (shape.size() == 1) malformed("expected ',' after the only dimension");
        expect(')');
        break;
      }
    }
    return shape;
  }
  void parse_descr(NpyHeader& header) {
    skip_blanks();
    if (at_ < text_.size() && text_[at_] == '[') {
      fail(name_, "a structured array, where plain numbers are needed", "save one field: numpy.save(name, a['field'])");
    }
    const std::string_view descr = parse_string();
    const std::string hint = "convert it in Python: numpy.save(name, a.astype('<f8'))";
    static constexpr std::string_view kKnown[] = {"f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"};
    const std::string_view type = descr.substr(std::min<size_t>(1, descr.size()));
    if (descr.size() != 3 || std::find(std::begin(kKnown), std::end(kKnown), type) == std::end(kKnown)) {
      fail(name_, "values of type '" + printable(descr) + "', where float32, float64 or integers are needed", hint);
    }
    header.kind = type[0];
    header.item_size = static_cast<size_t>(type[1] - '0');
    if (descr[0] == '>' && header.item_size > 1) fail(name_, "big-endian values ('" + std::string(descr) + "')", hint);
    if (descr[0] != '<' && descr[0] != '>' && !(descr[0] == '|' && header.item_size == 1)) {
      fail(name_, "values of unknown byte order ('" + printable(descr) + "')", hint);
    }
  }
  static std::string printable(std::string_view text) {
    std::string out;
    for (const char c : text.substr(0, 20)) out += c >= ' ' && c <= '~' ? c : '?';
    return out;
  }

  std::string_view text_;
  const std::string& name_;
  size_t at_ = 0;
};

NpyHeader read_header(const InputFile& file) {
  const std::string& name = file.name();
  if (!file.has_size()) fail(name, "not a regular file", "copy it to a file first");
  unsigned char head[12] = {};
  file.read_at(0, head, static_cast<size_t>(std::min<uint64_t>(file.size(), sizeof head)));
  const std::string_view start(reinterpret_cast<const char*>(head), kMagic.size());
  if (start.starts_with("PK\x03\x04")) {
    fail(name, "an NPZ (or zip) archive, not an NPY file", "save one array: numpy.save(name, archive['key'])");
  }
  if (file.size() == 0) fail(name, "the file is empty");
  if (start != kMagic) fail(name, "not an NPY file (it does not begin with \\x93NUMPY)");
  const int major = head[6], minor = head[7];
  if (file.size() >= 8 && (major < 1 || major > 3 || minor != 0)) {
    fail(name, "NPY version " + std::to_string(major) + "." + std::to_string(minor) + ", known are 1.0 to 3.0");
  }
  const size_t prefix = major == 1 ? 10 : 12;
  if (file.size() < prefix) fail(name, "the file ends inside the NPY header");
  size_t length = head[8] + (size_t{head[9]} << 8);
  if (major > 1) length += (size_t{head[10]} << 16) + (size_t{head[11]} << 24);
  if (length > file.size() - prefix) fail(name, "the file ends inside the NPY header");
  if (length > kMaxHeaderBytes) fail(name, "an NPY header of " + std::to_string(length) + " bytes is not credible");
  std::string text(length, '\0');
  file.read_at(prefix, text.data(), length);

  NpyHeader header = HeaderParser(text, name).parse();
  header.data_offset = prefix + length;
  const std::optional<size_t> count = checked_count(header.shape, header.item_size);
  if (!count) fail(name, "the shape " + to_text(header.shape) + " is larger than any memory");
  header.count = *count;
  const uint64_t present = file.size() - header.data_offset;
  const uint64_t needed = uint64_t{*count} * header.item_size;
  if (present != needed) {
    fail(name,
         "the shape " + to_text(header.shape) + " needs " + std::to_string(needed) + " bytes of values, the file has " +
             std::to_string(present),
         present < needed ? "the file was cut; write it anew" : "the file holds more than one array, or is damaged");
  }
  return header;
}

template <class Stored, class T>
void convert(const unsigned char* bytes, std::span<T> out) {
  for (T& value : out) {
    Stored stored;
    std::memcpy(&stored, bytes, sizeof stored);
    value = static_cast<T>(stored);
    bytes += sizeof stored;
  }
}

template <class T>
void convert(const NpyHeader& header, const unsigned char* bytes, std::span<T> out) {
  switch (header.kind) {
    case 'f':
      return header.item_size == 4 ? convert<float>(bytes, out) : convert<double>(bytes, out);
    case 'i':
      switch (header.item_size) {
        case 1:
          return convert<int8_t>(bytes, out);
        case 2:
          return convert<int16_t>(bytes, out);
        case 4:
          return convert<int32_t>(bytes, out);
        default:
          return convert<int64_t>(bytes, out);
      }
    default:  // u and b
      switch (header.item_size) {
        case 1:
          return convert<uint8_t>(bytes, out);
        case 2:
          return convert<uint16_t>(bytes, out);
        case 4:
          return convert<uint32_t>(bytes, out);
        default:
          return convert<uint64_t>(bytes, out);
      }
  }
}

}  // namespace

std::string to_text(const Shape& shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

// ---- writing
// --------------------------------------------------------------------------------------------------------------

NpyWriter::NpyWriter(const std::filesystem::path& path, Shape shape) : file_(path), shape_(std::move(shape)) {
  const std::optional<size_t> count = checked_count(shape_, sizeof(float));
  if (!count || shape_.size() > kMaxDimensions)
    throw std::logic_error("NpyWriter: impossible shape " + to_text(shape_));
  remaining_ = *count;
  std::string dict = "{'descr': '<f4', 'fortran_order': False, 'shape': " + to_text(shape_) + ", }";
  // Magic, version and length take 10 bytes; blanks and a newline bring the first value to a multiple of 64.
  dict.append(63 - (10 + dict.size()) % 64, ' ');
  dict += '\n';
  file_.write(kMagic);
  const unsigned char rest[4] = {1, 0, static_cast<unsigned char>(dict.size() & 255),
                                 static_cast<unsigned char>(dict.size() >> 8)};
  file_.write(rest, sizeof rest);
  file_.write(dict);
}

void NpyWriter::append(std::span<const float> values) {
  if (values.size() > remaining_) throw std::logic_error("NpyWriter: more values than the shape " + to_text(shape_));
  file_.write(values.data(), values.size_bytes());
  remaining_ -= values.size();
}

void NpyWriter::finish() {
  if (remaining_ != 0) throw std::logic_error("NpyWriter: fewer values than the shape " + to_text(shape_));
  file_.commit();
}

void write_npy(const std::filesystem::path& path, const Shape& shape, std::span<const float> values) {
  NpyWriter writer(path, shape);
  writer.append(values);
  writer.finish();
}

// ---- reading
// --------------------------------------------------------------------------------------------------------------

NpyReader::NpyReader(InputFile file) : file_(std::move(file)), header_(read_header(file_)) {
  if (header_.fortran_order && header_.shape.size() > 1) transpose();
}

template <class T>
void NpyReader::read_stored(size_t first, std::span<T> out) const {
  unsigned char bytes[kPieceBytes];
  const size_t piece = kPieceBytes / header_.item_size;
  for (size_t done = 0; done < out.size(); done += piece) {
    const std::span<T> part = out.subspan(done, std::min(piece, out.size() - done));
    file_.read_at(header_.data_offset + (first + done) * header_.item_size, bytes, part.size() * header_.item_size);
    convert(header_, bytes, part);
  }
}

// Walks the stored order (first index fastest) and scatters to C order (last index fastest).
void NpyReader::transpose() {
  std::vector<double> stored(header_.count);
  read_stored<double>(0, stored);
  transposed_.resize(header_.count);
  const size_t dimensions = header_.shape.size();
  Shape stride(dimensions, 1), index(dimensions, 0);
  for (size_t d = dimensions - 1; d > 0; --d) stride[d - 1] = stride[d] * header_.shape[d];
  size_t to = 0;
  for (const double value : stored) {
    transposed_[to] = value;
    for (size_t d = 0; d < dimensions; ++d) {
      to += stride[d];
      if (++index[d] < header_.shape[d]) break;
      to -= stride[d] * header_.shape[d];
      index[d] = 0;
    }
  }
}

template <class T>
void NpyReader::read_as(size_t first, std::span<T> out) const {
  if (first > header_.count || out.size() > header_.count - first)
    throw std::logic_error("NpyReader: range outside the array");
  if (transposed_.empty()) return read_stored(first, out);
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<T>(transposed_[first + i]);
}

template void NpyReader::read_as<float>(size_t, std::span<float>) const;
template void NpyReader::read_as<double>(size_t, std::span<double>) const;

}  // namespace penn
