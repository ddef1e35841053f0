#include "penn/network/tensor_io.h"

#include <fmt/format.h>

#include "penn/base/error.h"

namespace penn {
namespace {

Shape shape_of(const torch::Tensor& tensor) { return Shape(tensor.sizes().begin(), tensor.sizes().end()); }

std::map<std::string, torch::Tensor> tensors_of(const torch::nn::Module& module) {
  std::map<std::string, torch::Tensor> all;
  for (const auto& item : module.named_parameters()) all.emplace(item.key(), item.value());
  for (const auto& item : module.named_buffers()) all.emplace(item.key(), item.value());
  return all;
}

}  // namespace

void TensorList::add(const std::string& name, const torch::Tensor& tensor) {
  held_.push_back(tensor.detach().to(torch::kCPU).contiguous());
  const torch::Tensor& host = held_.back();
  const bool is_double = host.dtype() == torch::kFloat64;
  TORCH_CHECK(is_double || host.dtype() == torch::kFloat32, name, ": only float32 and float64 tensors are stored");
  views_.push_back({name, is_double ? TensorType::kF64 : TensorType::kF32, shape_of(host), host.data_ptr()});
}

void TensorList::add(const std::string& name, const std::vector<float>& values, Shape shape) {
  views_.push_back({name, TensorType::kF32, std::move(shape), values.data()});
}
void TensorList::add(const std::string& name, const std::vector<double>& values, Shape shape) {
  views_.push_back({name, TensorType::kF64, std::move(shape), values.data()});
}

void add_module(TensorList& list, const std::string& prefix, const torch::nn::Module& module) {
  for (const auto& [name, tensor] : tensors_of(module)) list.add(prefix + name, tensor);
}

void read_module(const SafetensorsFile& file, const std::string& prefix, torch::nn::Module& module) {
  torch::NoGradGuard no_grad;
  std::map<std::string, torch::Tensor> all = tensors_of(module);
  for (auto& [name, tensor] : all) {
    const TensorInfo* info = file.find(prefix + name);
    if (!info) throw ModelError(fmt::format("{}: the tensor '{}' is missing", file.name(), prefix + name));
    if (info->shape != shape_of(tensor))
      throw ModelError(fmt::format("{}: the tensor '{}' has the shape {}, expected {}", file.name(), prefix + name, to_text(info->shape), to_text(shape_of(tensor))));
    torch::Tensor host = torch::empty(tensor.sizes(), tensor.dtype());
    const TensorType expected = tensor.dtype() == torch::kFloat64 ? TensorType::kF64 : TensorType::kF32;
    if (info->type != expected) throw ModelError(fmt::format("{}: the tensor '{}' is {}, expected {}", file.name(), prefix + name, name_of(info->type), name_of(expected)));
    file.read_bytes(*info, host.data_ptr());
    if (!torch::isfinite(host).all().item<bool>()) throw ModelError(fmt::format("{}: the tensor '{}' holds values that are not finite", file.name(), prefix + name));
    tensor.copy_(host);
  }
  for (const TensorInfo& info : file.tensors())
    if (info.name.rfind(prefix, 0) == 0 && !all.count(info.name.substr(prefix.size())))
      throw ModelError(fmt::format("{}: the tensor '{}' does not belong to this network", file.name(), info.name));
}

}  // namespace penn
