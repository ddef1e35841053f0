// The head of an NPY file, parsed by a small reader of Python literals: one dict of strings, booleans and a tuple of
// integers.
#include "penn/base/npy_header.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "penn/base/error.h"

namespace penn {
namespace {

constexpr size_t kMaxHeaderBytes = size_t{1} << 20;  // NumPy itself stops at 10,000 characters unless told otherwise

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
         "write the file again with numpy.save");
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
      if (shape.size() > kNpyMaxDimensions) malformed("more than " + std::to_string(kNpyMaxDimensions) + " dimensions");
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

}  // namespace

NpyHeader read_npy_header(const InputFile& file) {
  const std::string& name = file.name();
  if (!file.has_size()) fail(name, "not a regular file", "copy it to a file first");
  unsigned char head[12] = {};
  file.read_at(0, head, static_cast<size_t>(std::min<uint64_t>(file.size(), sizeof head)));
  const std::string_view start(reinterpret_cast<const char*>(head), kNpyMagic.size());
  if (start.starts_with("PK\x03\x04")) {
    fail(name, "an NPZ (or zip) archive, not an NPY file", "save one array: numpy.save(name, archive['key'])");
  }
  if (file.size() == 0) fail(name, "the file is empty");
  if (start != kNpyMagic) fail(name, "not an NPY file (it does not begin with \\x93NUMPY)");
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
  const std::optional<size_t> count = count_values(header.shape, header.item_size);
  if (!count) fail(name, "the shape " + to_text(header.shape) + " is larger than any memory");
  header.count = *count;
  const uint64_t present = file.size() - header.data_offset;
  const uint64_t needed = uint64_t{*count} * header.item_size;
  if (present != needed) {
    fail(name,
         "the shape " + to_text(header.shape) + " needs " + std::to_string(needed) + " bytes of values, the file has " +
             std::to_string(present),
         present < needed ? "the file was cut; write it again" : "the file holds more than one array, or is damaged");
  }
  return header;
}

}  // namespace penn
