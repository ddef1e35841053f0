// Any bytes as a model file: tensors that tile the data exactly and can all be read, or a ModelError.
#include <cstdint>
#include <cstdlib>

#include "penn/base/error.h"
#include "penn/base/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const penn::SafetensorsFile file(penn::InputFile({reinterpret_cast<const char*>(data), size}, "fuzz.safetensors"));
    uint64_t covered = 0;
    for (const penn::TensorInfo& tensor : file.tensors()) {
      if (tensor.begin != covered || tensor.end < tensor.begin) std::abort();
      covered = tensor.end;
      const auto count = penn::count_values(tensor.shape, penn::item_size(tensor.type));
      if (!count || *count * penn::item_size(tensor.type) != tensor.end - tensor.begin) std::abort();
      std::vector<char> bytes(tensor.end - tensor.begin);
      file.read_bytes(tensor, bytes.data());
      if (file.find(tensor.name) == nullptr) std::abort();
    }
    if (covered > size) std::abort();
  } catch (const penn::ModelError&) {
  }
  return 0;
}
