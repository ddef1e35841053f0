#include "penn/network/network_file.h"

#include <fmt/format.h>

#include "penn/base/error.h"
#include "penn/network/tensor_io.h"

namespace penn {

void save_model(const std::filesystem::path& path, const ModelInfo& info, const PennNetwork& network) {
  TensorList tensors;
  add_compact_module(tensors, kNetworkPrefix, network);
  save_model(path, info, tensors.views());
}

std::shared_ptr<PennNetwork> load_network(const ModelFile& model) {
  std::shared_ptr<PennNetwork> network;
  try {
    network = std::make_shared<PennNetwork>(model.info.network);
  } catch (const c10::Error& error) {
    throw ModelError(fmt::format("{}: its network cannot be built: {}", model.file.name(), error.what_without_backtrace()));
  }
  if (static_cast<size_t>(network->embedding_size()) != model.info.familiarity.mean.size())
    throw ModelError(fmt::format("{}: the statistics of the embedding do not fit the network", model.file.name()));
  read_module(model.file, kNetworkPrefix, *network);
  network->eval();
  return network;
}

}  // namespace penn
