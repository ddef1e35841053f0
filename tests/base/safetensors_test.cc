// What is written follows the layout, judged without our reader; what is damaged is refused with a reason.
#include "penn/base/safetensors.h"

#include <cstring>
#include <nlohmann/json.hpp>

#include "base/files_for_tests.h"
#include "penn/base/error.h"

namespace penn {
namespace {

using nlohmann::json;

// A file built by hand: length, header, data.
std::string file_bytes(const std::string& header, const std::string& data = "") {
  const uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + header + data;
}

std::string refusal(const std::string& bytes) {
  const std::string full = error_text<ModelError>([&] { SafetensorsFile(InputFile(bytes, "m")); });
  return full.substr(0, full.find('\n'));
}

struct Example {
  std::vector<float> weights = {1, 2, 3, 4, 5, 6};
  std::vector<double> scale = {0.1};
  std::vector<int64_t> step = {1234567890123};
  std::vector<uint8_t> state = {1, 2, 3};
  std::vector<uint16_t> half = {0x3C00, 0xC000, 0x3555, 0x0001};  // 1, -2, 0.333251953125, 2^-24
  Metadata metadata = {{"system", "name = \"oup\"\nlabel = \"lg τ\"\n"}, {"version", "0.1.0"}};

  void write(const std::filesystem::path& path) const {
    write_safetensors(path, metadata,
                      {{"state", TensorType::kU8, {3}, state.data()},
                       {"weights", TensorType::kF32, {2, 3}, weights.data()},
                       {"half", TensorType::kF16, {4}, half.data()},
                       {"empty", TensorType::kF32, {0, 7}, nullptr},
                       {"scale", TensorType::kF64, {}, scale.data()},
                       {"step", TensorType::kI64, {1}, step.data()}});
  }
  void expect_in(const SafetensorsFile& file) const {
    EXPECT_EQ(file.read<float>("weights", {2, 3}), weights);
    EXPECT_EQ(file.read<float>("half", {4}), (std::vector<float>{1, -2, 0.333251953125f, 0x1p-24f}));
    EXPECT_EQ(file.read<double>("scale", {}), scale);
    EXPECT_EQ(file.read<int64_t>("step"), step);
    EXPECT_EQ(file.read<uint8_t>("state"), state);
    EXPECT_TRUE(file.read<float>("empty").empty());
  }
};

TEST(safetensors_test, tensors_and_texts_survive_the_trip) {
  const TestDirectory directory;
  const Example example;
  example.write(directory / "m.safetensors");
  const SafetensorsFile file(directory / "m.safetensors");
  example.expect_in(file);
  EXPECT_EQ(file.metadata(), example.metadata);
  EXPECT_EQ(file.text("version"), "0.1.0");
  ASSERT_EQ(file.tensors().size(), 6u);
  EXPECT_EQ(file.find("empty")->shape, (Shape{0, 7}));
  EXPECT_EQ(file.find("none"), nullptr);
  EXPECT_EQ(directory.file_count(), 1u);
}

TEST(safetensors_test, written_bytes_follow_the_layout_rules) {
  // Independent of our reader: only the published rules and a JSON parser.
  const TestDirectory directory;
  const Example example;
  example.write(directory / "m.safetensors");
  const std::string bytes = read_whole(directory / "m.safetensors");
  uint64_t length = 0;
  for (int i = 7; i >= 0; --i) length = length * 256 + static_cast<unsigned char>(bytes[static_cast<size_t>(i)]);
  ASSERT_LE(8 + length, bytes.size());
  EXPECT_EQ((8 + length) % 8, 0u);  // tensors begin aligned
  EXPECT_EQ(bytes[8], '{');
  const std::string_view data = std::string_view(bytes).substr(8 + length);
  const json header = json::parse(bytes.substr(8, length));
  std::map<size_t, size_t> spans;
  size_t tensors = 0;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") {
      for (const auto& [key, value] : entry.items()) EXPECT_TRUE(value.is_string()) << key;
      EXPECT_EQ(entry.at("system"), example.metadata.at("system"));
      continue;
    }
    ++tensors;
    EXPECT_EQ(entry.size(), 3u);
    size_t size =
        std::map<std::string, size_t>{{"F16", 2}, {"F32", 4}, {"F64", 8}, {"I64", 8}, {"U8", 1}}.at(entry.at("dtype"));
    const size_t item = size;
    for (const size_t extent : entry.at("shape")) size *= extent;
    const size_t begin = entry.at("data_offsets").at(0), end = entry.at("data_offsets").at(1);
    EXPECT_EQ(end - begin, size) << name;
    EXPECT_EQ(begin % item, 0u) << name << " is not aligned";
    if (end > begin) spans[begin] = end;
    const void* values = name == "weights" ? static_cast<const void*>(example.weights.data())
                         : name == "scale" ? static_cast<const void*>(example.scale.data())
                         : name == "half"  ? static_cast<const void*>(example.half.data())
                         : name == "step"  ? static_cast<const void*>(example.step.data())
                                           : static_cast<const void*>(example.state.data());
    EXPECT_EQ(std::memcmp(data.data() + begin, values, size), 0) << name;
  }
  EXPECT_EQ(tensors, 6u);
  size_t covered = 0;
  for (const auto& [begin, end] : spans) {
    EXPECT_EQ(begin, covered);
    covered = end;
  }
  EXPECT_EQ(covered, data.size());
}

