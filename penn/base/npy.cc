// Values in and out; the head is read in npy_header.cc.
#include "penn/base/npy.h"

#include <algorithm>
#include <bit>
#include <cstring>  // memcpy
#include <optional>
#include <stdexcept>

namespace penn {
namespace {

static_assert(std::endian::native == std::endian::little, "NPY values are copied as they are, little-endian");

constexpr size_t kChunkBytes = size_t{1} << 16;

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

// ---- writing
// --------------------------------------------------------------------------------------------------------------

NpyWriter::NpyWriter(const std::filesystem::path& path, Shape shape) : file_(path), shape_(std::move(shape)) {
  const std::optional<size_t> count = count_values(shape_, sizeof(float));
  if (!count || shape_.size() > kNpyMaxDimensions)
    throw std::logic_error("NpyWriter: impossible shape " + to_text(shape_));
  remaining_ = *count;
  std::string dict = "{'descr': '<f4', 'fortran_order': False, 'shape': " + to_text(shape_) + ", }";
  // Magic, version and length take 10 bytes; blanks and a newline bring the first value to a multiple of 64.
  dict.append(63 - (10 + dict.size()) % 64, ' ');
  dict += '\n';
  file_.write(kNpyMagic);
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

NpyReader::NpyReader(InputFile file) : file_(std::move(file)), header_(read_npy_header(file_)) {
  if (header_.fortran_order && header_.shape.size() > 1) transpose();
}

template <class T>
void NpyReader::read_stored(size_t first, std::span<T> out) const {
  unsigned char bytes[kChunkBytes];
  const size_t chunk = kChunkBytes / header_.item_size;
  for (size_t done = 0; done < out.size(); done += chunk) {
    const std::span<T> part = out.subspan(done, std::min(chunk, out.size() - done));
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
