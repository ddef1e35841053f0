// Any bytes as an NPY file: an array of the stated shape, or a DataError.
#include <cstdint>
#include <cstdlib>

#include "penn/base/error.h"
#include "penn/base/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const auto array = penn::read_npy<double>(penn::InputFile({reinterpret_cast<const char*>(data), size}, "fuzz.npy"));
    const auto count = penn::count_values(array.shape, 1);
    if (!count || *count != array.values.size() || array.values.size() > size) std::abort();
    // Reading in two chunks gives the same as reading at once.
    const penn::NpyReader reader(penn::InputFile({reinterpret_cast<const char*>(data), size}, "fuzz.npy"));
    std::vector<double> chunks(reader.count());
    const size_t half = chunks.size() / 2;
    reader.read(half, std::span(chunks).subspan(half));
    reader.read(0, std::span(chunks).first(half));
    for (size_t i = 0; i < chunks.size(); ++i) {
      if (chunks[i] != array.values[i] && chunks[i] == chunks[i]) std::abort();
    }
  } catch (const penn::DataError&) {
  }
  return 0;
}