TEST(safetensors_test, files_of_other_programs_are_read) {
  // Tensors in any order of the header, blanks between tokens, no metadata, padding behind.
  const float values[3] = {1, 2, 3};
  const std::string data(reinterpret_cast<const char*>(values), 12);
  const std::string bytes = file_bytes(
      "{ \"b\" : {\"shape\":[2], \"data_offsets\":[4,12], \"dtype\":\"F32\"}, \"a\":{\"dtype\":\"F32\",\"shape\":[],"
      "\"data_offsets\":[0,4]}}      ",
      data);
  const SafetensorsFile file(InputFile(bytes, "m"));
  EXPECT_EQ(file.tensors()[0].name, "a");
  EXPECT_EQ(file.read<float>("a"), std::vector<float>{1});
  EXPECT_EQ(file.read<float>("b"), (std::vector<float>{2, 3}));
  EXPECT_TRUE(file.metadata().empty());
  EXPECT_TRUE(SafetensorsFile(InputFile(file_bytes("{}"), "m")).tensors().empty());
}

TEST(safetensors_test, wanted_but_absent_is_named) {
  const TestDirectory directory;
  Example().write(directory / "m");
  const SafetensorsFile file(directory / "m");
  const std::string name = file.name();
  EXPECT_EQ(error_text<ModelError>([&] { file.read<float>("bias"); }),
            name + ": tensor 'bias' is missing\nhint: not a model of this program and version");
  EXPECT_EQ(error_text<ModelError>([&] { file.read<double>("weights"); }),
            name + ": tensor 'weights' has the type F32, needed is F64");
  EXPECT_EQ(error_text<ModelError>([&] {
              file.read<float>("weights", {3, 2});
            }),
            name + ": tensor 'weights' has the shape (2, 3), needed is (3, 2)");
  EXPECT_NE(error_text<ModelError>([&] { file.text("preset"); }).find("no entry 'preset'"), std::string::npos);
}

