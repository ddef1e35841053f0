// Arrays survive the trip through a file; any damage to a file is an error with a reason.
#include "penn/base/npy.h"

#include <cstring>
#include <numeric>

#include "base/files_for_tests.h"
#include "penn/base/error.h"

namespace penn {
namespace {

// An NPY file built by hand from the format's description.
std::string npy_bytes(const std::string& dict, const std::string& data, int major = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(major);
  bytes += '\0';
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i) bytes += static_cast<char>(dict.size() >> (8 * i));
  return bytes + dict + data;
}

template <class T>
std::string raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::string dict(const std::string& descr, const std::string& shape, const std::string& order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

NpyArray<double> parse(const std::string& bytes) {
  return read_npy<double>(InputFile(bytes, "a.npy"));
}

std::string refusal(const std::string& bytes) {
  return error_text<DataError>([&] { parse(bytes); });
}

TEST(npy_test, arrays_of_every_dimension_survive_the_trip) {
  const TestDirectory directory;
  for (const Shape& shape :
       {Shape{}, Shape{7}, Shape{3, 4}, Shape{2, 3, 5}, Shape{2, 1, 3, 2}, Shape{0}, Shape{0, 3}, Shape{3, 0}}) {
    size_t count = 1;
    for (const size_t extent : shape) count *= extent;
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), 0.5f);
    write_npy(directory / "a.npy", shape, values);
    const NpyArray<float> back = read_npy<float>(directory / "a.npy");
    EXPECT_EQ(back.shape, shape);
    EXPECT_EQ(back.values, values);
  }
  EXPECT_EQ(directory.file_count(), 1u);
}

TEST(npy_test, written_bytes_follow_the_format) {
  const TestDirectory directory;
  write_npy(directory / "a.npy", {2, 3}, std::vector<float>{0, 1, 2, 3, 4, 5});
  const std::string bytes = read_whole(directory / "a.npy");
  ASSERT_EQ(bytes.size(), 128u + 24u);  // the head is padded to a multiple of 64: here 128
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  EXPECT_EQ(static_cast<unsigned char>(bytes[8]) + 256 * static_cast<unsigned char>(bytes[9]), 118);
  EXPECT_TRUE(bytes.substr(10).starts_with("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } "));
  EXPECT_EQ(bytes[127], '\n');
  float last;
  std::memcpy(&last, bytes.data() + bytes.size() - 4, 4);
  EXPECT_EQ(last, 5.0f);
}

TEST(npy_test, head_is_a_multiple_of_64_for_any_shape) {
  const TestDirectory directory;
  for (size_t n = 1; n < 40; ++n) {
    Shape shape(n % 20, 1);
    shape.push_back(n < 20 ? 1 : 10);
    write_npy(directory / "a.npy", shape, std::vector<float>(shape.back()));
    EXPECT_EQ((std::filesystem::file_size(directory / "a.npy") - 4 * shape.back()) % 64, 0u);
    EXPECT_EQ(NpyReader(directory / "a.npy").shape(), shape);
  }
}

TEST(npy_test, rows_are_streamed_and_read_in_chunks) {
  const TestDirectory directory;
  const size_t rows = 3001, columns = 37;  // more than one buffer, multiples of nothing
  {
    NpyWriter writer(directory / "a.npy", {rows, columns});
    std::vector<float> row(columns);
    for (size_t r = 0; r < rows; ++r) {
      for (size_t c = 0; c < columns; ++c) row[c] = static_cast<float>(r * columns + c);
      writer.append(row);
    }
    EXPECT_FALSE(std::filesystem::exists(directory / "a.npy"));
    writer.finish();
  }
  const NpyReader reader(directory / "a.npy");
  std::vector<double> part(20011);
  for (size_t first = 0; first + part.size() <= reader.count(); first += part.size()) {
    reader.read(first, std::span<double>(part));
    for (size_t i = 0; i < part.size(); ++i) ASSERT_EQ(part[i], static_cast<double>(first + i));
  }
  EXPECT_THROW(reader.read(reader.count(), std::span<double>(part)), std::logic_error);
}

