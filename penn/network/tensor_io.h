// Tensors of a module to and from safetensors: every weight and buffer under its own name.
#pragma once

#include <torch/torch.h>

#include <map>
#include <string>
#include <vector>

#include "penn/base/safetensors.h"

namespace penn {

// Keeps host copies alive while a file is written.
class TensorList {
 public:
  void add(const std::string& name, const torch::Tensor& tensor);  // float16, float32 or float64, any device
  void add(const std::string& name, const std::vector<float>& values, Shape shape);
  void add(const std::string& name, const std::vector<double>& values, Shape shape);
  const std::vector<TensorView>& views() const { return views_; }

 private:
  std::vector<torch::Tensor> held_;
  std::vector<TensorView> views_;
};

// All parameters and buffers, with `prefix` before their names.
void add_module(TensorList& list, const std::string& prefix, const torch::nn::Module& module);
// The same with large matrices in half precision, for models that are passed around: half the size.
void add_compact_module(TensorList& list, const std::string& prefix, const torch::nn::Module& module);
// Rounds them in place, so that a network can be measured as it will be read back.
void round_as_compact(torch::nn::Module& module);
// Copies them back; ModelError where one is missing, has another shape, or the file has more under that prefix.
void read_module(const SafetensorsFile& file, const std::string& prefix, torch::nn::Module& module);

}  // namespace penn