TEST(safetensors_test, refusals_say_what_is_wrong) {
  const std::string four(4, 'x');
  const auto tensor = [](const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return "{\"t\":{\"dtype\":" + dtype + ",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}}";
  };
  EXPECT_EQ(refusal(""), "m: the file is empty");
  EXPECT_EQ(refusal("short"), "m: too short for a safetensors file");
  EXPECT_EQ(refusal("not a model, a text"), "m: not a safetensors file (no JSON header after the first 8 bytes)");
  std::string huge = file_bytes("{}");
  huge[7] = 1;  // 2^56 bytes
  EXPECT_EQ(refusal(huge), "m: a header of 72057594037927938 bytes; the format allows 100 MB");
  EXPECT_EQ(refusal(file_bytes("{}   ").substr(0, 11)), "m: the file ends inside its header");
  EXPECT_EQ(refusal(file_bytes("{\"a\":")), "m: the header is not valid JSON in UTF-8 (at byte 6)");
  EXPECT_EQ(refusal(file_bytes("{\"\xFF\":1}")), "m: the header is not valid JSON in UTF-8 (at byte 3)");
  EXPECT_EQ(refusal(file_bytes("{}x")), "m: the header is not valid JSON in UTF-8 (at byte 3)");
  EXPECT_EQ(refusal(file_bytes(std::string("{}\0", 3))), "m: the header is not valid JSON in UTF-8 (at byte 3)");
  EXPECT_EQ(refusal(file_bytes("{\"a\":1}")), "m: the header has a number where none belongs (under 'a')");
  EXPECT_EQ(refusal(file_bytes("{\"a\":[]}")), "m: the header has a list where none belongs (under 'a')");
  EXPECT_EQ(refusal(file_bytes("{\"a\":null}")), "m: the header has null where none belongs (under 'a')");
  EXPECT_EQ(refusal(file_bytes("{\"__metadata__\":{\"a\":1}}")),
            "m: the header has a number where none belongs (under '__metadata__')");
  EXPECT_EQ(refusal(file_bytes("{\"__metadata__\":{\"a\":\"\",\"a\":\"\"}}")), "m: the metadata have 'a' twice");
  EXPECT_EQ(refusal(file_bytes("{\"__metadata__\":{},\"__metadata__\":{}}")), "m: the header has '__metadata__' twice");
  EXPECT_EQ(refusal(file_bytes("{\"a\":{}}")), "m: tensor 'a' has no dtype");
  EXPECT_EQ(refusal(file_bytes("{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", four)),
            "m: tensor 'a' has no data_offsets");
  EXPECT_EQ(refusal(file_bytes("{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\"}}")), "m: tensor 'a' has 'dtype' twice");
  EXPECT_EQ(refusal(file_bytes("{\"a\":{\"kind\":\"F32\"}}")), "m: tensor 'a' has an unknown entry 'kind'");
  EXPECT_EQ(refusal(file_bytes(tensor("\"BF16\"", "[2]", "[0,4]"), four)),
            "m: tensor 't' has the type 'BF16', known are F16, F32, F64, I64 and U8");
  EXPECT_EQ(refusal(file_bytes(tensor("\"F32\"", "[-1]", "[0,4]"), four)),
            "m: the header has a negative number where none belongs (under 't')");
  EXPECT_EQ(refusal(file_bytes(tensor("\"F32\"", "[1.0]", "[0,4]"), four)),
            "m: the header has a number that is not a 64-bit integer where none belongs (under 't')");
  EXPECT_EQ(refusal(file_bytes(tensor("\"F32\"", "[[1]]", "[0,4]"), four)),
            "m: the header has a list where none belongs (under 't')");
  EXPECT_EQ(refusal(file_bytes(tensor("\"F32\"", "[1]", "[0]"), four)),
            "m: tensor 't': data_offsets must be two numbers");
  EXPECT_EQ(refusal(file_bytes(tensor("\"F32\"", "[1]", "[0,4,8]"), four)),
            "m: tensor 't': data_offsets must be two numbers");
  EXPECT_EQ(refusal(file_bytes(tensor("\"F32\"", "[2]", "[0,4]"), four)),
            "m: tensor 't' of shape (2,) needs 8 bytes, its offsets span 4");
  EXPECT_EQ(refusal(file_bytes(tensor("\"F32\"", "[1]", "[4,0]"), four)),
            "m: tensor 't' of shape (1,) lies outside the file: bytes 4 to 0 of 4");
  EXPECT_EQ(refusal(file_bytes(tensor("\"F32\"", "[2]", "[0,8]"), four)),
            "m: tensor 't' of shape (2,) lies outside the file: bytes 0 to 8 of 4");
  EXPECT_EQ(refusal(file_bytes(tensor("\"F32\"", "[4294967296,4294967296]", "[0,4]"), four)),
            "m: tensor 't' of shape (4294967296, 4294967296) is larger than any memory");
  EXPECT_EQ(refusal(file_bytes(tensor("\"U8\"", "[2]", "[0,2]"), four)),
            "m: the tensors cover 2 bytes, the file has 4");
  EXPECT_EQ(refusal(file_bytes(tensor("\"U8\"", "[2]", "[2,4]"), four)), "m: a hole between tensors at 't'");
  EXPECT_EQ(refusal(file_bytes("{\"a\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]},"
                               "\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[2,4]}}",
                               four)),
            "m: two tensors overlap at 'b'");
  EXPECT_EQ(refusal(file_bytes("{}", four)), "m: the tensors cover 0 bytes, the file has 4");
  EXPECT_NE(error_text<ModelError>([] { SafetensorsFile("/"); }).find("Is a directory"), std::string::npos);
  EXPECT_NE(error_text<ModelError>([] { SafetensorsFile("no such file"); }).find("No such file"), std::string::npos);
}