TEST(npy_test, wrong_number_of_values_leaves_no_file) {
  const TestDirectory directory;
  const std::vector<float> values(5);
  EXPECT_THROW(write_npy(directory / "a.npy", {6}, values), std::logic_error);
  EXPECT_THROW(write_npy(directory / "a.npy", {4}, values), std::logic_error);
  EXPECT_EQ(directory.file_count(), 0u);
}

TEST(npy_test, every_number_type_is_converted) {
  const std::vector<double> wanted = {0, 1, 2, 100};
  EXPECT_EQ(parse(npy_bytes(dict("<f4", "(4,)"), raw(std::vector<float>{0, 1, 2, 100}))).values, wanted);
  EXPECT_EQ(parse(npy_bytes(dict("<f8", "(4,)"), raw(wanted))).values, wanted);
  EXPECT_EQ(parse(npy_bytes(dict("|i1", "(4,)"), raw(std::vector<int8_t>{0, 1, 2, 100}))).values, wanted);
  EXPECT_EQ(parse(npy_bytes(dict("<i2", "(4,)"), raw(std::vector<int16_t>{0, 1, 2, 100}))).values, wanted);
  EXPECT_EQ(parse(npy_bytes(dict("<i4", "(4,)"), raw(std::vector<int32_t>{0, 1, 2, 100}))).values, wanted);
  EXPECT_EQ(parse(npy_bytes(dict("<i8", "(4,)"), raw(std::vector<int64_t>{0, 1, 2, 100}))).values, wanted);
  EXPECT_EQ(parse(npy_bytes(dict("|u1", "(4,)"), raw(std::vector<uint8_t>{0, 1, 2, 100}))).values, wanted);
  EXPECT_EQ(parse(npy_bytes(dict("<u2", "(4,)"), raw(std::vector<uint16_t>{0, 1, 2, 100}))).values, wanted);
  EXPECT_EQ(parse(npy_bytes(dict("<u4", "(4,)"), raw(std::vector<uint32_t>{0, 1, 2, 100}))).values, wanted);
  EXPECT_EQ(parse(npy_bytes(dict("<u8", "(4,)"), raw(std::vector<uint64_t>{0, 1, 2, 100}))).values, wanted);
  EXPECT_EQ(parse(npy_bytes(dict("|b1", "(2,)"), std::string("\x00\x01", 2))).values, (std::vector<double>{0, 1}));
  EXPECT_EQ(parse(npy_bytes(dict("<i2", "(1,)"), raw(std::vector<int16_t>{-3}))).values, std::vector<double>{-3});
}

TEST(npy_test, versions_two_and_three_and_odd_spacing_are_read) {
  const std::string data = raw(std::vector<double>{1, 2});
  for (const int version : {1, 2, 3}) EXPECT_EQ(parse(npy_bytes(dict("<f8", "(2,)"), data, version)).values.size(), 2u);
  EXPECT_EQ(parse(npy_bytes("{\"shape\":(2L,),'fortran_order':False,'descr':'<f8'}", data)).values[1], 2.0);
  EXPECT_EQ(parse(npy_bytes(dict("<f8", "(1, 2)"), data)).shape, (Shape{1, 2}));
}

TEST(npy_test, fortran_order_is_transposed) {
  // a[i][j][k] = 100 i + 10 j + k, shape (2, 3, 4), stored with i fastest
  std::vector<double> stored, wanted;
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i) stored.push_back(100 * i + 10 * j + k);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k) wanted.push_back(100 * i + 10 * j + k);
  EXPECT_EQ(parse(npy_bytes(dict("<f8", "(2, 3, 4)", "True"), raw(stored))).values, wanted);
  EXPECT_EQ(parse(npy_bytes(dict("<f8", "(24,)", "True"), raw(stored))).values, stored);
  EXPECT_TRUE(parse(npy_bytes(dict("<f8", "(0, 24)", "True"), "")).values.empty());
}

