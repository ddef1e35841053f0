// The network of a model file, as LibTorch modules.
#pragma once

#include <filesystem>
#include <memory>

#include "penn/model/model_file.h"
#include "penn/network/penn_network.h"

namespace penn {

void save_model(const std::filesystem::path& path, const ModelInfo& info, const PennNetwork& network);
// In evaluation mode, on the CPU. ModelError where the tensors do not fit the description.
std::shared_ptr<PennNetwork> load_network(const ModelFile& model);

}  // namespace penn
