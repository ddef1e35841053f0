// The head of an NPY file, parsed by a small reader of Python literals: one dict of strings, booleans and a tuple of
// integers.
#pragma once

#include <cstddef>
#include <string_view>

#include "penn/base/input_file.h"
#include "penn/base/shape.h"

namespace penn {

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr size_t kNpyMaxDimensions = 32;

// What the head of an NPY file says.
struct NpyHeader {
  char kind = 'f';       // f float, i signed, u unsigned, b boolean
  size_t item_size = 4;  // bytes per value
  bool fortran_order = false;
  Shape shape;
  size_t count = 1;        // product of shape; count * item_size bytes follow
  size_t data_offset = 0;  // first byte of the values
};

// Reads and checks the head, and that exactly the bytes of the shape follow. DataError on anything malformed.
NpyHeader read_npy_header(const InputFile& file);

}  // namespace penn