TEST(npy_test, refusals_say_what_is_wrong) {
  const std::string data = raw(std::vector<float>{1, 2});
  EXPECT_EQ(refusal(""), "a.npy: the file is empty");
  EXPECT_EQ(refusal("1,2,3\n"), "a.npy: not an NPY file (it does not begin with \\x93NUMPY)");
  EXPECT_NE(refusal(std::string("PK\x03\x04zip")).find("an NPZ (or zip) archive"), std::string::npos);
  EXPECT_NE(refusal(npy_bytes(dict("<f4", "(2,)"), data, 4)).find("NPY version 4.0, known are 1.0 to 3.0"),
            std::string::npos);
  EXPECT_NE(refusal(npy_bytes(dict(">f4", "(2,)"), data)).find("big-endian"), std::string::npos);
  EXPECT_NE(refusal(npy_bytes(dict("<c8", "(1,)"), data)).find("values of type '<c8'"), std::string::npos);
  EXPECT_NE(refusal(npy_bytes(dict("|O", "(1,)"), data)).find("values of type '|O'"), std::string::npos);
  EXPECT_NE(
      refusal(npy_bytes("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (2,)}", data)).find("structured"),
      std::string::npos);
  EXPECT_EQ(refusal(npy_bytes(dict("<f4", "(3,)"), data)),
            "a.npy: the shape (3,) needs 12 bytes of values, the file has 8\nhint: the file was cut; write it again");
  EXPECT_NE(refusal(npy_bytes(dict("<f4", "(1,)"), data)).find("needs 4 bytes of values, the file has 8"),
            std::string::npos);
  EXPECT_NE(refusal(npy_bytes(dict("<f4", "(4611686018427387904, 4)"), data)).find("larger than any memory"),
            std::string::npos);
  EXPECT_NE(refusal(npy_bytes(dict("<f4", "(4611686018427387904, 4, 0)"), "")).find("larger than any memory"),
            std::string::npos);
  EXPECT_NE(refusal(npy_bytes(dict("<f4", "(99999999999999999999,)"), data)).find("expected a dimension"),
            std::string::npos);
  EXPECT_NE(refusal(npy_bytes(dict("<f4", "(-2,)"), data)).find("expected a dimension"), std::string::npos);
  EXPECT_NE(refusal(npy_bytes(dict("<f4", "(2)"), data)).find("expected ','"), std::string::npos);
  EXPECT_NE(refusal(npy_bytes("{'descr': '<f4', 'shape': (2,)}", data)).find("no 'fortran_order'"), std::string::npos);
  EXPECT_NE(refusal(npy_bytes("{'descr': '<f4', 'descr': '<f4'}", data)).find("'descr' occurs twice"),
            std::string::npos);
  EXPECT_NE(refusal(npy_bytes("{'descr': '<f4', 'other': 1}", data)).find("unknown key"), std::string::npos);
  const TestDirectory directory;
  EXPECT_NE(error_text<DataError>([&] { NpyReader(directory.path()); }).find("Is a directory"), std::string::npos);
  EXPECT_NE(error_text<DataError>([&] { NpyReader(directory / "none.npy"); }).find("No such file"), std::string::npos);
}

TEST(npy_test, a_file_cut_anywhere_is_refused) {
  const std::string whole = npy_bytes(dict("<f4", "(2, 3)"), raw(std::vector<float>{0, 1, 2, 3, 4, 5}));
  ASSERT_EQ(parse(whole).values.size(), 6u);
  for (size_t length = 0; length < whole.size(); ++length)
    EXPECT_THROW(parse(whole.substr(0, length)), DataError) << length;
  EXPECT_THROW(parse(whole + "x"), DataError);
}

TEST(npy_test, any_changed_byte_is_refused_or_read_as_six_values) {
  const std::string whole = npy_bytes(dict("<f4", "(2, 3)"), raw(std::vector<float>{0, 1, 2, 3, 4, 5}));
  size_t refused = 0;
  for (size_t at = 0; at < whole.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(value);
      try {
        const NpyArray<double> array = parse(damaged);
        // Only another layout of the same number of bytes is acceptable: (2, 3) values of 4 bytes each.
        EXPECT_EQ(array.values.size(), 6u) << "byte " << at << " = " << value;
      } catch (const DataError&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 200 * (whole.size() - 24) / 2);  // most changes of the head are refused
}

}  // namespace
}  // namespace penn
