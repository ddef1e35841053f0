#include "penn/network/convolution.h"

#include <fmt/format.h>

#include "penn/base/error.h"
#include "penn/kernel/aligned_buffer.h"
#include "penn/kernel/lane_convolution.h"
#include "penn/kernel/thread_pool.h"
#include "penn/network/robust_input.h"

namespace penn {
namespace {

struct PassHolder : torch::CustomClassHolder {
  PassHolder(const ConvolutionShape& shape, const std::vector<ConvolutionWeights>& weights) : kernel(shape, weights) {}
  LaneConvolution kernel;
  torch::Tensor saved;  // of LibTorch's allocator: tens of megabytes, 64-byte aligned
};

class ConvolutionMeans : public torch::autograd::Function<ConvolutionMeans> {
 public:
  // weights: weight and bias of every layer in turn, contiguous.
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& x,
                               at::TensorList weights, int64_t stride, bool training) {
    ConvolutionShape shape;
    shape.batch = static_cast<int>(x.size(0));
    shape.time = static_cast<int>(x.size(1));
    shape.channels = {static_cast<int>(x.size(2))};
    shape.kernel = static_cast<int>(weights[0].size(2));
    shape.stride = static_cast<int>(stride);
    std::vector<ConvolutionWeights> pointers;
    for (std::size_t k = 0; k < weights.size(); k += 2) {
      shape.channels.push_back(static_cast<int>(weights[k].size(0)));
      pointers.push_back({weights[k].data_ptr<float>(), weights[k + 1].data_ptr<float>()});
    }
    auto holder = c10::make_intrusive<PassHolder>(shape, pointers);
    const LaneConvolution& kernel = holder->kernel;
    const int64_t part = static_cast<int64_t>(kernel.saved_floats_per_tile());
    if (training) holder->saved = torch::empty({kernel.tiles(), part});
    float* saved = training ? holder->saved.data_ptr<float>() : nullptr;
    torch::Tensor mean = torch::empty({shape.batch, shape.outputs()});
    float* out = mean.data_ptr<float>();
    const float* in = x.data_ptr<float>();
    pool_for(kernel.tiles(), 1, [&](int64_t begin, int64_t end) {
      AlignedBuffer own;
      if (!saved) own.resize(part);
      for (int64_t tile = begin; tile < end; ++tile)
        kernel.forward(static_cast<int>(tile), in, out, saved ? saved + tile * part : own.data());
    });
    if (training) {
      context->saved_data["pass"] = c10::IValue::make_capsule(holder);
      for (std::size_t k = 0; k < weights.size(); ++k)
        context->saved_data["size" + std::to_string(k)] = weights[k].sizes().vec();
    }
    return mean;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list output_gradients) {
    const auto holder = c10::static_intrusive_pointer_cast<PassHolder>(context->saved_data["pass"].toCapsule());
    const LaneConvolution& kernel = holder->kernel;
    const torch::Tensor dmean = output_gradients[0].contiguous();
    const int64_t part = static_cast<int64_t>(kernel.saved_floats_per_tile());
    const int64_t gradient_part = static_cast<int64_t>(kernel.gradient_floats_per_tile());
    const torch::Tensor gradient = torch::empty({kernel.tiles(), gradient_part});
    const float *from = dmean.data_ptr<float>(), *saved = holder->saved.data_ptr<float>();
    float* to = gradient.data_ptr<float>();
    pool_for(kernel.tiles(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t tile = begin; tile < end; ++tile)
        kernel.backward(static_cast<int>(tile), from, saved + tile * part, to + tile * gradient_part);
    });
    torch::autograd::variable_list result(1);  // none for x
    std::vector<ConvolutionGradients> pointers;
    for (std::size_t k = 0; context->saved_data.count("size" + std::to_string(k)); ++k) {
      result.push_back(torch::empty(context->saved_data["size" + std::to_string(k)].toIntVector()));
      if (k % 2) pointers.push_back({result[k].data_ptr<float>(), result[k + 1].data_ptr<float>()});
    }
    kernel.sum_gradients(to, pointers);
    result.resize(result.size() + 2);  // stride, training
    return result;
  }
};

