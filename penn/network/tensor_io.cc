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

TensorType type_of(const torch::Tensor& tensor, const std::string& name) {
  if (tensor.dtype() == torch::kFloat64) return TensorType::kF64;
  if (tensor.dtype() == torch::kFloat16) return TensorType::kF16;
  TORCH_CHECK(tensor.dtype() == torch::kFloat32, name, ": only floating-point tensors are stored");
  return TensorType::kF32;
}

// Eleven bits are enough for a matrix whose errors average out over many inputs, and only such matrices are worth it.
torch::Tensor as_compact(const torch::Tensor& tensor) {
  constexpr int64_t kLarge = 1 << 16;
  constexpr double kLargestHalf = 65504;
  const bool is_half = tensor.dim() == 2 && tensor.numel() >= kLarge && tensor.dtype() == torch::kFloat32 && tensor.abs().max().item<double>() < kLargestHalf;
  return is_half ? tensor.to(torch::kFloat16) : tensor;
}

}  // namespace

void TensorList::add(const std::string& name, const torch::Tensor& tensor) {
  held_.push_back(tensor.detach().to(torch::kCPU).contiguous());
  const torch::Tensor& host = held_.back();
  views_.push_back({name, type_of(host, name), shape_of(host), host.data_ptr()});
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

void add_compact_module(TensorList& list, const std::string& prefix, const torch::nn::Module& module) {
  for (const auto& [name, tensor] : tensors_of(module)) list.add(prefix + name, as_compact(tensor.detach()));
}

void round_as_compact(torch::nn::Module& module) {
  torch::NoGradGuard no_grad;
  for (auto& [name, tensor] : tensors_of(module)) torch::Tensor(tensor).copy_(as_compact(tensor));
}

void read_module(const SafetensorsFile& file, const std::string& prefix, torch::nn::Module& module) {
  torch::NoGradGuard no_grad;
  std::map<std::string, torch::Tensor> all = tensors_of(module);
  for (auto& [name, tensor] : all) {
    const TensorInfo* info = file.find(prefix + name);
    if (!info) throw ModelError(fmt::format("{}: the tensor '{}' is missing", file.name(), prefix + name));
    if (info->shape != shape_of(tensor))
      throw ModelError(fmt::format("{}: the tensor '{}' has the shape {}, expected {}", file.name(), prefix + name, to_text(info->shape), to_text(shape_of(tensor))));
    torch::Tensor host;
    const auto take = [&](const auto& values) { host = torch::tensor(values, tensor.scalar_type()).view(tensor.sizes()); };
    if (tensor.dtype() == torch::kFloat64) take(file.read<double>(info->name));
    else take(file.read<float>(info->name));
    if (!torch::isfinite(host).all().item<bool>()) throw ModelError(fmt::format("{}: the tensor '{}' holds values that are not finite", file.name(), prefix + name));
    tensor.copy_(host);
  }
  for (const TensorInfo& info : file.tensors())
    if (info.name.rfind(prefix, 0) == 0 && !all.count(info.name.substr(prefix.size())))
      throw ModelError(fmt::format("{}: the tensor '{}' does not belong to this network", file.name(), info.name));
}

}  // namespace penn
