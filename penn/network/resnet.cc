#include "penn/network/resnet.h"

#include <string>

namespace penn {

ResidualBlock::ResidualBlock(int inputs, int width, bool linear_skip)
    : l1_(register_module("l1", torch::nn::Linear(inputs, width))),
      l2_(register_module("l2", torch::nn::Linear(width, width))),
      l3_(register_module("l3", torch::nn::Linear(width, width))) {
  TORCH_CHECK(linear_skip || inputs == width, "identity skip from ", inputs, " to ", width);
  if (linear_skip) skip_ = register_module("skip", torch::nn::Linear(inputs, width));
}

torch::Tensor ResidualBlock::forward(const torch::Tensor& u) {
  torch::Tensor v = u;
  for (torch::nn::Linear* layer : {&l1_, &l2_, &l3_}) {
    v = (*layer)(v);
    torch::elu_(v);  // in place: the output of the linear layer is ours alone
  }
  return v + (skip_ ? skip_(u) : u);
}

ResNet::ResNet(int inputs, int width, int blocks, int outputs, bool stem) : last_(nullptr) {
  if (stem) stem_ = register_module("stem", torch::nn::Linear(inputs, width));
  for (int k = 0; k < blocks; ++k) {
    const bool is_first = k == 0 && !stem;
    blocks_.push_back(register_module("block" + std::to_string(k + 1), std::make_shared<ResidualBlock>(is_first ? inputs : width, width, is_first)));
  }
  last_ = register_module("last", torch::nn::Linear(width, outputs));
}

torch::Tensor ResNet::forward(torch::Tensor u) {
  if (stem_) u = stem_(u);
  for (auto& block : blocks_) u = block->forward(u);
  return last_(u);
}

}  // namespace penn