class ConvolutionEncoder : public Encoder {
 public:
  ConvolutionEncoder(int inputs, const nlohmann::json& given)
      : settings_(merge_settings(
            "convolution",
            {{"channels", {32, 64, 96, 128}}, {"kernel", 5}, {"stride", 2}, {"lags", {1, 8}}, {"code", "auto"}},
            given)) {
    const int kernel = setting_integer("convolution", settings_, "kernel", 1, 99);
    stride_ = setting_integer("convolution", settings_, "stride", 1, 99);
    if (kernel % 2 == 0) throw ModelError(fmt::format("encoder convolution: kernel {} is not odd", kernel));
    code_ = settings_["code"].get<std::string>();
    if (code_ != "auto" && code_ != "torch")
      throw ModelError(fmt::format("encoder convolution: unknown code '{}'", code_), "auto or torch");
    input_ = register_module("input", std::make_shared<RobustInput>(inputs, integers("lags", 1, 1000000)));
    int in = input_->channels();
    for (int out : integers("channels", 1, 10000)) {
      const std::string name = std::to_string(outputs_.size() + 1);
      // Created by Conv1d for its initialisation only.
      const torch::nn::Conv1d layer(torch::nn::Conv1dOptions(in, out, kernel));
      weights_.push_back(register_parameter("weight" + name, layer->weight.detach()));
      biases_.push_back(register_parameter("bias" + name, layer->bias.detach()));
      outputs_.push_back(out);
      size_ += out;
      in = out;
    }
    if (outputs_.empty()) throw ModelError("encoder convolution: no channels");
    norm_ = register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({size_})));
  }

  torch::Tensor forward(const torch::Tensor& z) override {
    const torch::Tensor x = input_->forward(z);
    return norm_(code_ == "torch" ? convolution_means_reference(x, weights_, biases_, stride_)
                                  : convolution_means(x, weights_, biases_, stride_));
  }
  int output_size() const override { return size_; }
  void calibrate(const torch::Tensor& z) override { input_->calibrate(z); }
  nlohmann::json settings() const override { return settings_; }

 private:
  std::vector<int> integers(const char* name, int low, int high) const {
    std::vector<int> values;
    for (const nlohmann::json& v : settings_.at(name))
      values.push_back(setting_integer("convolution", {{name, v}}, name, low, high));
    return values;
  }

  nlohmann::json settings_;
  std::string code_;
  int stride_ = 2, size_ = 0;
  std::vector<int> outputs_;
  std::shared_ptr<RobustInput> input_;
  std::vector<torch::Tensor> weights_, biases_;
  torch::nn::LayerNorm norm_{nullptr};
};

const RegisterEncoder registered("convolution", [](int inputs, const nlohmann::json& settings) {
  return std::make_shared<ConvolutionEncoder>(inputs, settings);
});

}  // namespace

torch::Tensor convolution_means_reference(const torch::Tensor& x, const std::vector<torch::Tensor>& weights,
                                          const std::vector<torch::Tensor>& biases, int stride) {
  torch::Tensor a = x.transpose(1, 2);
  std::vector<torch::Tensor> means;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const int64_t padding = (weights[k].size(2) - 1) / 2;
    a = torch::elu(torch::conv1d(a, weights[k], biases[k], stride, padding));
    means.push_back(a.mean(2));
  }
  return torch::cat(means, 1);
}

torch::Tensor convolution_means(const torch::Tensor& x, const std::vector<torch::Tensor>& weights,
                                const std::vector<torch::Tensor>& biases, int stride) {
  if (!x.is_cpu() || x.scalar_type() != torch::kFloat32 || x.size(0) == 0 || x.size(1) == 0)
    return convolution_means_reference(x, weights, biases, stride);
  std::vector<torch::Tensor> all;
  bool training = false;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    all.push_back(weights[k].contiguous());
    all.push_back(biases[k].contiguous());
    training = training || weights[k].requires_grad() || biases[k].requires_grad();
  }
  return ConvolutionMeans::apply(x.contiguous(), at::TensorList(all), stride,
                                 training && torch::GradMode::is_enabled());
}

}  // namespace penn
