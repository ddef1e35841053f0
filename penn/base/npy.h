// NumPy's array files (.npy): magic, version, a Python dict literal {'descr', 'fortran_order', 'shape'}, then the raw
// values. Written: version 1.0, float32, C order, row after row, atomically. Read: versions 1.0 to 3.0; float32,
// float64, booleans and integers, little-endian; C order, or Fortran order (transposed on opening). Sizes are checked
// before memory is taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penn/base/atomic_file.h"
#include "penn/base/input_file.h"
#include "penn/base/npy_header.h"
#include "penn/base/shape.h"

namespace penn {

// Streams a float32 array whose shape is known beforehand. The file appears when finish() succeeds, and not before.
class NpyWriter {
 public:
  NpyWriter(const std::filesystem::path& path, Shape shape);
  // The next values in C order; any number at a time.
  void append(std::span<const float> values);
  // Throws std::logic_error unless exactly the values of the shape were appended.
  void finish();

 private:
  AtomicFile file_;
  Shape shape_;
  size_t remaining_;
};

void write_npy(const std::filesystem::path& path, const Shape& shape, std::span<const float> values);

// Reads an NPY file in chunks, so that an array larger than memory is no problem. DataError on anything malformed.
class NpyReader {
 public:
  explicit NpyReader(const std::filesystem::path& path) : NpyReader(InputFile(path)) {}
  explicit NpyReader(InputFile file);

  const std::string& name() const { return file_.name(); }
  const NpyHeader& header() const { return header_; }
  const Shape& shape() const { return header_.shape; }
  size_t count() const { return header_.count; }

  // Values [first, first + out.size()) in C order, converted. The range must lie in the array.
  void read(size_t first, std::span<float> out) const { read_as<float>(first, out); }
  void read(size_t first, std::span<double> out) const { read_as<double>(first, out); }

 private:
  template <class T>
  void read_as(size_t first, std::span<T> out) const;
  template <class T>
  void read_stored(size_t first, std::span<T> out) const;
  void transpose();

  InputFile file_;
  NpyHeader header_;
  std::vector<double> transposed_;  // C order; only for Fortran-order files of two or more dimensions
};

template <class T>
struct NpyArray {
  Shape shape;
  std::vector<T> values;  // C order
};

// The whole array at once. T is float or double.
template <class T>
NpyArray<T> read_npy(InputFile file) {
  const NpyReader reader(std::move(file));
  NpyArray<T> array{reader.shape(), std::vector<T>(reader.count())};
  reader.read(0, array.values);
  return array;
}
template <class T>
NpyArray<T> read_npy(const std::filesystem::path& path) {
  return read_npy<T>(InputFile(path));
}

}  // namespace penn