TEST(safetensors_test, deep_nesting_is_refused_at_once) {
  EXPECT_EQ(refusal(file_bytes("{\"a\":" + std::string(1000000, '['))),
            "m: the header has a list where none belongs (under 'a')");
}

TEST(safetensors_test, a_file_cut_anywhere_is_refused) {
  const TestDirectory directory;
  Example().write(directory / "m");
  const std::string whole = read_whole(directory / "m");
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THROW(SafetensorsFile(InputFile(std::string_view(whole).substr(0, length), "m")), ModelError) << length;
  }
  EXPECT_THROW(SafetensorsFile(InputFile(whole + "x", "m")), ModelError);
}

TEST(safetensors_test, any_changed_byte_is_refused_or_harmless) {
  const TestDirectory directory;
  const Example example;
  example.write(directory / "m");
  const std::string whole = read_whole(directory / "m");
  const size_t data_begin = whole.size() - (24 + 8 + 8 + 3);
  size_t accepted = 0;
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const int change : {1, 2, 4, 8, 16, 32, 64, 128, 255}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      try {
        const SafetensorsFile file(InputFile(damaged, "m"));
        // Blanks for blanks in the padding, or a change of the checksum's own name or kind: the content is as it was.
        example.expect_in(file);
        EXPECT_EQ(file.text("system"), example.metadata.at("system"));
        EXPECT_EQ(file.text("version"), "0.1.0");
        EXPECT_LT(at, data_begin) << "a changed value was not noticed";
        ++accepted;
      } catch (const ModelError&) {
      }
    }
  }
  EXPECT_LT(accepted, 9u * 20u);
}

TEST(safetensors_test, full_disk_and_bad_text_leave_the_old_file) {
  const TestDirectory directory;
  const Example example;
  example.write(directory / "m");
  EXPECT_THROW(write_safetensors(directory / "m", {{"system", "caf\xE9"}}, {}), Error);
  EXPECT_THROW(
      write_safetensors(directory / "m", {}, {{"a", TensorType::kU8, {}, "x"}, {"a", TensorType::kU8, {}, "x"}}),
      std::logic_error);
  EXPECT_THROW(write_safetensors("/dev/full", example.metadata, {}), Error);
  example.expect_in(SafetensorsFile(directory / "m"));
  EXPECT_EQ(directory.file_count(), 1u);
}

}  // namespace
}  // namespace penn
